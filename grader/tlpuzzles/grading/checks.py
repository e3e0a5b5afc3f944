"""From what happened to the lines of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tlpuzzles.course.functions import Fault
from tlpuzzles.course.vocabulary import Case, Exercise
from tlpuzzles.grading.building import Outcome
from tlpuzzles.grading.submission import Problem, Submission, Todo
from tlpuzzles.verdict.model import Check, Detail, Kind, Location, Verdict

MAX_MESSAGE = 1500
"""Characters of a message that quotes what a learner's function returned."""

BUILD = "build"
ORDER = "order"

_TITLES = {
    BUILD: "the file gives a kernel of the right form",
    ORDER: "the result does not depend on the order of blocks and threads",
}


def passed(kind: Kind, id_: str, title: str, message: str = "", detail: Detail | None = None) -> Check:
    return Check(id=id_, title=title, kind=kind, verdict=Verdict.PASSED, message=message, detail=detail)


def skipped(kind: Kind, id_: str, title: str, reason: str) -> Check:
    return Check(id=id_, title=title, kind=kind, verdict=Verdict.SKIPPED, message=reason)


def failed(
    kind: Kind, id_: str, title: str, problem: Problem, submission: Submission, detail: Mapping[str, object]
) -> Check:
    """A check that failed for `problem`, or that could not be made because of a fault of ours."""
    return Check(
        id=id_,
        title=title,
        kind=kind,
        verdict=Verdict.ERROR if problem.ours else Verdict.FAILED,
        message=problem.message,
        detail=Detail.model_validate(
            {**detail, "location": location(submission, problem.line), "raw": problem.raw, "hint": problem.hint}
        ),
    )


def faulty(kind: Kind, id_: str, title: str, fault: Fault, facts: Mapping[str, object]) -> Check:
    """A failed check for what is wrong with an answer."""
    detail = Detail.model_validate({**facts, "mistake": fault.mistake, "hint": fault.hint})
    message = fault.message if len(fault.message) <= MAX_MESSAGE else f"{fault.message[: MAX_MESSAGE - 3]}..."
    return Check(id=id_, title=title, kind=kind, verdict=Verdict.FAILED, message=message, detail=detail)


def location(submission: Submission, line: int | None) -> Location | None:
    if line is None:
        return None
    return Location(file=submission.shown, line=line, source=submission.source(line))


def build_failed(problem: Problem, submission: Submission, detail: Mapping[str, object] | None = None) -> Check:
    return failed(Kind.BUILD, BUILD, _TITLES[BUILD], problem, submission, detail or {})


def build_skipped(reason: str) -> Check:
    return skipped(Kind.BUILD, BUILD, _TITLES[BUILD], reason)


def order_check(verdict: Verdict, message: str, detail: Detail | None = None) -> Check:
    return Check(id=ORDER, title=_TITLES[ORDER], kind=Kind.ORDER, verdict=verdict, message=message, detail=detail)


def order_failed(problem: Problem, submission: Submission) -> Check:
    return failed(Kind.ORDER, ORDER, _TITLES[ORDER], problem, submission, {})


def other_gpus_not_asked(why: str) -> Check:
    """Stands for the checks that were left out."""
    return skipped(Kind.PORTABILITY, "portability", "other GPUs", f"not asked ({why})")


def not_run(exercise: Exercise, requirements: Mapping[str, Problem | None]) -> Iterator[Check]:
    """The cases of kernels of which none may be run. `requirements`: what was asked of them all the same."""
    reason = "not run: the kernel did not get past Build" if requirements else "there is no kernel to run"
    return (case_skipped(case, reason) for case in exercise.cases)


def case_skipped(case: Case, reason: str) -> Check:
    return skipped(Kind.CORRECTNESS, case.id, case.title, reason)


def build(exercise: Exercise, outcome: Outcome, problems: Mapping[str, Problem], submission: Submission) -> Check:
    """Passed if any case gave a kernel: what keeps the others from one is theirs to say."""
    if not outcome.built and problems:
        cases = (*exercise.cases, *(timing.case for timing in exercise.timings))
        case = next(case for case in cases if case.id in problems)
        return build_failed(problems[case.id], submission, {"case": case.id})
    if outcome.warnings:
        first = outcome.warnings[0]
        detail = Detail(location=location(submission, first.line))
        return passed(Kind.BUILD, BUILD, _TITLES[BUILD], "\n".join(map(_warned, outcome.warnings)), detail)
    return passed(Kind.BUILD, BUILD, _TITLES[BUILD])


def _warned(warning: Problem) -> str:
    return warning.message if warning.line is None else f"Line {warning.line}: {warning.message}"


def requirements(exercise: Exercise, found: Mapping[str, Problem | None], submission: Submission) -> Iterator[Check]:
    """A check for each requirement that could be asked."""
    for requirement in exercise.requirements:
        if requirement.id not in found:
            yield skipped(Kind.REQUIREMENT, requirement.id, requirement.title, "there is no kernel to look at")
        elif (missing := found[requirement.id]) is not None:
            yield failed(Kind.REQUIREMENT, requirement.id, requirement.title, missing, submission, {})
        else:
            yield passed(Kind.REQUIREMENT, requirement.id, requirement.title)


def follows_schedules(told: str | None, submission: Submission) -> Check:
    """Whether different schedules gave different kernels; `told`: which did not."""
    id_, title = "follows-schedules", "the kernel follows its schedule"
    if told is None:
        return passed(Kind.REQUIREMENT, id_, title)
    return failed(Kind.REQUIREMENT, id_, title, Problem(told), submission, {})


def not_started(todos: Sequence[Todo]) -> Check:
    """The one check of a file that is still the skeleton."""
    steps = "\n".join(f"line {todo.line}: {todo.text}" for todo in todos)
    return build_skipped(f"This is still the skeleton. What it asks for:\n{steps}")
