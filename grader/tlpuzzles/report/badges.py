"""How a grading ended, in a few capitals."""

from __future__ import annotations

from tlpuzzles.report.overview import leading, other_gpus_left_out
from tlpuzzles.report.speed_words import too_slow
from tlpuzzles.verdict.model import Result, Verdict

BADGES = {
    Verdict.PASSED: "PASSED",
    Verdict.FAILED: "NOT YET RIGHT",
    Verdict.INCONCLUSIVE: "UNDECIDED",
    Verdict.ERROR: "OUR ERROR",
    Verdict.NOT_STARTED: "NOT STARTED",
    Verdict.SKIPPED: "SKIPPED",
}

TOO_SLOW = "NOT YET FAST"
"""Instead of the badge of a failure, where nothing but speed fails."""

NEEDS_GPU = "needs a GPU"
"""Stands in the message of a check that was skipped for want of one; in capitals, the badge where nothing else was
asked for."""


def badge(result: Result) -> str:
    """The result, where there is room for no more than that."""
    failed = {check.id for check in result.checks if check.verdict is Verdict.FAILED and check.graded}
    if result.verdict is Verdict.FAILED and failed and failed <= too_slow(result):
        return TOO_SLOW
    return NEEDS_GPU.upper() if needs_gpu(result) else BADGES[result.verdict]


def full_badge(result: Result) -> str:
    """The same, and whether all was graded that makes an exercise passed."""
    if result.only is not None and result.verdict is Verdict.PASSED:
        return "PASSED ALONE"
    return "PASSED WITHOUT THE GPU CHECK" if passed_without_gpus(result) else badge(result)


def passed_without_gpus(result: Result) -> bool:
    return result.verdict is Verdict.PASSED and other_gpus_left_out(result)


def needs_gpu(result: Result) -> bool:
    """Whether the one check that was asked for can only be made on a GPU."""
    if result.only is None or result.verdict is not Verdict.INCONCLUSIVE or leading(result) is not None:
        return False
    return any(check.verdict is Verdict.SKIPPED and NEEDS_GPU in check.message for check in result.checks)
