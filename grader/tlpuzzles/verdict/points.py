"""What an exercise's checks add up to: its verdict and its points."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tlpuzzles.verdict.model import Check, Kind, Points, Verdict

CORRECTNESS = 60
SPEED = 40

ANSWERS = (Kind.CORRECTNESS, Kind.FUNCTION, Kind.TUNING, Kind.OUTPUT)
"""Kinds of checks that look at what the learner's work gives. Without one of them, nothing was graded."""

OF_A_KERNEL = (Kind.CORRECTNESS, Kind.TUNING, Kind.OUTPUT)
"""Kinds of answers that a kernel gives, and not a plain function."""

ANOTHER_KERNEL = (Kind.REQUIREMENT, Kind.ORDER, Kind.PORTABILITY)
"""Where a check of these kinds fails, this is not the kernel that was asked for, and right results earn nothing."""


def verdict(checks: Sequence[Check]) -> Verdict:
    """The verdict of an exercise; that of the graded speed checks is for the caller to add.

    Our errors come first, for they leave the rest in doubt; then failures, then what stayed open. Skipped checks fail
    nothing, but a grading that looked at no result has decided nothing.
    """
    ended = {check.verdict for check in checks if check.kind is not Kind.SPEED and check.graded}
    for worst in (Verdict.ERROR, Verdict.FAILED, Verdict.INCONCLUSIVE):
        if worst in ended:
            return worst
    looked = any(check.kind in ANSWERS and check.verdict is Verdict.PASSED for check in checks)
    return Verdict.PASSED if looked else Verdict.INCONCLUSIVE


def nothing(*, timed: bool) -> Points:
    """Of an exercise that was not started."""
    speed = SPEED if timed else 0
    return Points(earned=0, possible=CORRECTNESS + speed, not_graded=speed)


def points(
    checks: Sequence[Check], *, timed: bool = True, elsewhere: Collection[str] = (), unasked: Collection[str] = ()
) -> Points:
    """The points of an exercise without its speed, whose 40, if it is timed, are not graded.

    The 60 of correctness are shared evenly by the checks that look at an answer. `elsewhere` names those that this
    device cannot run: they have no share. `unasked` names those that the user left out: their share is not graded, nor
    is that of a check that stayed open or met an error of ours. Any other that did not pass, or was not reached, earns
    nothing; nor does a kernel that is another one than was asked for.
    """
    speed = SPEED if timed else 0
    possible = CORRECTNESS + speed
    cases = [check for check in checks if check.kind in ANSWERS and check.id not in elsewhere]
    failed = {check.kind for check in checks if check.verdict is Verdict.FAILED and check.graded}
    if not cases:
        return Points(earned=0, possible=possible, not_graded=speed if failed else possible)
    worthless = OF_A_KERNEL if failed.intersection(ANOTHER_KERNEL) else ()
    passed = sum(check.verdict is Verdict.PASSED and check.kind not in worthless for check in cases)
    left = sum(_was_left_open(check, unasked) and check.kind not in worthless for check in cases)
    earned = _share(passed, len(cases))
    return Points(earned=earned, possible=possible, not_graded=speed + _share(passed + left, len(cases)) - earned)


def _was_left_open(check: Check, unasked: Collection[str]) -> bool:
    if check.verdict is Verdict.SKIPPED:
        return check.id in unasked
    return check.verdict in (Verdict.INCONCLUSIVE, Verdict.ERROR)


def _share(some: int, all_: int) -> int:
    """Correctness points of `some` of the cases, rounded to the nearest: all for all cases only, and for none none."""
    if some in (0, all_):
        return CORRECTNESS * some // all_
    nearest = (2 * CORRECTNESS * some + all_) // (2 * all_)
    return min(max(nearest, 1), CORRECTNESS - 1)
