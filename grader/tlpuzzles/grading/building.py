"""The parent's side of building: capsules checked, vetted and, for a CPU grading, turned into C++, in a child."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.plan import Plan
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.stages import Built, problem, store
from tlpuzzles.grading.submission import Problem
from tlpuzzles.kernel.capsule import Capsule

LIMITS = Limits(seconds=60)


@dataclass(frozen=True)
class Outcome:
    """What became of the capsules."""

    built: Mapping[str, Built] = field(default_factory=dict)
    """By kernel."""
    problems: Mapping[str, Problem] = field(default_factory=dict)
    """By kernel, for those that were refused."""
    requirements: Mapping[str, Problem | None] = field(default_factory=dict)
    """By requirement, for those that could be asked: what is missing in the first kernel that lacks it."""
    race: Problem | None = None
    """What makes a kernel wrong on a GPU although a CPU, which runs one iteration after the other, gets it right."""
    unset: Mapping[str, Problem] = field(default_factory=dict)
    """By kernel: the tile that it reads before setting it. A run must show whether that matters."""
    suspects: Mapping[str, Problem] = field(default_factory=dict)
    """By kernel: what most likely makes its result wrong, if a run shows that it is."""
    warnings: Sequence[Problem] = ()
    """Worth a word to the learner; they change no verdict."""


def build(
    warm: Warm, exercise: Exercise, plan: Plan, capsules: Mapping[str, Capsule], folder: Path, *, emit_cpu: bool
) -> Outcome:
    """Checks and vets every capsule in one child."""
    posed = [problem for problem in plan.kernels if problem.case.id in capsules]
    if not posed:
        return Outcome()
    files = {p.case.id: store(capsules[p.case.id], folder / f"{p.case.id}.capsule.json") for p in posed}
    job = {
        "exercise": exercise.slug,
        "folder": str(folder),
        "emit_cpu": emit_cpu,
        "cases": [
            {
                "id": p.case.id,
                "like": p.case.like or p.case.id,
                "sizes": dict(p.sizes),
                "capsule": str(files[p.case.id]),
            }
            for p in posed
        ],
    }
    return _read(warm.run("build", job, LIMITS, folder), posed, files)


def _read(report: Report, posed: list[Posed], files: Mapping[str, Path]) -> Outcome:
    built: dict[str, Built] = {}
    problems: dict[str, Problem] = {}
    requirements: dict[str, Problem | None] = {}
    unset: dict[str, Problem] = {}
    suspects: dict[str, Problem] = {}
    warnings: dict[str | tuple[int | None], Problem] = {}
    race: Problem | None = None
    answers = {message["case"]: message for message in report.of("built")}
    for one in posed:
        answer = answers.get(one.case.id)
        if answer is None:
            problems[one.case.id] = _unanswered(report)
            continue
        for id_, missing in answer["requirements"].items():
            if requirements.get(id_) is None:
                requirements[id_] = None if missing is None else problem(missing)
        if race is None and answer["race"] is not None:
            race = problem(answer["race"])
        if answer["unset"] is not None:
            unset[one.case.id] = problem(answer["unset"])
        if answer["suspect"] is not None:
            suspects[one.case.id] = problem(answer["suspect"])
        for warning in answer["warnings"]:
            # Of one line's warnings that differ by the sizes alone, the first says enough.
            key = (warning["line"],) if warning["of_sizes"] else warning["message"]
            if key not in warnings:
                warnings[key] = _for_sizes(one, problem(warning)) if warning["of_sizes"] else problem(warning)
        if answer["problem"] is not None:
            problems[one.case.id] = problem(answer["problem"])
        else:
            built[one.case.id] = _built(one, answer, files[one.case.id])
    return Outcome(built, problems, requirements, race, unset, suspects, tuple(warnings.values()))


def _for_sizes(posed: Posed, warning: Problem) -> Problem:
    return replace(warning, message=f"For {posed.in_words}, {warning.message[:1].lower()}{warning.message[1:]}")


def _built(posed: Posed, answer: Message, capsule: Path) -> Built:
    source, tile = answer["source"], answer["tile"]
    return Built(
        posed.case,
        posed.sizes,
        capsule,
        tuple(answer["parameters"]),
        answer["digest"],
        None if source is None else Path(source),
        answer["symbol"],
        None if tile is None else tuple(tile),
    )


def _unanswered(report: Report) -> Problem:
    """The check of a capsule is our own code, but what ends it is the capsule: a kernel too large, or made to be."""
    if report.end is End.TIMED_OUT:
        return Problem("Checking the kernel took too long. Is it made of very many statements (an unrolled loop)?")
    last = report.output.strip().splitlines()[-1:]
    return Problem(f"The kernel could not be read: the check {report.end.value}.", raw=last[0] if last else None)
