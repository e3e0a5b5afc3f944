"""What an exercise's checks add up to: its verdict and its points."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import floor

from tlpuzzles.verdict.model import Check, Kind, Points, Speed, Verdict
from tlpuzzles.verdict.worth import CORRECTNESS, worth
from tlpuzzles.verdict.worth import SPEED as SPEED

ANSWERS = (Kind.CORRECTNESS, Kind.FUNCTION, Kind.TUNING, Kind.OUTPUT)
"""Kinds of checks that look at what the learner's work gives. Without one of them, or a speed, nothing was graded."""

OF_A_KERNEL = (Kind.CORRECTNESS, Kind.TUNING, Kind.OUTPUT)
"""Kinds of answers that a kernel gives, and not a plain function."""

ANOTHER_KERNEL = (Kind.REQUIREMENT, Kind.ORDER, Kind.PORTABILITY)
"""Where a check of these kinds fails, this is not the kernel that was asked for, and right results earn nothing."""

NO_KERNEL_TO_TIME = (Kind.BUILD, Kind.CORRECTNESS, *ANOTHER_KERNEL)
"""Where a check of these kinds fails, no speed earns anything: a kernel is timed when its results are right."""


def verdict(checks: Sequence[Check]) -> Verdict:
    """The verdict of an exercise.

    Our errors come first, for they leave the rest in doubt; then failures, then what stayed open. Skipped checks fail
    nothing, but a grading that looked at no result has decided nothing. A speed that passed has: the outputs of timed
    calls are compared, too. What is not graded, such as a speed beside estimated marks, fails nothing and leaves
    nothing open.
    """
    ended = {check.verdict for check in checks if check.graded}
    for worst in (Verdict.ERROR, Verdict.FAILED, Verdict.INCONCLUSIVE):
        if worst in ended:
            return worst
    looked = any(check.kind in (*ANSWERS, Kind.SPEED) and check.verdict is Verdict.PASSED for check in checks)
    return Verdict.PASSED if looked else Verdict.INCONCLUSIVE


def nothing(*, timed: bool, speed_is_graded: bool = False) -> Points:
    """Of an exercise that was not started. `speed_is_graded`: whether a right kernel's speed would have been."""
    speed = SPEED if timed else 0
    return Points(earned=0, possible=worth(timed=timed), not_graded=0 if speed_is_graded else speed)


def points(
    checks: Sequence[Check],
    speeds: Sequence[Speed] = (),
    *,
    timed: bool = True,
    elsewhere: Collection[str] = (),
    unasked: Collection[str] = (),
) -> Points:
    """The points of an exercise. `timed`: whether it has a speed part, which `speeds` are the measurements of.

    `elsewhere` names the checks that this device cannot make, and `unasked` those that the user left out.

    The 60 of correctness are shared evenly by the checks that look at an answer. Those made elsewhere have no share.
    The share of one that was not asked for is not graded, nor is that of a check that stayed open or met an error of
    ours. Any other that did not pass, or was not reached, earns nothing; nor does a kernel that is another one than was
    asked for.

    The 40 of speed are shared evenly by the speed checks, which must be there for all timed cases, skipped or not;
    without any, the 40 are not graded. Each earns its share times its speed's score. Not graded is the share of one
    that is made elsewhere or was not asked for, that stayed open, or that has no score, for want of marks. A case that
    was not timed because the kernel is wrong earns nothing.
    """
    failed = {check.kind for check in checks if check.verdict is Verdict.FAILED and check.graded}
    earned, open_ = _correctness(checks, failed - {Kind.SPEED}, elsewhere, unasked)
    if timed:
        fast, unknown = _speed(checks, speeds, failed, {*elsewhere, *unasked})
        earned, open_ = earned + fast, open_ + unknown
    return Points(earned=earned, possible=worth(timed=timed), not_graded=open_)


def of_speed(checks: Sequence[Check], speeds: Sequence[Speed]) -> int:
    """Those among an exercise's `points` that are earned by speed."""
    failed = {check.kind for check in checks if check.verdict is Verdict.FAILED and check.graded}
    return _speed(checks, speeds, failed, ())[0]


def _correctness(
    checks: Sequence[Check], failed: set[Kind], elsewhere: Collection[str], unasked: Collection[str]
) -> tuple[int, int]:
    """Earned, and not graded."""
    cases = [check for check in checks if check.kind in ANSWERS and check.id not in elsewhere]
    if not cases:
        return 0, 0 if failed else CORRECTNESS
    worthless = OF_A_KERNEL if failed.intersection(ANOTHER_KERNEL) else ()
    passed = sum(check.verdict is Verdict.PASSED and check.kind not in worthless for check in cases)
    left = sum(_was_left_open(check, unasked) and check.kind not in worthless for check in cases)
    earned = _share(CORRECTNESS, passed, len(cases))
    return earned, _share(CORRECTNESS, passed + left, len(cases)) - earned


def _was_left_open(check: Check, unasked: Collection[str]) -> bool:
    if check.verdict is Verdict.SKIPPED:
        return check.id in unasked
    return check.verdict in (Verdict.INCONCLUSIVE, Verdict.ERROR)


def _speed(
    checks: Sequence[Check], speeds: Sequence[Speed], failed: set[Kind], not_here: Collection[str]
) -> tuple[int, int]:
    """Earned, and not graded."""
    cases = [check for check in checks if check.kind is Kind.SPEED]
    if not cases:
        return 0, SPEED
    scored = {speed.case: speed.score for speed in speeds}
    voided = not failed.isdisjoint(NO_KERNEL_TO_TIME)

    def score(check: Check) -> float | None:
        """Share of the case's points that it earns; None if it is not graded."""
        if check.id in not_here:
            return None
        if voided:
            return 0.0
        if check.id in scored:
            return scored[check.id]
        not_reached = check.verdict is Verdict.SKIPPED and not failed <= {Kind.SPEED}
        return 0.0 if not_reached or check.verdict is Verdict.FAILED else None

    scores = [score(check) for check in cases]
    won = sum(one for one in scores if one is not None)
    earned = _share(SPEED, won, len(cases))
    return earned, _share(SPEED, won + scores.count(None), len(cases)) - earned


def _share(of: int, some: float, all_: int) -> int:
    """Points, out of `of`, of `some` of the cases, rounded to the nearest: all for all only, and for none none."""
    if some in (0, all_):
        return of if some else 0
    return min(max(floor(of * some / all_ + 0.5), 1), of - 1)
