"""What a grading earned, in sentences."""

from __future__ import annotations

from collections.abc import Callable

from tlpuzzles.verdict.model import Check, Kind, Result, Verdict
from tlpuzzles.verdict.points import ANOTHER_KERNEL, ANSWERS, OF_A_KERNEL, SPEED, of_speed

NOT_ASKED = "--no-speed"
"""Stands in the message of a speed check that the user did not want."""

NOTHING = "No points: nothing could be graded."
ONE_CASE = "One case alone: points are counted with all of them."


def gradable(result: Result) -> int:
    """The points that could be had where it was graded."""
    return result.points.possible - result.points.not_graded


def earned(result: Result) -> tuple[str, str]:
    """The points of a grading in which some could be had, and what is left; the latter may be empty."""
    return f"{result.points.earned} of {gradable(result)} points{_for_what(result)}", _not_graded(result)


def is_one_case(result: Result) -> bool:
    """Whether what was asked is too little for points to say anything: a share of them that looks like all of them."""
    return result.only is not None and not result.speed


def why_nothing(result: Result, clean: Callable[[str], str]) -> str | None:
    """Why right results earn no points, if they do not. `clean` is for text that is not ours."""
    if not any(check.kind in OF_A_KERNEL and check.verdict is Verdict.PASSED for check in result.checks):
        return None
    failed = (check for check in result.checks if check.verdict is Verdict.FAILED and check.graded)
    cause = next((check for check in failed if check.kind in ANOTHER_KERNEL), None)
    return None if cause is None else f"Right results earn nothing while {_told(result, cause, clean)}."


def _told(result: Result, cause: Check, clean: Callable[[str], str]) -> str:
    """What is wrong, where each of several checks says it of one GPU."""
    gpus = [check for check in result.checks if check.kind is Kind.PORTABILITY]
    if cause in gpus and len(gpus) > 1 and all(check.verdict is Verdict.FAILED for check in gpus):
        return "none of these GPUs takes the kernel"
    return f"this fails: {clean(cause.title)}"


def _for_what(result: Result) -> str:
    """How many of the points are for speed; nothing where that was not graded."""
    is_graded = any(speed.score is not None for speed in result.speed or ())
    if not is_graded or result.only is not None or not _only_speed_is_left(result):
        return ""
    fast = of_speed(result.checks, result.speed or ())
    return f": {result.points.earned - fast} for results, {fast} of {SPEED - result.points.not_graded} for speed"


def _not_graded(result: Result) -> str:
    left = result.points.not_graded
    if not left:
        return ""
    if not _only_speed_is_left(result):
        return f"; {left} more are not graded here"
    checks = [check for check in result.checks if check.kind is Kind.SPEED]
    if any(NOT_ASKED in check.message for check in checks if check.verdict is Verdict.SKIPPED):
        return f"; {left} more are for speed ({NOT_ASKED})"
    undecided = any(check.verdict is Verdict.INCONCLUSIVE for check in checks)
    return f"; {left} more are for speed, {'left undecided' if undecided else 'not graded here'}"


def _only_speed_is_left(result: Result) -> bool:
    """Whether all points that are not graded are those of speed."""
    left = result.points.not_graded
    if left == SPEED:
        return True
    unsettled = (Verdict.INCONCLUSIVE, Verdict.ERROR)
    settled = not any(check.kind in ANSWERS and check.verdict in unsettled for check in result.checks)
    return left < SPEED and settled and result.only is None
