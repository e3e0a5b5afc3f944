"""Function checks: which calls a grading makes of a learner's functions, and what their answers are worth."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tlpuzzles.course.functions import Call, FunctionCheck, named
from tlpuzzles.course.runs import Runs
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading import checks
from tlpuzzles.grading.calling import Called
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.verdict.model import Check, Kind


@dataclass(frozen=True)
class Asked:
    """A function check with its calls drawn."""

    check: FunctionCheck
    calls: tuple[Call, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each call, as `grading.calling` takes them."""
        return tuple(f"{self.check.id}/{number}" for number in range(len(self.calls)))


@dataclass(frozen=True)
class Questions:
    """The function checks of one grading, and those that are left out with the reason."""

    seed: int
    asked: tuple[Asked, ...]
    left_out: tuple[tuple[FunctionCheck, str], ...]

    @property
    def calls(self) -> dict[str, Call]:
        return {name: call for one in self.asked for name, call in zip(one.names, one.calls, strict=True)}


def questions(exercise: Exercise, seed: int, *, on_cuda: bool, only: str | None) -> Questions:
    """Draws the calls."""
    asked: list[Asked] = []
    left_out: list[tuple[FunctionCheck, str]] = []
    for check in exercise.functions:
        if only is not None and check.id != only:
            left_out.append((check, f"only {only} was asked for"))
        elif check.runs is Runs.ON_CUDA and not on_cuda:
            left_out.append((check, "needs a GPU"))
        else:
            asked.append(Asked(check, tuple(check.calls(random.Random(f"{seed}/{check.id}")))))
    return Questions(seed, tuple(asked), tuple(left_out))


def judged(exercise: Exercise, posed: Questions, called: Called, submission: Submission) -> list[Check]:
    """A check for every function check, in the exercise's order. The file could be loaded."""
    asked = {one.check.id: one for one in posed.asked}
    reasons = {check.id: reason for check, reason in posed.left_out}
    return [
        _judge(asked[check.id], posed.seed, called, submission)
        if check.id in asked
        else checks.skipped(Kind.FUNCTION, check.id, check.title, reasons[check.id])
        for check in exercise.functions
    ]


def _judge(asked: Asked, seed: int, called: Called, submission: Submission) -> Check:
    check = asked.check
    facts: dict[str, object] = {"case": check.id, "seed": seed}
    unanswered = next((called.problems[name] for name in asked.names if name in called.problems), None)
    if unanswered is not None:
        return checks.failed(Kind.FUNCTION, check.id, check.title, unanswered, submission, facts)
    answers = [called.answers[name] for name in asked.names]
    try:
        fault = check.judge(asked.calls, answers)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        # The answer has a form that the check did not think of: the learner is told what came, not what broke here.
        unread = Problem(f"The answer could not be read ({type(error).__name__}: {error}): {_cut(answers[0].value)}.")
        return checks.failed(Kind.FUNCTION, check.id, check.title, unread, submission, facts)
    if fault is None:
        return checks.passed(Kind.FUNCTION, check.id, check.title)
    return checks.faulty(Kind.FUNCTION, check.id, check.title, named(check, fault, asked.calls, answers), facts)


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."
