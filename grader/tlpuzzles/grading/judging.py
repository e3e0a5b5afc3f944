"""The parent's side of judging: inputs drawn, outputs compared, in a child that holds the seed and the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.course.functions import Fault
from tlpuzzles.course.vocabulary import Case, Exercise, Printing
from tlpuzzles.grading import checks
from tlpuzzles.grading.building import Outcome
from tlpuzzles.grading.plan import Plan
from tlpuzzles.grading.stages import Ran
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.kernel.unset import NEVER_FILLED
from tlpuzzles.verdict.judgement import UNNAMED
from tlpuzzles.verdict.model import Check, Detail, Kind, Verdict
from tlpuzzles.verdict.order import UNSET

LIMITS = Limits(seconds=300, memory=None, hidden=True)

NOTHING: Mapping[str, Check] = {}
NO_SUSPECTS: Mapping[str, Problem] = {}

Inputs = Mapping[str, Path]
"""Raw files by the names of the contract's input tensors."""


class JudgeFailed(Exception):
    """The judge's process ended without an answer: a fault of ours."""


def draw(warm: Warm, exercise: Exercise, plan: Plan, folder: Path) -> dict[str, Inputs]:
    """Draws every problem's inputs. Raises JudgeFailed."""
    job = _job("draw", exercise, plan, folder)
    report = warm.run("judge", job, LIMITS, folder)
    _expect_end(report)
    return {
        message["case"]: {name: Path(file) for name, file in message["files"].items()} for message in report.of("drawn")
    }


def judge(
    warm: Warm,
    exercise: Exercise,
    plan: Plan,
    ran: Mapping[str, Ran],
    problems: Mapping[str, Problem],
    built: Outcome,
    submission: Submission,
    folder: Path,
    dump: Path | None,
    known: Mapping[str, Check] = NOTHING,
) -> list[Check]:
    """A correctness check for every case, in the exercise's order, and the order check. Raises JudgeFailed.

    `problems`: by case, why it has no kernel that may be run. `known`: checks of cases that were not run, for their
    kernels have passed them before.
    """
    outputs = {case: [str(file) for file in run.outputs] for case, run in ran.items() if run.problem is None}
    suspects = {p.case.id: built.suspects[p.kernel] for p in plan.problems if p.kernel in built.suspects}
    judged: dict[str, Message] = {}
    prints: list[Message] = []
    if outputs:
        job = _job("judge", exercise, plan, folder) | {
            "outputs": outputs,
            "tiles": {p.case.id: built.built[p.kernel].tile for p in plan.problems if p.kernel in built.built},
            "causes": {case: suspect.message for case, suspect in suspects.items()},
            "printed": {case: run.printed for case, run in ran.items()},
            "dump": None if dump is None else str(dump),
        }
        report = warm.run("judge", job, LIMITS, folder)
        _expect_end(report)
        judged = {message["case"]: message for message in report.of("judged")}
        prints = report.of("printed")
    failures = {**problems, **{case: run.problem for case, run in ran.items() if run.problem is not None}}
    left_out = {case.id: reason for case, reason in plan.left_out}
    sizes = {problem.case.id: dict(problem.sizes) for problem in plan.problems}
    unset = {p.case.id: built.unset[p.kernel] for p in plan.problems if p.kernel in built.unset}
    found: list[Check] = []
    for case in exercise.cases:
        if case.id in left_out:
            found.append(checks.case_skipped(case, left_out[case.id]))
            continue
        if case.id in known:
            found.append(known[case.id])
            continue
        facts = {"case": case.id, "seed": plan.seed, "sizes": sizes[case.id], "dtype": case.dtype}
        if case.id in judged:
            check = named(_check(case, judged[case.id], facts), unset.get(case.id), submission)
            found.append(located(check, suspects.get(case.id), submission))
        else:
            problem = failures.get(case.id) or Problem("The kernel gave no output.", ours=True)
            found.append(checks.failed(Kind.CORRECTNESS, case.id, case.title, problem, submission, facts))
    found = list(for_one_reason(found, suspects))
    if exercise.printing is not None:
        found.append(_printed(exercise.printing, prints, plan))
    if built.race is not None:
        found.append(checks.order_failed(built.race, submission))
    else:
        for check in _order(exercise, judged):
            case_id = check.detail.case if check.detail is not None else None
            found.append(named(check, unset.get(case_id or ""), submission))
    return found


def _check(case: Case, answer: Message, facts: Mapping[str, object]) -> Check:
    judgement = answer["output"]
    verdict, message = Verdict(judgement["verdict"]), judgement["message"]
    if answer["changed"]:
        names = " and ".join(answer["changed"])
        verdict, message = Verdict.FAILED, f"The kernel changed its input {names}. Inputs must stay as they are."
    return Check(
        id=case.id,
        title=case.title,
        kind=Kind.CORRECTNESS,
        verdict=verdict,
        message=message,
        detail=Detail.model_validate({**facts, **_known(judgement["detail"])}),
    )


def named(check: Check, unset: Problem | None, submission: Submission) -> Check:
    """The check with the name of the tile and its line, if it is about one that is read before it is set."""
    if unset is None or not check.message.startswith(UNNAMED):
        return check
    detail = (check.detail or Detail()).model_copy(update={"location": checks.location(submission, unset.line)})
    message = f"The tile {unset.message}{check.message.removeprefix(UNNAMED)}"
    if NEVER_FILLED in unset.message:
        message = message.replace(UNSET, "Fill it first, by T.copy or element by element.")
    return check.model_copy(update={"message": message, "detail": detail})


def located(check: Check, suspect: Problem | None, submission: Submission) -> Check:
    """The check with the line of what makes the result wrong, if it says that."""
    if suspect is None or suspect.line is None or suspect.message not in check.message:
        return check
    detail = (check.detail or Detail()).model_copy(update={"location": checks.location(submission, suspect.line)})
    return check.model_copy(update={"detail": detail})


def for_one_reason(found: Sequence[Check], suspects: Mapping[str, Problem] = NO_SUSPECTS) -> Iterator[Check]:
    """Where an output equals a known mistake, the others that are wrong by their values alone are not given a cause
    each: it would be a guess, and they most likely have the same. What one line makes wrong is told once."""
    told: dict[int | None, Check] = {}
    for check in _for_one_mistake(found):
        suspect = suspects.get(check.id)
        if suspect is None or suspect.message not in check.message:
            yield check
        elif suspect.line in told:
            yield check.model_copy(update={"message": f'Wrong for the same reason as "{told[suspect.line].title}".'})
        else:
            told[suspect.line] = check
            yield check


def _for_one_mistake(found: Sequence[Check]) -> Iterator[Check]:
    known = next((check for check in found if check.detail and check.detail.mistake and check.detail.hint), None)
    for check in found:
        detail = check.detail
        wrong = check.verdict is Verdict.FAILED and detail is not None and detail.error is not None
        if known is not None and wrong and detail is not None and detail.mistake is None:
            message = f'Wrong too, probably for the same reason as "{known.title}".'
            yield check.model_copy(update={"message": message})
        else:
            yield check


def _printed(printing: Printing, prints: Sequence[Message], plan: Plan) -> Check:
    if not prints:
        return checks.skipped(Kind.OUTPUT, printing.id, printing.title, "no case was run")
    fault = next((answer["fault"] for answer in prints if answer["fault"] is not None), None)
    if fault is None:
        return checks.passed(Kind.OUTPUT, printing.id, printing.title)
    facts = {"case": printing.id, "seed": plan.seed}
    return checks.faulty(Kind.OUTPUT, printing.id, printing.title, Fault(**fault), facts)


def _order(exercise: Exercise, judged: Mapping[str, Message]) -> Iterator[Check]:
    answers = {case.id: judged[case.id]["order"] for case in exercise.cases if judged.get(case.id, {}).get("order")}
    if not answers:
        return
    for answer in answers.values():
        if Verdict(answer["verdict"]) is not Verdict.PASSED:
            yield checks.order_check(
                Verdict(answer["verdict"]), answer["message"], Detail.model_validate(answer["detail"])
            )
            return
    yield checks.order_check(Verdict.PASSED, "")


def _known(detail: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in detail.items() if value is not None}


def _job(task: str, exercise: Exercise, plan: Plan, folder: Path) -> dict[str, Any]:
    return {
        "task": task,
        "exercise": exercise.slug,
        "seed": plan.seed,
        "folder": str(folder),
        "cases": [
            {"id": problem.case.id, "like": problem.case.like or problem.case.id, "sizes": dict(problem.sizes)}
            for problem in plan.problems
        ],
    }


def _expect_end(report: Report) -> None:
    if report.end is not End.FINISHED:
        last = report.output.strip().splitlines()[-1:] or [f"it {report.end.value}"]
        raise JudgeFailed(f"the process that compares outputs failed: {last[0]}")
