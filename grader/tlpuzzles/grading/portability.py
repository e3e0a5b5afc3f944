"""Which GPUs a kernel compiles for, asked while the rest of the grading goes on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Optional

from pydantic import TypeAdapter, ValidationError

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End
from tlpuzzles.device.cuda.twins import TWINS
from tlpuzzles.device.limits import ARCHITECTURES, Architecture
from tlpuzzles.grading import caches, checks
from tlpuzzles.grading.plan import Plan
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.grading.weighing import ByArch, too_large
from tlpuzzles.verdict.model import Check, Kind

Answers = dict[str, Problem | None]
"""By architecture: why the kernel does not compile for it, None if it does. One lowering may answer for two."""

LOWER = Limits(seconds=60)
COMPILE = Limits(seconds=240)


@dataclass
class Compilers:
    """Lowers one problem of each variant for every architecture, in children of low priority, and of the other problems
    those whose shared memory an architecture lacks."""

    warm: Warm
    submission: Submission
    runs_nvcc: bool
    folder: Path
    architectures: Sequence[Architecture] = ARCHITECTURES
    """Those to lower for: a schedule that was proposed for one GPU need not suit another."""
    _pool: ThreadPoolExecutor = field(init=False)
    _answers: dict[str, list[Future[Answers]]] = field(default_factory=dict, init=False)
    """By architecture, one for each variant."""
    _larger: Future[Answers] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        # No more than there are cores: two that share one take longer than one after the other.
        self._pool = ThreadPoolExecutor(max_workers=min(8, os.cpu_count() or 1))

    def start(self, variants: Sequence[ByArch], others: Sequence[tuple[Posed, ByArch]] = ()) -> None:
        """Starts lowering. `others`: the problems that are lowered only where need be."""
        if variants and others:
            self._larger = self._pool.submit(self._answer_larger, others, variants)
        # The later variants have more to them: what takes longest starts first, so that no core waits at the end.
        for capsules in reversed(variants):
            answers: dict[str, Future[Answers]] = {}
            # A twin waits for the architecture whose answer may be its own, so that one is asked first.
            for name in sorted(self._names, key=lambda name: name in TWINS.values()):
                answers[name] = self._pool.submit(self._answer, name, capsules, dict(answers))
                self._answers.setdefault(name, []).append(answers[name])

    def checks(self, here: str | None, class_arch: str | None) -> list[Check]:
        """A check for each architecture. Graded is the GPU at hand, `here`, else `class_arch`, else that any works."""
        if not self._answers:
            return []
        larger = {} if self._larger is None else self._larger.result()
        problems = {name: self._first_problem(name) or larger.get(name) for name in self._names}
        must = here or class_arch
        any_works = any(problem is None for problem in problems.values())
        return [
            self._check(
                architecture, problems[architecture.name], graded=architecture.name == must if must else not any_works
            )
            for architecture in self.architectures
        ]

    @property
    def _names(self) -> list[str]:
        return [architecture.name for architecture in self.architectures]

    def __enter__(self) -> Compilers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _check(self, architecture: Architecture, problem: Problem | None, *, graded: bool) -> Check:
        id_, title = f"portability-{architecture.name}", f"{architecture.gpus} ({architecture.name})"
        if len(self.architectures) == 1:
            title += ", for which the schedules were listed"
        if problem is None:
            check = checks.passed(Kind.PORTABILITY, id_, title)
        else:
            check = checks.failed(Kind.PORTABILITY, id_, title, problem, self.submission, {})
        return check.model_copy(update={"graded": graded})

    def _first_problem(self, name: str) -> Problem | None:
        problems = (answer.result()[name] for answer in self._answers[name])
        return next((problem for problem in problems if problem is not None), None)

    def _answer_larger(self, others: Sequence[tuple[Posed, ByArch]], asked: Sequence[ByArch]) -> Answers:
        """The compiler's word on the largest, for an architecture that seems to lack the memory for it."""
        found: Answers = {}
        kernels = [capsules for _, capsules in others]
        for arch, number in too_large(self.warm, kernels, asked, self.architectures, self.folder).items():
            capsule = kernels[number][arch]
            problem = capsule if isinstance(capsule, Problem) else self._lower(arch, capsule)[arch]
            told = f"For {others[number][0].in_words}:"
            found[arch] = problem and replace(problem, message=f"{told} {problem.message}")
        return found

    def _answer(self, arch: str, capsules: ByArch, others: Mapping[str, Future[Answers]]) -> Answers:
        capsule = capsules[arch]
        if isinstance(capsule, Problem):
            return {arch: capsule}
        for other, twin in TWINS.items():
            theirs = capsules[other] if twin == arch and other in others else None
            if isinstance(theirs, Path) and theirs.read_bytes() == capsule.read_bytes():
                answers = others[other].result()
                if arch in answers:
                    return answers
        return self._lower(arch, capsule)

    def _lower(self, arch: str, capsule: Path) -> Answers:
        """The answer that an earlier grading kept for this capsule, to the letter: it names lines. Else a child's."""
        full = self.runs_nvcc
        question = {"lowered": capsule.read_text("utf-8"), "arch": arch, "nvcc": full}
        known = _read(caches.recall(question), arch)
        if known is not None and _lasts(known):
            return known
        job = {"capsule": str(capsule), "arch": arch, "nvcc": full}
        report = self.warm.run("lower", job, COMPILE if full else LOWER, self.folder, cache=caches.kernels())
        said = {message["arch"]: message["problem"] for message in report.of("lowered")}
        answers = _read(said, arch) if report.end is End.FINISHED else None
        if answers is not None:
            if _lasts(answers):
                caches.keep(question, said)
            return answers
        if report.end is End.TIMED_OUT:
            return {arch: Problem(f"Compiling the kernel took longer than {report.seconds:.0f} s and was stopped.")}
        return {arch: Problem(f"TileLang's compiler ended without an answer: it {report.end.value} ({report.code}).")}


_ANSWERS: TypeAdapter[Answers] = TypeAdapter(dict[str, Optional[Problem]])  # noqa: UP045 - evaluated on Python 3.10


def _read(said: Any, arch: str) -> Answers | None:
    """What a child said when it was asked about `arch`, None if it is not that."""
    try:
        answers = _ANSWERS.validate_python(said)
    except ValidationError:
        return None
    says_why = all(problem is None or problem.message for problem in answers.values())
    return answers if arch in answers and says_why else None


def _lasts(answers: Answers) -> bool:
    """Whether it is still so tomorrow: what is wrong with this machine can be put right."""
    return not any(problem is not None and problem.ours for problem in answers.values())


def representatives(plan: Plan) -> list[Posed]:
    """The first problem of each variant: exercises name a ragged one first."""
    first: dict[str, Posed] = {}
    for problem in (*plan.problems, *plan.timed):
        first.setdefault(problem.case.variant, problem)
    return list(first.values())
