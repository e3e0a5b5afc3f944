"""One grading, from the learner's file to a result. The only place that decides.

Stages: read the file, draw the problems, trace, build (capsule check and vet), run on a device, judge, and ask which
GPUs the kernel compiles for. What a stage cannot do becomes a check that says why; the rest goes on.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tlpuzzles.border.children import Warm, WarmDied
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.limits import ARCHITECTURES, Architecture
from tlpuzzles.errors import UsageError
from tlpuzzles.grading import building, checks, judging, proposals, submission, timing, tracing, ungraded
from tlpuzzles.grading.asking import Asking
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.devices import GradingDevice
from tlpuzzles.grading.environment import environment
from tlpuzzles.grading.memory import Memory
from tlpuzzles.grading.options import Options, Progress, Step
from tlpuzzles.grading.plan import SPEED, Plan, plan
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.portability import Compilers, representatives
from tlpuzzles.grading.stages import Launch, store
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.grading.weighing import ByArch
from tlpuzzles.verdict.model import Check, ExerciseName, Kind, Result, Speed, Verdict
from tlpuzzles.verdict.points import nothing, points, verdict

_NAMES_ARCH = re.compile("arch|capability")
"""In the text of a file whose kernels follow the GPU, most likely."""


@dataclass
class Grader:
    """Grades files on one device. Holds the warm process, so that a second grading does not wait for imports."""

    warm: Warm
    scratch: Path
    device: GradingDevice
    progress: Progress = lambda step, text: None
    memory: Memory | None = None
    """For who grades the same file over and over."""
    handed_in: Submission | None = None
    """The file as it was read for the last grading, whatever has been saved since."""

    def grade(
        self, exercise: Exercise, file: Path, skeleton: str, options: Options, content: bytes | None = None
    ) -> Result:
        """Grades one file. Raises NoSubmission or UnknownCase for a wrong use of the command, nothing else.

        `content`: what it held when somebody asked for this, where that was a while ago; None: what it holds now.
        """
        self.warm.revive()
        self.handed_in = handed_in = submission.read(file) if content is None else submission.of(file, content)
        posed = plan(exercise, options.seed, on_cuda=self.device.is_cuda, speed=options.speed, only=options.only)
        with tempfile.TemporaryDirectory(dir=self.scratch, prefix="grading-", ignore_cleanup_errors=True) as folder:
            return _Grading(self, exercise, handed_in, skeleton, posed, options, Path(folder)).result()


@dataclass(frozen=True)
class Traced:
    """What the learner's file gave."""

    own: tracing.Traced
    """For the device at hand."""
    others: Mapping[str, tracing.Traced]
    """By architecture; empty if the kernel is the same for all."""


@dataclass
class _Blamed:
    problem: Problem | None = None


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
    speeds: list[Speed] = field(default_factory=list)
    output: str = ""
    not_started: bool = False
    _begin: float = field(default_factory=time.monotonic)

    def result(self) -> Result:
        try:
            self._run()
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever fails in the grader is never the learner's doing
            raw = None if isinstance(error, (WarmDied, judging.JudgeFailed, OSError)) else traceback.format_exc()
            told = f"The grader itself failed: {error or type(error).__name__}. Run `tlpuzzles doctor`."
            self.checks.append(checks.build_failed(Problem(told, raw=raw, ours=True), self.submission))
        on_cuda = self.grader.device.is_cuda
        timed, speed_is_graded = bool(self.exercise.timings), on_cuda and self.options.speed
        elsewhere = ungraded.elsewhere(self.exercise, on_cuda=on_cuda)
        unreached = ungraded.unreached(self.exercise, self.options, self.checks, on_cuda=on_cuda)
        unasked = ungraded.unasked(self.exercise, self.options, self.checks) - elsewhere
        unasked |= {check.id for check in unreached} if self.options.only is not None else set()
        earned = points([*self.checks, *unreached], self.speeds, timed=timed, elsewhere=elsewhere, unasked=unasked)
        return Result(
            exercise=ExerciseName(number=self.exercise.number, slug=self.exercise.slug),
            file=self.submission.shown,
            verdict=Verdict.NOT_STARTED if self.not_started else verdict(self.checks),
            points=nothing(timed=timed, speed_is_graded=speed_is_graded) if self.not_started else earned,
            device=self.grader.device.shown,
            checks=tuple(self.checks),
            only=self.options.only,
            speed=tuple(self.speeds) or None,
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
                if not self._ask_functions() or self._stops():
                    return
                if not self.plan.kernels:
                    self._skip_kernels()
                    return
                traced = self._trace(pool)
                if traced is not None:
                    self._grade_kernels(traced, pool)
            except (KeyboardInterrupt, SystemExit):
                # Ends what the threads of this process wait for, and so the threads.
                self.grader.warm.close()
                raise

    def _ask_functions(self) -> bool:
        """Calls the learner's functions, and takes up the schedules that they propose. False if the file cannot be
        loaded."""
        asking = Asking(
            self.grader.warm,
            self.exercise,
            self.submission,
            self.grader.device,
            self.options,
            self.scratch,
            self.grader.progress,
        )
        with self._blaming_the_file() as blamed:
            asking.call()
        self.output += asking.output
        whole = blamed.problem or asking.whole
        if whole is not None:
            self.checks.append(checks.build_failed(whole, self.submission))
            return False
        self.checks.extend(asking.checks)
        if self._stops():
            return True
        with self._blaming_the_file() as blamed:
            asking.use_gpu()
        self.checks, self.output = list(asking.checks), asking.output
        if blamed.problem is not None:
            self.checks.append(checks.build_failed(blamed.problem, self.submission))
            return False
        self.exercise, self.plan = asking.taken_up(self.plan)
        return True

    def _skip_kernels(self) -> None:
        self.checks.extend(checks.case_skipped(case, reason) for case, reason in self.plan.left_out)
        self._skip_speed(self._untimed() or timing.NO_WINNER)

    def _trace(self, pool: ThreadPoolExecutor) -> Traced | None:
        """Traces for the device at hand and, if the kernel depends on it, for every architecture to compile for.

        Nothing of a learner's is run after this. So no learner's process can look at an input, which is drawn later,
        or touch a file that the grading goes on to use: `folder` comes into being when the last of them has ended.
        """
        self.grader.progress(Step.TRACING, "")
        here = self.grader.device.arch
        elsewhere = [] if self.options.portability is Portability.OFF else [n for n in self._names() if n != here]

        def trace_others() -> dict[str, Future[tracing.Traced]]:
            posed = [*representatives(self.plan), *self._others()]
            return {name: pool.submit(self._traced, name, posed) for name in elsewhere}

        # Whether the kernel depends on it is known when it has been traced; a file that does names it.
        begun = trace_others() if _NAMES_ARCH.search(self.submission.text) else {}
        own = self._traced(here, self.plan.kernels)
        if own.follows_arch and not begun:
            begun = trace_others()
        others = {name: future.result() for name, future in begun.items()}
        self.grader.warm.revive()
        self.output += _while_traced(own.output, self.submission)
        if own.whole is not None:
            self.checks.append(checks.build_failed(own.whole, self.submission))
            return None
        self.folder = Path(tempfile.mkdtemp(dir=self.scratch))
        return Traced(own, {**others, here: own} if own.follows_arch and others else {})

    def _traced(self, arch: str, posed: Sequence[Posed]) -> tracing.Traced:
        limit = self.options.trace_seconds
        traced = tracing.Traced()
        with self._blaming_the_file() as blamed:
            traced = tracing.trace(
                self.grader.warm, self.submission, self.exercise.factory, arch, posed, limit, self.scratch
            )
        return traced if blamed.problem is None else tracing.Traced(whole=blamed.problem)

    @contextmanager
    def _blaming_the_file(self) -> Iterator[_Blamed]:
        """Nothing but the learner's file runs inside: if the warm process dies, it is what the file did."""
        blamed = _Blamed()
        try:
            yield blamed
        except WarmDied as error:
            if not error.had_child:
                raise
            blamed.problem = Problem("Your file ended or stopped the process that grades it.")

    def _grade_kernels(self, traced: Traced, pool: ThreadPoolExecutor) -> None:
        self.grader.progress(Step.BUILDING, "")
        inputs = pool.submit(judging.draw, self.grader.warm, self.exercise, self.plan, self.folder)
        on_cpu = not self.grader.device.is_cuda
        outcome = building.build(
            self.grader.warm, self.exercise, self.plan, traced.own.capsules, self.folder, emit_cpu=on_cpu
        )
        of_kernel = {**traced.own.problems, **outcome.problems}
        posed = (*self.plan.problems, *self.plan.timed)
        problems = {p.case.id: of_kernel[p.kernel] for p in posed if p.kernel in of_kernel}
        self.checks.append(checks.build(self.exercise, outcome, problems, self.submission))
        self.checks.extend(checks.requirements(self.exercise, outcome.requirements, self.submission))
        if self.exercise.proposed is not None and len(outcome.built) > 1:
            digests = {case: built.digest for case, built in outcome.built.items()}
            self.checks.append(checks.follows_schedules(proposals.ignored(self.exercise, digests), self.submission))
        compilers = Compilers(
            self.grader.warm,
            self.submission,
            self.options.portability is Portability.FULL,
            self.folder,
            self._architectures(),
        )
        with compilers:
            if not self._stops() and self.options.portability is not Portability.OFF:
                variants = self._capsules(traced, outcome, representatives(self.plan))
                others = self._capsules(traced, outcome, self._others())
                compilers.start([capsules for _, capsules in variants], others)
            if not outcome.built:
                self.checks.extend(checks.not_run(self.exercise, outcome.requirements))
            elif not self._stops():
                self._run_kernels(outcome, problems, inputs.result())
            if self.options.portability is Portability.OFF:
                self.checks.extend([checks.other_gpus_not_asked(self.options.not_asked)] if outcome.built else [])
            elif not self._stops():
                self.grader.progress(Step.PORTABILITY, "")
                here = self.grader.device.arch if self.grader.device.is_cuda else None
                self.checks.extend(compilers.checks(here, self.options.class_arch))
        if outcome.built:
            self._time(outcome, problems)

    def _names(self) -> list[str]:
        return [architecture.name for architecture in self._architectures()]

    def _architectures(self) -> tuple[Architecture, ...]:
        if self.exercise.proposed is None:
            return ARCHITECTURES
        return (proposals.target(self.grader.device.arch, self.options.class_arch),)

    def _others(self) -> list[Posed]:
        """The problems that represent no variant; not of schedules that a learner proposes, whose sizes are all one."""
        if self.exercise.proposed is not None:
            return []
        chosen = {posed.kernel for posed in representatives(self.plan)}
        return [posed for posed in self.plan.kernels if posed.kernel not in chosen]

    def _capsules(
        self, traced: Traced, outcome: building.Outcome, posed: Sequence[Posed]
    ) -> list[tuple[Posed, ByArch]]:
        """What there is to lower of each problem that gave a kernel."""
        built = [one for one in posed if one.case.id in outcome.built]
        if not traced.others:
            return [(one, dict.fromkeys(self._names(), outcome.built[one.case.id].capsule)) for one in built]
        return [
            (one, {name: self._capsule(traced.others[name], name, one.case.id) for name in self._names()})
            for one in built
        ]

    def _capsule(self, traced: tracing.Traced, arch: str, case: str) -> Path | Problem:
        problem = traced.whole or traced.problems.get(case)
        return problem or store(traced.capsules[case], self.folder / f"{case}-{arch}.json")

    def _run_kernels(
        self, outcome: building.Outcome, problems: Mapping[str, Problem], inputs: Mapping[str, judging.Inputs]
    ) -> None:
        built, memory = outcome.built, self.grader.memory
        known = {} if memory is None else memory.known(self.exercise, self.plan.problems, built)
        launches = [
            Launch(p.case, built[p.kernel], inputs[p.case.id])
            for p in self.plan.problems
            if p.kernel in built and p.case.id not in known
        ]
        timed = [built[p.kernel] for p in self.plan.timed if p.kernel in built]
        ran = {}
        if launches or timed:
            ran = self.grader.device.run(
                self.exercise,
                launches,
                self.folder,
                self.grader.warm,
                lambda text: self.grader.progress(Step.RUNNING, text),
                timed=timed,
            )
        self.output += _printed({launch.case.title: ran[launch.case.id].printed for launch in launches})
        self.grader.progress(Step.JUDGING, "")
        judged = judging.judge(
            self.grader.warm,
            self.exercise,
            self.plan,
            ran,
            problems,
            outcome,
            self.submission,
            self.folder,
            self.options.dump,
            known,
        )
        if memory is not None:
            judged = memory.completed(self.exercise, self.plan.problems, built, judged)
        self.checks.extend(judged)

    def _time(self, outcome: building.Outcome, problems: Mapping[str, Problem]) -> None:
        """Last of all, when nothing else of this grading is at work."""
        reason = self._untimed() or (None if timing.is_right(self.checks) else timing.WRONG)
        if reason is not None:
            self._skip_speed(reason)
            return
        self.grader.progress(Step.TIMING, "")
        timed = timing.Timer(
            self.grader.warm,
            self.exercise,
            self.plan,
            self.submission,
            self.grader.device,
            self.options.thresholds,
            self.folder,
            lambda text: self.grader.progress(Step.TIMING, text),
        ).time(outcome.built, problems)
        self.checks.extend(timed.checks)
        self.speeds = timed.speeds

    def _untimed(self) -> str | None:
        """Why nothing is timed, whatever the results are."""
        if not self.grader.device.is_cuda:
            return timing.NO_GPU
        if not self.options.speed:
            return timing.NOT_ASKED
        return None if self.plan.timed else timing.NO_WINNER

    def _skip_speed(self, reason: str) -> None:
        """Checks of what was asked to be timed, and is not."""
        cases = (one.case for one in self.exercise.timings if self.options.only in (None, SPEED, one.case.id))
        self.checks.extend(checks.skipped(Kind.SPEED, case.id, case.title, reason) for case in cases)

    def _stops(self) -> bool:
        return self.options.stop_at_first_failure and any(
            check.verdict in (Verdict.FAILED, Verdict.ERROR) and check.kind is not Kind.PORTABILITY
            for check in self.checks
        )


def _while_traced(output: str, handed_in: Submission) -> str:
    """What Python's print gave: who wrote it into a kernel may have expected the kernel's values."""
    if not output.strip() or not submission.prints_in_kernel(handed_in.text):
        return output
    return f"[while the kernel was traced, once for each case; T.print is what prints on a GPU]\n{output}"


def _printed(by_case: Mapping[str, str]) -> str:
    """What kernels printed, with the case where several did."""
    said = {title: text for title, text in by_case.items() if text.strip()}
    if len(said) < 2:
        return "".join(said.values())
    return "".join(f"[{title}]\n{text}" for title, text in said.items())
