"""The catalogue as a grading uses it: line, hint and original message reach the result."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.grading.test_bad_input import GOOD
from tlpuzzles.catalogue.explanation import UNKNOWN
from tlpuzzles.catalogue.reading import READING, explain
from tlpuzzles.verdict.model import Check, Result, Verdict

Grade = Callable[..., Result]
STORE = next(line for line in GOOD.splitlines() if "A[" in line and "=" in line and "B[" in line)


def _graded(grade: Grade, store: str) -> Check:
    """Grades exercise 1 with another statement in its loop."""
    indent = STORE[: len(STORE) - len(STORE.lstrip())]
    text = GOOD.replace(STORE, "\n".join(indent + line for line in store.splitlines()))
    return next(check for check in grade("1", text).checks if check.verdict is Verdict.FAILED)


def _line_of(store: str, text: str) -> int:
    first = GOOD.splitlines().index(STORE) + 1
    return first + next(number for number, line in enumerate(store.splitlines()) if text in line)


@pytest.mark.parametrize(
    ("store", "at", "says", "raw"),
    [
        ("C[i] = max(A[i], B[i])", "max", "T.max(a, b)", "Cannot use and / or / not operator to Expr"),
        ("if A[i]:\n    C[i] = B[i]", "if", "`if A[i] > 0:`", "has a condition of dtype float32"),
        ("C[i] = A[1.5]", "1.5", "An index is a number with a fraction", "has an index of dtype float32"),
        ("C[i] = A['i']", "'i'", "An index is a text", "has an index of dtype handle"),
        (
            "x = T.alloc_local((N / 4,), 'float32')\nC[i] = x[0]",
            "N / 4",
            "A size of a tile",
            "has a size of dtype float",
        ),
    ],
)
def test_an_error_names_its_line_and_keeps_the_original(grade: Grade, store: str, at: str, says: str, raw: str) -> None:
    check = _graded(grade, store)
    assert says in check.message
    assert check.detail is not None
    assert check.detail.location is not None
    assert check.detail.location.line == _line_of(store, at)
    assert raw in (check.detail.raw or "")


def test_the_hint_to_read_is_named(grade: Grade) -> None:
    check = _graded(grade, "x = T.alloc_fragment((64, 64), 'float32')\nT.reduce_max(x)")
    assert check.detail is not None
    assert check.detail.hint == 3


def test_an_error_of_the_language_leads_to_the_cheat_sheet_and_to_no_hint(grade: Grade) -> None:
    check = _graded(grade, "C[i] = max(A[i], 0.0)")
    assert check.detail is not None
    assert check.detail.hint is None
    assert check.message.endswith("`tlpuzzles cheatsheet` shows how TileLang's functions are called.")


def test_a_file_that_crashes_tilelang_is_told_why(grade: Grade) -> None:
    assert "The usual cause is None" in _graded(grade, "C[i] = None").message


def test_a_python_variable_as_a_sum_is_the_learners_error(grade: Grade) -> None:
    check = _graded(grade, "x = 0.0\nfor j in T.serial(4):\n    x += A[j]\nC[i] = x")
    assert check.verdict is Verdict.FAILED
    assert "j after its loop" in check.message


def test_a_text_for_a_number_is_told(grade: Grade) -> None:
    check = _graded(grade, "x = T.alloc_fragment((16,), 'float32')\nT.fill(x, '-inf')\nC[i] = A[i]")
    assert "T.fill has arguments that it cannot have. One of them is a text." in check.message


def test_every_entry_about_reading_is_among_these() -> None:
    (marks,) = test_an_error_names_its_line_and_keeps_the_original.pytestmark  # type: ignore[attr-defined]
    assert {explain(raw, None).id for *_, raw in marks.args[1]} - {UNKNOWN} == {known.id for known in READING}


def test_a_launch_in_a_launch_is_named(grade: Grade) -> None:
    check = _graded(grade, "with T.Kernel(2, threads=128) as by:\n    C[i] = A[i]")
    assert "a T.Kernel inside another" in check.message
