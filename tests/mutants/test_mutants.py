"""Wrong kernels fail for the reason given; right kernels pass however they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.mutants.mutant import Wrong, right, wrong
from tlpuzzles.course import catalog
from tlpuzzles.grading.choices import Portability
from tlpuzzles.verdict.model import Check, Kind, Result, Verdict

WRONG: dict[str, tuple[Wrong, ...]] = {exercise.slug: wrong(exercise.slug) for exercise in catalog.exercises()}
ALONE = (Kind.CORRECTNESS, Kind.FUNCTION, Kind.OUTPUT)
"""Kinds of checks that can be made without the others, and that name mistakes."""
PATIENT = 60.0
"""Seconds to trace a kernel: on a busy machine, one with macros takes longer than other tests are willing to wait."""

SAMPLED = 2
"""Of the wrong kernels, one in so many is graded by `make test`: compiling them all takes minutes. `make slow` has the
others. Wrong functions are all tried: each takes a third of a second."""


def _wrong_kernels() -> Iterator[ParameterSet]:
    for slug in WRONG:
        for number, one in enumerate(WRONG[slug]):
            later = one.kind not in (Kind.FUNCTION, Kind.OUTPUT) and number % SAMPLED
            marks = [pytest.mark.slow] if later else []
            yield pytest.param(slug, one, id=f"{slug}-{one.id}", marks=marks)


WRONG_KERNELS = list(_wrong_kernels())
RIGHT_KERNELS = [pytest.param(slug, path, id=f"{slug}-{path.stem}") for slug in WRONG for path in right(slug)]


@pytest.mark.parametrize(("slug", "wrong"), WRONG_KERNELS)
def test_wrong_kernel_fails_for_the_reason_given(slug: str, wrong: Wrong, grade: Callable[..., Result]) -> None:
    case = wrong.check if wrong.kind in ALONE else None
    portability = Portability.CHECK if wrong.kind is Kind.PORTABILITY else Portability.OFF

    result = grade(slug, wrong.source(slug), only=case, portability=portability, trace_seconds=PATIENT)

    assert result.verdict is Verdict.FAILED
    failed = [check for check in result.checks if check.verdict is Verdict.FAILED]
    assert wrong.kind in {check.kind for check in failed}, _told(result)
    if wrong.check is not None:
        assert wrong.check in {check.id for check in failed}, _told(result)
    if wrong.mistake is not None:
        assert _mistakes(failed) == {wrong.mistake}, _told(result)
    assert any(wrong.says in check.message for check in failed), _told(result)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "wrong", "case"),
    [
        pytest.param(slug, wrong, case, id=f"{slug}-{wrong.id}-{case}")
        for slug in WRONG
        for wrong in WRONG[slug]
        for case in wrong.passes
    ],
)
def test_wrong_kernel_is_right_where_its_error_does_not_show(
    slug: str, wrong: Wrong, case: str, grade: Callable[..., Result]
) -> None:
    result = grade(slug, wrong.source(slug), only=case, trace_seconds=PATIENT)

    assert {check.id: check.verdict for check in result.checks}[case] is Verdict.PASSED, _told(result)


@pytest.mark.parametrize(("slug", "path"), RIGHT_KERNELS)
def test_right_kernel_passes_however_it_is_written(slug: str, path: Path, grade: Callable[..., Result]) -> None:
    result = grade(slug, path.read_text("utf-8"), trace_seconds=PATIENT)

    assert result.verdict is Verdict.PASSED, _told(result)


@pytest.mark.parametrize("slug", WRONG)
def test_there_are_enough_kernels_to_trust_the_grader(slug: str) -> None:
    assert len(WRONG[slug]) >= 8
    assert len(right(slug)) >= 3


def _mistakes(failed: list[Check]) -> set[str | None]:
    return {check.detail.mistake for check in failed if check.detail and check.kind in ALONE}


def _told(result: Result) -> str:
    return "\n".join(f"{check.kind.value} {check.id}: {check.verdict.value} {check.message}" for check in result.checks)
