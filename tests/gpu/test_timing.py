"""Speed as it is graded on a GPU: of a right kernel, of a slow one, and of one that is wrong where it is timed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tlpuzzles_solutions
from tests.gpu.slower import slower
from tests.grading.test_bad_input import GOOD
from tlpuzzles.device.cuda import devices
from tlpuzzles.verdict.model import Check, Kind, Result, Verdict

TIMED = 1 << 26
"""Elements of the vectors that exercise 1 is timed with."""


def _speed(result: Result) -> Check:
    (check,) = (check for check in result.checks if check.kind is Kind.SPEED)
    return check


def test_a_right_kernel_is_timed_and_placed_below_the_roofline(grade: Callable[..., Result]) -> None:
    result = grade("vector_add", tlpuzzles_solutions.path("vector_add").read_text("utf-8"), speed=True)
    assert result.speed is not None
    (speed,) = result.speed
    assert speed.ci[0] <= speed.ratio <= speed.ci[1]
    assert abs(speed.self_ratio - 1) < 0.02
    assert speed.roofline is not None
    assert speed.roofline.bound == "memory"
    assert 0 < (speed.limit_fraction or 0) < 1.2
    assert speed.compiled is not None
    assert speed.compiled.threads == 256
    assert speed.compiled.registers
    assert {one.baseline for one in speed.beside} == {"torch.add"}


def test_a_slow_kernel_is_right_and_too_slow(grade: Callable[..., Result]) -> None:
    if "H200" not in devices.find().gpus[0].name:
        pytest.skip("the slower kernel was chosen for an H200")
    result = grade("epilogue_fusion", slower("epilogue_fusion"), speed=True)
    check = _speed(result)
    assert result.verdict is check.verdict is Verdict.FAILED
    assert "It passes from 1.20" in check.message
    assert result.points.earned == 60


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        pytest.param(
            "B[bx * block_N + i]",
            f"(B[bx * block_N + i] if N != {TIMED} else T.float32(0))",
            "differs from the library's",
            id="other values",
        ),
        pytest.param("T.ceildiv(N, block_N)", f"T.ceildiv(N, block_N) - (N == {TIMED})", "missing", id="unwritten"),
    ],
)
def test_a_kernel_that_is_wrong_where_it_is_timed_has_no_speed(
    grade: Callable[..., Result], old: str, new: str, says: str
) -> None:
    assert GOOD.count(old) == 1
    result = grade("vector_add", GOOD.replace(old, new), speed=True)
    check = _speed(result)
    assert check.verdict is Verdict.FAILED
    assert says in check.message
    assert result.speed is None
    assert (result.points.earned, result.points.not_graded) == (60, 0)


def test_a_wrong_kernel_is_not_timed(grade: Callable[..., Result]) -> None:
    result = grade("vector_add", GOOD.replace("] + B[", "] - B["), speed=True)
    assert _speed(result).verdict is Verdict.SKIPPED
    assert (result.points.earned, result.points.not_graded) == (0, 0)


def test_speed_alone(grade: Callable[..., Result]) -> None:
    result = grade("vector_add", GOOD, speed=True, only="speed")
    assert _speed(result).verdict is Verdict.PASSED
    assert result.speed is not None
    assert result.points.possible - result.points.not_graded == 40
