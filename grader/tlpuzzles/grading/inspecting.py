"""The parent's side of `tlpuzzles inspect`: from a learner's file to what there is to see of one of its kernels.

The learner's Python runs in the tracer's children alone; what it gave is lowered in a child of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tlpuzzles.border.children import Warm, WarmDied
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End, Report
from tlpuzzles.course.vocabulary import Case, Exercise
from tlpuzzles.device.limits import Architecture
from tlpuzzles.errors import UsageError
from tlpuzzles.grading import caches, calling, checks, proposals, submission, tracing
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.plan import UnknownCase, draw
from tlpuzzles.grading.stages import problem as read_problem
from tlpuzzles.grading.stages import store
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.seeing.model import Inspection, Seen
from tlpuzzles.verdict.model import Check, Kind

TRACE_SECONDS = 20.0
LOWER = Limits(seconds=240)
"""nvcc included, where it is."""


class Step(str, Enum):
    """What an inspection is doing, for a display of progress."""

    CALLING = "asking for your schedules"
    TRACING = "tracing the kernel"
    LOWERING = "compiling the kernel"


Progress = Callable[[Step], None]


@dataclass(frozen=True)
class Inspector:
    """Looks at one kernel of one file, for one architecture."""

    warm: Warm
    exercise: Exercise
    gpu: Architecture
    seed: int
    """Draws the sizes, as a grading of the same file does."""
    scratch: Path
    progress: Progress = lambda step: None
    nvcc: bool = True
    """Whether to have it compile the kernel to the end, where it is: registers are known then."""

    def inspect(self, file: Path, skeleton: str, only: str | None) -> Inspection:
        """Raises NoSubmission, UnknownCase or another UsageError for a wrong use of the command."""
        _known(self.exercise, only)
        handed_in = submission.read(file)
        if handed_in.problem is not None:
            return self._failed(handed_in, None, checks.build_failed(handed_in.problem, handed_in))
        if submission.is_untouched(handed_in.text, skeleton):
            return self._failed(handed_in, None, checks.not_started(submission.todos(handed_in.text)))
        try:
            return self._look(handed_in, only)
        except WarmDied as error:
            if not error.had_child:
                raise
            ended = Problem("Your file ended or stopped the process that inspects it.")
            return self._failed(handed_in, None, checks.build_failed(ended, handed_in))

    def _look(self, handed_in: Submission, only: str | None) -> Inspection:
        exercise, whole, printed = self._with_schedules(handed_in)
        if whole is not None:
            return self._failed(handed_in, None, checks.build_failed(whole, handed_in), printed)
        posed = _posed(exercise, self.seed, only)
        self.progress(Step.TRACING)
        traced = tracing.trace(
            self.warm, handed_in, exercise.factory, self.gpu.name, [posed], TRACE_SECONDS, self.scratch
        )
        printed += traced.output
        found = traced.whole or traced.problems.get(posed.case.id)
        if found is not None:
            return self._failed(handed_in, posed, checks.build_failed(found, handed_in), printed)
        self.warm.revive()
        self.progress(Step.LOWERING)
        # No process of a learner's can have looked here.
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        capsule = store(traced.capsules[posed.case.id], folder / "capsule.json")
        job = {"capsule": str(capsule), "arch": self.gpu.name, "nvcc": self.nvcc}
        report = self.warm.run("inspect", job, LOWER, folder, cache=caches.kernels())
        problem, seen = _read(report)
        if problem is None:
            return self._made(handed_in, posed, None, seen, printed)
        id_, title = f"portability-{self.gpu.name}", f"{self.gpu.gpus} ({self.gpu.name})"
        check = checks.failed(Kind.PORTABILITY, id_, title, problem, handed_in, {})
        return self._made(handed_in, posed, check, seen, printed)

    def _with_schedules(self, handed_in: Submission) -> tuple[Exercise, Problem | None, str]:
        """The exercise with a case for each schedule that the learner's function proposes, as a grading has them; the
        exercise alone where it proposes none."""
        calls = proposals.ask(self.exercise, self.seed, self.gpu)
        if not calls:
            return self.exercise, None, ""
        self.progress(Step.CALLING)
        called = calling.call(self.warm, handed_in, self.gpu.name, calls, Limits(TRACE_SECONDS), self.scratch)
        schedules = proposals.read(self.exercise, called.answers.get(proposals.NAME), self.seed)
        return proposals.with_cases(self.exercise, schedules), called.whole, called.output

    def _failed(self, handed_in: Submission, posed: Posed | None, check: Check, printed: str = "") -> Inspection:
        return self._made(handed_in, posed, check, None, printed)

    def _made(
        self, handed_in: Submission, posed: Posed | None, check: Check | None, seen: Seen | None, printed: str
    ) -> Inspection:
        arguments = {} if posed is None else {name: repr(value) for name, value in posed.arguments.items()}
        return Inspection(
            exercise=self.exercise.slug,
            file=handed_in.shown,
            arch=self.gpu.name,
            gpus=self.gpu.gpus,
            case="" if posed is None else posed.case.id,
            title="" if posed is None else posed.case.title,
            arguments=arguments,
            problem=check,
            seen=seen,
            output=printed,
        )


def cases(exercise: Exercise) -> tuple[Case, ...]:
    """Those with a kernel, the timed ones first: their sizes are whole tiles, so nothing ragged clutters the source."""
    return (*(timing.case for timing in exercise.timings), *exercise.cases)


def _known(exercise: Exercise, only: str | None) -> None:
    names = [case.id for case in cases(exercise)]
    proposed = exercise.proposed.case if exercise.proposed is not None else None
    if only is None or only in names or (proposed is not None and only.startswith(f"{proposed}-")):
        return
    raise UnknownCase(f"Exercise {exercise.number} has no case {only!r} with a kernel. It has: {', '.join(names)}.")


def _posed(exercise: Exercise, seed: int, only: str | None) -> Posed:
    known = cases(exercise)
    if exercise.proposed is not None:
        # What is timed there has the schedule that won, and here is no GPU that chooses one.
        proposed = [case for case in exercise.cases if exercise.proposed.case in (case.id, case.like)]
        known = (*proposed, *(replace(case, schedule=proposed[0].schedule) for case in known if case not in proposed))
    found = known[0] if only is None else next((case for case in known if only in (case.id, case.like)), None)
    if found is None:
        raise UsageError(f"Your schedules give no case {only!r}. There are: {', '.join(case.id for case in known)}.")
    return Posed(found, draw(exercise, found, seed), found.id)


_SEEN: TypeAdapter[Seen | None] = TypeAdapter(Seen | None)


def _read(report: Report) -> tuple[Problem | None, Seen | None]:
    """What the child said, or what became of it."""
    answer: dict[str, Any] | None = next(iter(report.of("seen")), None)
    if answer is not None:
        try:
            problem = None if answer["problem"] is None else read_problem(answer["problem"])
            seen = _SEEN.validate_python(answer["seen"])
            if problem is not None or seen is not None:
                return problem, seen
        except ValidationError:
            pass
    if report.end is End.TIMED_OUT:
        return Problem(f"Compiling the kernel took longer than {report.seconds:.0f} s and was stopped."), None
    return Problem(f"TileLang's compiler ended without an answer: it {report.end.value} ({report.code})."), None
