"""In which steps a saved file is graded, so that the answer to the question just asked comes first.

Each step is a grading. What passed in one is not run again in the next, as long as the kernel stays the same
(`grading.memory`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.options import Options
from tlpuzzles.verdict.model import Kind, Result, Verdict

QUICK = 2.0
"""Seconds. Where all cases take no longer, there is no use in asking one of them first."""


LATER = "until all cases pass"


class Stage(Enum):
    """What a step asks."""

    ONE_FIRST = "one case"
    """That which failed before, else the first."""
    CASES = "all cases"
    EVERYTHING = "other GPUs, and speed"


@dataclass(frozen=True)
class Before:
    """What is known of the exercise from gradings before."""

    failed: str | None = None
    """The check to ask first."""
    seed: int | None = None
    """That drew it."""
    seconds: float = 0.0
    """How long all cases took, or half as long as was thought before: the first grading of all waits for imports, and
    one in which cases are known to pass is quicker than the next may be."""

    def after(self, stage: Stage, result: Result) -> Before:
        first = first_failed(result)
        if stage is Stage.ONE_FIRST:
            return self if first is not None else replace(self, failed=None)
        seconds = max(self.seconds / 2, result.seconds) if stage is Stage.CASES else self.seconds
        failed, seed = first or (None, None)
        return Before(failed, seed, seconds)


def first_failed(result: Result) -> tuple[str, int | None] | None:
    """The first check that failed and can be made alone, with the seed that drew it."""
    for check in result.checks:
        if check.verdict is Verdict.FAILED and check.kind in (Kind.CORRECTNESS, Kind.FUNCTION):
            return check.id, None if check.detail is None else check.detail.seed
    return None


def stages(exercise: Exercise, options: Options, before: Before, *, on_cuda: bool) -> Iterator[tuple[Stage, Options]]:
    """The steps for a file that was saved; who takes them stops where a result leaves nothing to ask.

    `options`: of a whole grading.
    """
    if before.seconds > QUICK:
        first = before.failed or exercise.cases[0].id
        asked = replace(options, only=first, portability=Portability.OFF, not_asked=LATER, speed=False)
        yield Stage.ONE_FIRST, replace(asked, seed=options.seed if before.seed is None else before.seed)
    # On a GPU, tuning takes longest by far, and is part of every whole grading: there is one alone.
    if not (on_cuda and exercise.proposed is not None):
        yield Stage.CASES, replace(options, portability=Portability.OFF, not_asked=LATER, speed=False)
    yield Stage.EVERYTHING, options


def goes_on(stage: Stage, result: Result) -> bool:
    """Whether the next step is worth taking."""
    built = not any(check.kind is Kind.BUILD and check.verdict is Verdict.FAILED for check in result.checks)
    return result.verdict is Verdict.PASSED or (stage is Stage.ONE_FIRST and built)
