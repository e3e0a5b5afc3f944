"""Which GPUs a kernel compiles for, asked while the rest of the grading goes on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tlpuzzles.border.children import End, Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.limits import ARCHITECTURES, Architecture
from tlpuzzles.grading import checks, stages, tracing
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.plan import Plan
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.verdict.model import Check, Kind

LOWER = Limits(seconds=60)
COMPILE = Limits(seconds=240)


@dataclass
class Compilers:
    """Lowers one problem of each variant for every architecture, in children of low priority."""

    warm: Warm
    exercise: Exercise
    submission: Submission
    how: Portability
    trace_seconds: float
    folder: Path
    _pool: ThreadPoolExecutor = field(init=False)
    _answers: dict[str, list[tuple[str, Future[Problem | None]]]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=max(1, min(4, os.cpu_count() or 1)))

    def start(self, plan: Plan, traced: tracing.Traced, built: Mapping[str, stages.Built]) -> None:
        """Starts lowering. `traced`: for the device at hand; its kernels serve every GPU unless they follow it."""
        if self.how is Portability.OFF:
            return
        posed = _representatives(problem for problem in plan.problems if problem.case.id in built)
        for architecture in ARCHITECTURES:
            if traced.follows_arch:
                again = self._pool.submit(self._trace, architecture, posed)
                answers = [
                    (p.case.variant, self._pool.submit(self._traced_again, again, architecture, p)) for p in posed
                ]
            else:
                answers = [
                    (p.case.variant, self._pool.submit(self._lower, architecture, built[p.case.id].capsule))
                    for p in posed
                ]
            self._answers[architecture.name] = answers

    def checks(self, here: str | None, class_arch: str | None) -> list[Check]:
        """A check for each architecture. Graded is the GPU at hand, `here`, else `class_arch`, else that any works."""
        if not self._answers:
            return []
        problems = {name: self._first_problem(answers) for name, answers in self._answers.items()}
        must = here or class_arch
        any_works = any(problem is None for problem in problems.values())
        return [
            self._check(
                architecture, problems[architecture.name], graded=architecture.name == must if must else not any_works
            )
            for architecture in ARCHITECTURES
        ]

    def __enter__(self) -> Compilers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _check(self, architecture: Architecture, problem: Problem | None, *, graded: bool) -> Check:
        id_, title = f"portability-{architecture.name}", f"{architecture.gpus} ({architecture.name})"
        if problem is None:
            check = checks.passed(Kind.PORTABILITY, id_, title)
        else:
            check = checks.failed(Kind.PORTABILITY, id_, title, problem, self.submission, {})
        return check.model_copy(update={"graded": graded})

    def _first_problem(self, answers: list[tuple[str, Future[Problem | None]]]) -> Problem | None:
        for _variant, answer in answers:
            problem = answer.result()
            if problem is not None:
                return problem
        return None

    def _trace(self, architecture: Architecture, posed: list[Posed]) -> tracing.Traced:
        text = self.folder / "submission.py"
        return tracing.trace(
            self.warm, self.submission, text, self.exercise.factory, architecture.name, posed, self.trace_seconds
        )

    def _traced_again(self, again: Future[tracing.Traced], architecture: Architecture, posed: Posed) -> Problem | None:
        traced = again.result()
        problem = traced.whole or traced.problems.get(posed.case.id)
        if problem is not None:
            return problem
        file = self.folder / f"{posed.case.id}-{architecture.name}.json"
        return self._lower(architecture, stages.store(traced.capsules[posed.case.id], file))

    def _lower(self, architecture: Architecture, capsule: Path) -> Problem | None:
        full = self.how is Portability.FULL
        job = {"capsule": str(capsule), "arch": architecture.name, "nvcc": full, "folder": str(self.folder)}
        report = self.warm.run("lower", job, COMPILE if full else LOWER)
        answers = report.of("lowered")
        if report.end is End.FINISHED and answers:
            said = answers[-1]["problem"]
            return None if said is None else stages.problem(said)
        if report.end is End.TIMED_OUT:
            return Problem(f"Compiling the kernel took longer than {report.seconds:.0f} s and was stopped.")
        return Problem(f"TileLang's compiler ended without an answer: it {report.end.value} ({report.code}).")


def _representatives(posed: Iterable[Posed]) -> list[Posed]:
    """The first problem of each variant: exercises name a ragged one first."""
    first: dict[str, Posed] = {}
    for problem in posed:
        first.setdefault(problem.case.variant, problem)
    return list(first.values())
