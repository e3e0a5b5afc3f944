"""The trap of exercise 5: a tile as wide as the row is right on a CPU and compiles for no GPU."""

from __future__ import annotations

from collections.abc import Callable

from tlpuzzles.grading.choices import Portability
from tlpuzzles.verdict.model import Kind, Result, Verdict
from tlpuzzles_solutions import path as solution

PADDED = "columns = tilelang.next_power_of_2(N)\n"


def test_rows_that_are_not_padded_fail_although_every_result_is_right(grade: Callable[..., Result]) -> None:
    text = solution("row_softmax").read_text("utf-8")
    assert text.count(PADDED) == 1

    result = grade(
        "row_softmax",
        text.replace(PADDED, "columns = N\n"),
        portability=Portability.CHECK,
        stop_at_first_failure=False,
        trace_seconds=60.0,
    )

    checks = {kind: [check for check in result.checks if check.kind is kind] for kind in Kind}
    assert {check.verdict for check in checks[Kind.CORRECTNESS]} == {Verdict.PASSED, Verdict.SKIPPED}
    assert [check.verdict for check in checks[Kind.PORTABILITY]] == [Verdict.FAILED] * 4
    assert all(check.graded for check in checks[Kind.PORTABILITY])
    assert all("tilelang.next_power_of_2(N)" in check.message for check in checks[Kind.PORTABILITY])
    assert result.verdict is Verdict.FAILED
    assert result.points.earned == 0
