"""One grading, from the learner's file to a result. The only place that decides.

Stages: read the file, draw the problems, trace, build (capsule check and vet), run on a device, judge, and ask which
GPUs the kernel compiles for. What a stage cannot do becomes a check that says why; the rest goes on.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from tlpuzzles.border.children import Warm, WarmDied
from tlpuzzles.course.vocabulary import Exercise, Runs
from tlpuzzles.grading import building, checks, judging, submission, tracing
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.devices import GradingDevice
from tlpuzzles.grading.environment import environment
from tlpuzzles.grading.plan import Plan, plan
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.portability import ARCHITECTURE_NAMES, Compilers, representatives
from tlpuzzles.grading.stages import Launch, store
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.verdict.model import Check, ExerciseName, Kind, Result, Verdict
from tlpuzzles.verdict.points import NOTHING, points, verdict


class Step(str, Enum):
    """What a grading is doing, for a display of progress."""

    TRACING = "tracing the kernel"
    BUILDING = "checking the kernel"
    RUNNING = "running the kernel"
    JUDGING = "comparing with the reference"
    PORTABILITY = "compiling for other GPUs"


Progress = Callable[[Step, str], None]


@dataclass(frozen=True)
class Options:
    """How to grade."""

    seed: int
    only: str | None = None
    """Grades this case alone."""
    dump: Path | None = None
    """Folder for inputs, expected and found outputs of failing cases."""
    portability: Portability = Portability.CHECK
    class_arch: str | None = None
    """The architecture that course.toml names."""
    stop_at_first_failure: bool = False
    trace_seconds: float = 20.0


@dataclass
class Grader:
    """Grades files on one device. Holds the warm process, so that a second grading does not wait for imports."""

    warm: Warm
    scratch: Path
    device: GradingDevice
    progress: Progress = lambda step, text: None

    def grade(self, exercise: Exercise, file: Path, skeleton: str, options: Options) -> Result:
        """Grades one file. Raises NoSubmission or UnknownCase for a wrong use of the command, nothing else."""
        self.warm.revive()
        handed_in = submission.read(file)
        posed = plan(exercise, options.seed, on_cuda=self.device.is_cuda, only=options.only)
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix="grading-", ignore_cleanup_errors=True) as folder:
            return _Grading(self, exercise, handed_in, skeleton, posed, options, Path(folder)).result()


@dataclass(frozen=True)
class Traced:
    """What the learner's file gave."""

    own: tracing.Traced
    """For the device at hand."""
    others: Mapping[str, tracing.Traced]
    """By architecture, of the problems that represent the variants; empty if the kernel is the same for all."""


@dataclass
class _Grading:
    grader: Grader
    exercise: Exercise
    submission: Submission
    skeleton: str
    plan: Plan
    options: Options
    scratch: Path
    """Holds folders that learner's processes could write to, and `folder`, which none can."""
    folder: Path = field(init=False)
    checks: list[Check] = field(default_factory=list)
    output: str = ""
    not_started: bool = False
    _begin: float = field(default_factory=time.monotonic)

    def result(self) -> Result:
        try:
            self._run()
        except (WarmDied, judging.JudgeFailed, OSError) as error:
            ours = Problem(f"The grader itself failed: {error}. Run `tlpuzzles doctor`.", ours=True)
            self.checks.append(checks.build_failed(ours, self.submission))
        elsewhere = {
            case.id for case, _ in self.plan.left_out if case.runs is Runs.ON_CUDA and not self.grader.device.is_cuda
        }
        unasked = {case.id for case, _ in self.plan.left_out} - elsewhere
        return Result(
            exercise=ExerciseName(number=self.exercise.number, slug=self.exercise.slug),
            file=self.submission.shown,
            verdict=Verdict.NOT_STARTED if self.not_started else verdict(self.checks),
            points=NOTHING if self.not_started else points(self.checks, elsewhere=elsewhere, unasked=unasked),
            device=self.grader.device.shown,
            checks=tuple(self.checks),
            output=self.output,
            environment=environment(),
            seconds=round(time.monotonic() - self._begin, 2),
        )

    def _run(self) -> None:
        if self.submission.problem is not None:
            self.checks.append(checks.build_failed(self.submission.problem, self.submission))
            return
        if submission.is_untouched(self.submission.text, self.skeleton):
            self.not_started = True
            self.checks.append(checks.not_started(submission.todos(self.submission.text)))
            return
        self.grader.device.prepare()
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            try:
                traced = self._trace(pool)
                if traced is not None:
                    self._grade_kernels(traced, pool)
            except (KeyboardInterrupt, SystemExit):
                # Ends what the threads of this process wait for, and so the threads.
                self.grader.warm.close()
                raise

    def _trace(self, pool: ThreadPoolExecutor) -> Traced | None:
        """Traces for the device at hand and, if the kernel depends on it, for every other architecture.

        Nothing of a learner's is run after this. So no learner's process can look at an input, which is drawn later,
        or touch a file that the grading goes on to use: `folder` comes into being when the last of them has ended.
        """
        self.grader.progress(Step.TRACING, "")
        own = self._traced("", self.grader.device.arch, self.plan.kernels)
        self.output += own.output
        if own.whole is not None:
            self.checks.append(checks.build_failed(own.whole, self.submission))
            return None
        others: dict[str, tracing.Traced] = {}
        if own.follows_arch and self.options.portability is not Portability.OFF:
            posed = representatives(self.plan)
            waiting = {name: pool.submit(self._traced, f"-{name}", name, posed) for name in ARCHITECTURE_NAMES}
            others = {name: future.result() for name, future in waiting.items()}
            self.grader.warm.revive()
        self.folder = Path(tempfile.mkdtemp(dir=self.scratch))
        return Traced(own, others)

    def _traced(self, suffix: str, arch: str, posed: Sequence[Posed]) -> tracing.Traced:
        folder = self.scratch / f"traced{suffix}"
        limit = self.options.trace_seconds
        try:
            return tracing.trace(self.grader.warm, self.submission, self.exercise.factory, arch, posed, limit, folder)
        except WarmDied as error:
            if not error.had_child:
                raise
            # Nothing else was running: it is what the learner's file did.
            return tracing.Traced(whole=Problem("Your file ended or stopped the process that grades it."))

    def _grade_kernels(self, traced: Traced, pool: ThreadPoolExecutor) -> None:
        self.grader.progress(Step.BUILDING, "")
        inputs = pool.submit(judging.draw, self.grader.warm, self.exercise, self.plan, self.folder)
        on_cpu = not self.grader.device.is_cuda
        outcome = building.build(
            self.grader.warm, self.exercise, self.plan, traced.own.capsules, self.folder, emit_cpu=on_cpu
        )
        of_kernel = {**traced.own.problems, **outcome.problems}
        problems = {p.case.id: of_kernel[p.kernel] for p in self.plan.problems if p.kernel in of_kernel}
        self.checks.append(checks.build(self.exercise, outcome, problems, self.submission))
        self.checks.extend(checks.requirements(self.exercise, outcome.requirements, self.submission))
        compilers = Compilers(
            self.grader.warm, self.submission, self.options.portability is Portability.FULL, self.folder
        )
        with compilers:
            if not self._stops() and self.options.portability is not Portability.OFF:
                compilers.start(self._capsules(traced, outcome))
            if not outcome.built:
                self.checks.extend(
                    checks.case_skipped(case, "there is no kernel to run") for case in self.exercise.cases
                )
            elif not self._stops():
                self._run_kernels(outcome, problems, inputs.result())
            if not self._stops():
                self.grader.progress(Step.PORTABILITY, "")
                here = self.grader.device.arch if self.grader.device.is_cuda else None
                self.checks.extend(compilers.checks(here, self.options.class_arch))

    def _capsules(self, traced: Traced, outcome: building.Outcome) -> list[dict[str, Path | Problem]]:
        """For each variant, what there is to lower, by architecture."""
        built = [posed.case.id for posed in representatives(self.plan) if posed.case.id in outcome.built]
        if not traced.others:
            return [dict.fromkeys(ARCHITECTURE_NAMES, outcome.built[case].capsule) for case in built]
        return [{name: self._capsule(traced.others[name], name, case) for name in ARCHITECTURE_NAMES} for case in built]

    def _capsule(self, traced: tracing.Traced, arch: str, case: str) -> Path | Problem:
        problem = traced.whole or traced.problems.get(case)
        return problem or store(traced.capsules[case], self.folder / f"{case}-{arch}.json")

    def _run_kernels(
        self, outcome: building.Outcome, problems: Mapping[str, Problem], inputs: Mapping[str, judging.Inputs]
    ) -> None:
        built = outcome.built
        launches = [Launch(p.case, built[p.kernel], inputs[p.case.id]) for p in self.plan.problems if p.kernel in built]
        ran = self.grader.device.run(
            self.exercise,
            launches,
            self.folder,
            self.grader.warm,
            lambda text: self.grader.progress(Step.RUNNING, text),
        )
        self.output += "".join(run.printed for run in ran.values())
        self.grader.progress(Step.JUDGING, "")
        self.checks.extend(
            judging.judge(
                self.grader.warm,
                self.exercise,
                self.plan,
                ran,
                problems,
                outcome.race,
                self.submission,
                self.folder,
                self.options.dump,
            )
        )

    def _stops(self) -> bool:
        return self.options.stop_at_first_failure and any(
            check.verdict in (Verdict.FAILED, Verdict.ERROR) and check.kind is not Kind.PORTABILITY
            for check in self.checks
        )
