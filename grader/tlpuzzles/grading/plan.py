"""Which problems a grading poses: cases with sizes drawn from its seed."""

from __future__ import annotations

import hashlib
import random
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tlpuzzles.course.runs import Runs
from tlpuzzles.course.schedules import TUNING_CHECKS, Schedule
from tlpuzzles.course.vocabulary import Case, Exercise, Sizes
from tlpuzzles.errors import UsageError

SPEED = "speed"
"""By this name a user asks for all that is timed."""

NOTHING: Mapping[str, str] = {}


class UnknownCase(UsageError):
    """The exercise has no case of that name."""


@dataclass(frozen=True)
class Problem:
    """One case with its sizes drawn."""

    case: Case
    sizes: Sizes
    kernel: str
    """The first case whose factory arguments are the same: its kernel serves this one too."""

    @property
    def arguments(self) -> dict[str, object]:
        return self.case.arguments(self.sizes)

    @property
    def in_words(self) -> str:
        """Its sizes: "M = 1, N = 4385"."""
        return ", ".join(f"{name} = {size}" for name, size in self.sizes.items())


@dataclass(frozen=True)
class Plan:
    """The problems of one grading, and the cases that are left out with the reason."""

    seed: int
    problems: tuple[Problem, ...]
    left_out: tuple[tuple[Case, str], ...]
    timed: tuple[Problem, ...] = ()
    """Those whose kernels are timed, and whose results are looked at where that is done."""

    @property
    def kernels(self) -> tuple[Problem, ...]:
        """The problems that need a kernel of their own."""
        return tuple(problem for problem in (*self.problems, *self.timed) if problem.kernel == problem.case.id)


SIZES = 10**5
"""A seed's last five digits draw the sizes, and follow the file: what was compiled for them need not be compiled again
when the same file is graded again. All of it draws the inputs."""


def new_seed(content: bytes) -> int:
    """A seed for a file of this content that nobody can foresee; small enough to type in again."""
    return secrets.randbelow(10**5) * SIZES + int.from_bytes(hashlib.sha256(content).digest()[:8], "big") % SIZES


def of_sizes(seed: int) -> int:
    """The part of a seed by which sizes and schedules are drawn."""
    return seed % SIZES


def plan(
    exercise: Exercise,
    seed: int,
    *,
    on_cuda: bool,
    speed: bool = True,
    only: str | None = None,
    withheld: Mapping[str, str] = NOTHING,
    winner: Schedule | None = None,
) -> Plan:
    """Draws the problems. Raises UnknownCase for a case that the exercise does not have.

    `withheld`: cases that cannot be posed, with the reason. `winner`: the schedule that is timed, where the learner
    proposes them.
    """
    if only is not None and only not in names(exercise) and not _may_come(exercise, only):
        raise UnknownCase(f"Exercise {exercise.number} has no case {only!r}. It has: {', '.join(names(exercise))}.")
    problems: list[Problem] = []
    left_out: list[tuple[Case, str]] = []
    for case in exercise.cases:
        if only is not None and only not in _asked_by(exercise, case):
            left_out.append((case, f"only {only} was asked for"))
        elif case.id in withheld:
            left_out.append((case, withheld[case.id]))
        elif case.runs is Runs.ON_CUDA and not on_cuda:
            left_out.append((case, "needs a GPU"))
        else:
            sizes = draw(exercise, case, seed)
            same = (p.kernel for p in problems if p.arguments == case.arguments(sizes))
            problems.append(Problem(case, sizes, next(same, case.id)))
    timed = _timed(exercise, seed, only, winner) if on_cuda and speed else ()
    return Plan(seed, tuple(problems), tuple(left_out), timed)


def _timed(exercise: Exercise, seed: int, only: str | None, winner: Schedule | None) -> tuple[Problem, ...]:
    if exercise.proposed is not None and winner is None:
        return ()
    cases = (timing.case for timing in exercise.timings if only in (None, timing.case.id, SPEED))
    return tuple(
        Problem(replace(case, schedule=dict(winner or {})), draw(exercise, case, seed), case.id) for case in cases
    )


def _may_come(exercise: Exercise, only: str) -> bool:
    """Whether it can be the case of a schedule that the learner's function has yet to propose."""
    if exercise.proposed is None or any(case.like for case in exercise.cases):
        return False
    return re.fullmatch(rf"{re.escape(exercise.proposed.case)}-\d+", only) is not None


def _asked_by(exercise: Exercise, case: Case) -> tuple[str, ...]:
    """The names by which a user asks for this case."""
    printing = exercise.printing
    return (case.id, case.like, *([printing.id] if printing is not None and printing.case == case.id else []))


def names(exercise: Exercise) -> list[str]:
    """What can be graded alone: cases, function checks, what a kernel prints, what a function measures."""
    others = (exercise.printing, exercise.profiling)
    tuned = () if exercise.proposed is None else TUNING_CHECKS[exercise.proposed.chosen_by]
    return [
        *dict.fromkeys(case.like or case.id for case in exercise.cases),
        *(case.id for case in exercise.cases if case.like),
        *(check.id for check in exercise.functions),
        *dict.fromkeys(name for timing in exercise.timings for name in (SPEED, timing.case.id)),
        *(other.id for other in others if other is not None),
        *tuned,
    ]


def draw(exercise: Exercise, case: Case, seed: int) -> Sizes:
    """The case's sizes for this seed, the same on every machine; cases that draw by one function draw the same sizes,
    so that they differ in their inputs alone."""
    first = next((other for other in exercise.cases if other.sizes is case.sizes), case)
    return case.sizes(random.Random(f"{of_sizes(seed)}/{first.like or first.id}"))
