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
from tlpuzzles.device.cuda.twins import TWINS
from tlpuzzles.device.limits import ARCHITECTURES, Architecture
from tlpuzzles.grading import checks, stages, tracing
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.plan import Plan
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.verdict.model import Check, Kind

Answers = dict[str, Problem | None]
"""By architecture: why the kernel does not compile for it, None if it does. One lowering may answer for two."""

_NAMES = [architecture.name for architecture in ARCHITECTURES]

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
    _answers: dict[str, list[Future[Answers]]] = field(default_factory=dict, init=False)
    """By architecture, one for each variant."""

    def __post_init__(self) -> None:
        # No more than there are cores: two that share one take longer than one after the other.
        self._pool = ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1))

    def start(self, plan: Plan, traced: tracing.Traced, built: Mapping[str, stages.Built]) -> None:
        """Starts lowering. `traced`: for the device at hand; its kernels serve every GPU unless they follow it."""
        if self.how is Portability.OFF:
            return
        posed = _representatives(problem for problem in plan.problems if problem.case.id in built)
        if traced.follows_arch:
            again = {name: self._pool.submit(self._trace, name, posed) for name in _NAMES}
        # The later variants have more to them: what takes longest starts first, so that no core waits at the end.
        for case in (p.case.id for p in reversed(posed)):
            if traced.follows_arch:
                capsules = {name: self._pool.submit(self._traced_again, again[name], name, case) for name in _NAMES}
            else:
                capsules = dict.fromkeys(_NAMES, _done(built[case].capsule))
            answers: dict[str, Future[Answers]] = {}
            # A twin waits for the architecture whose answer may be its own, so that one is asked first.
            for name in sorted(_NAMES, key=lambda name: name in TWINS.values()):
                answers[name] = self._pool.submit(self._answer, name, capsules, dict(answers))
                self._answers.setdefault(name, []).append(answers[name])

    def checks(self, here: str | None, class_arch: str | None) -> list[Check]:
        """A check for each architecture. Graded is the GPU at hand, `here`, else `class_arch`, else that any works."""
        if not self._answers:
            return []
        problems = {name: self._first_problem(name) for name in _NAMES}
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

    def _first_problem(self, name: str) -> Problem | None:
        problems = (answer.result()[name] for answer in self._answers[name])
        return next((problem for problem in problems if problem is not None), None)

    def _trace(self, arch: str, posed: list[Posed]) -> tracing.Traced:
        text = self.folder / "submission.py"
        return tracing.trace(self.warm, self.submission, text, self.exercise.factory, arch, posed, self.trace_seconds)

    def _traced_again(self, again: Future[tracing.Traced], arch: str, case: str) -> Path | Problem:
        traced = again.result()
        problem = traced.whole or traced.problems.get(case)
        return problem or stages.store(traced.capsules[case], self.folder / f"{case}-{arch}.json")

    def _answer(
        self, arch: str, capsules: Mapping[str, Future[Path | Problem]], others: Mapping[str, Future[Answers]]
    ) -> Answers:
        capsule = capsules[arch].result()
        if isinstance(capsule, Problem):
            return {arch: capsule}
        for other, twin in TWINS.items():
            theirs = capsules[other].result() if twin == arch else None
            if isinstance(theirs, Path) and theirs.read_bytes() == capsule.read_bytes():
                answers = others[other].result()
                if arch in answers:
                    return answers
        return self._lower(arch, capsule)

    def _lower(self, arch: str, capsule: Path) -> Answers:
        full = self.how is Portability.FULL
        job = {"capsule": str(capsule), "arch": arch, "nvcc": full}
        report = self.warm.run("lower", job, COMPILE if full else LOWER)
        said = {message["arch"]: message["problem"] for message in report.of("lowered")}
        if report.end is End.FINISHED and arch in said:
            return {name: None if problem is None else stages.problem(problem) for name, problem in said.items()}
        if report.end is End.TIMED_OUT:
            return {arch: Problem(f"Compiling the kernel took longer than {report.seconds:.0f} s and was stopped.")}
        return {arch: Problem(f"TileLang's compiler ended without an answer: it {report.end.value} ({report.code}).")}


def _done(value: Path) -> Future[Path | Problem]:
    future: Future[Path | Problem] = Future()
    future.set_result(value)
    return future


def _representatives(posed: Iterable[Posed]) -> list[Posed]:
    """The first problem of each variant: exercises name a ragged one first."""
    first: dict[str, Posed] = {}
    for problem in posed:
        first.setdefault(problem.case.variant, problem)
    return list(first.values())
