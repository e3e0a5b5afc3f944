"""What a grading asks of a learner's functions before it looks at a kernel: function checks, schedules, measurements.

All of it runs the learner's Python, so it comes before inputs are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.course.schedules import TUNING_CHECKS, Proposed, Schedule
from tlpuzzles.course.vocabulary import Exercise, Profiling
from tlpuzzles.grading import calling, checks, functions, profiling, proposals, tuning
from tlpuzzles.grading.devices import GradingDevice
from tlpuzzles.grading.options import Options, Progress, Step
from tlpuzzles.grading.plan import SPEED, Plan, plan
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.verdict.model import Check, Kind


@dataclass
class Asking:
    """Asks in two steps, `call` and `use_gpu`; between them `checks` and `whole` may say that there is no need to go
    on. Raises WarmDied where a learner's process took the warm one with it."""

    warm: Warm
    exercise: Exercise
    submission: Submission
    device: GradingDevice
    options: Options
    scratch: Path
    progress: Progress
    checks: list[Check] = field(default_factory=list, init=False)
    whole: Problem | None = field(default=None, init=False)
    """What kept the file from being loaded."""
    output: str = field(default="", init=False)
    _called: calling.Called = field(default_factory=calling.Called, init=False)
    _winner: Schedule | None = field(default=None, init=False)

    def call(self) -> None:
        """Calls plain functions, without a GPU."""
        seed = self.options.seed
        posed = functions.questions(self.exercise, seed, on_cuda=self.device.is_cuda, only=self.options.only)
        goal = proposals.target(self.device.arch, self.options.class_arch)
        calls = {**posed.calls, **(proposals.ask(self.exercise, seed, goal) if self._wants_schedules() else {})}
        if calls:
            self.progress(Step.CALLING, "")
            limits = Limits(self.options.trace_seconds)
            self._called = calling.call(self.warm, self.submission, self.device.arch, calls, limits, self.scratch)
        self.output += self._called.output
        self.whole = self._called.whole
        if self.whole is None:
            self.checks.extend(functions.judged(self.exercise, posed, self._called, self.submission))

    def use_gpu(self) -> None:
        """Makes the checks in which learner's Python sees the GPU, or gets times that were measured on it."""
        if self.exercise.proposed is not None:
            self._tune(self.exercise.proposed)
        if self.exercise.profiling is not None:
            self._profile(self.exercise.profiling)

    def taken_up(self, before: Plan) -> tuple[Exercise, Plan]:
        """The exercise and the plan with a case for each proposed schedule that is graded."""
        if self.exercise.proposed is None or not (self._wants_schedules() or self._winner is not None):
            return self.exercise, before
        answer = self._called.answers.get(proposals.NAME)
        schedules = proposals.read(self.exercise, answer, self.options.seed, winner=self._winner)
        reason = "your function proposes no schedule that could be graded"
        if schedules and self.exercise.proposed.too_few(answer):
            schedules, reason = [], "your function proposes too few schedules for this problem"
        exercise = proposals.with_cases(self.exercise, schedules)
        return exercise, plan(
            exercise,
            self.options.seed,
            on_cuda=self.device.is_cuda,
            speed=self.options.speed,
            only=self.options.only,
            withheld={} if schedules else {self.exercise.proposed.case: reason},
            winner=self._winner,
        )

    def _wants_schedules(self) -> bool:
        proposed, only = self.exercise.proposed, self.options.only
        return proposed is not None and (only is None or only.startswith(proposed.case))

    def _tune(self, proposed: Proposed) -> None:
        reason = self._left_out(
            *TUNING_CHECKS[proposed.chosen_by], SPEED, *(timing.case.id for timing in self.exercise.timings)
        )
        if reason is not None:
            self.checks.extend(tuning.skipped(proposed, reason))
            return
        self.progress(Step.TUNING, "")
        goal = proposals.target(self.device.arch, None)
        with self.device.alone(lambda text: self.progress(Step.TUNING, text)):
            tuned = tuning.Tuning(
                self.warm,
                self.exercise,
                proposed,
                self.submission,
                goal,
                self.options.seed,
                self.scratch,
                gpu=self.device.shown.name,
            ).run(self.options.trace_seconds)
        self.checks.extend(tuned.checks)
        self.output += tuned.output
        self._winner = tuned.winner

    def _profile(self, asked: Profiling) -> None:
        reason = self._left_out(asked.id)
        if reason is not None:
            self.checks.append(checks.skipped(Kind.FUNCTION, asked.id, asked.title, reason))
            return
        self.progress(Step.TUNING, asked.title)
        with self.device.alone(lambda text: self.progress(Step.TUNING, text)):
            check, output = profiling.check(
                self.warm,
                self.exercise,
                asked,
                self.submission,
                self.device.arch,
                self.device.shown.name,
                self.options.seed,
                self.scratch,
            )
        self.checks.append(check)
        self.output += output

    def _left_out(self, *ids: str) -> str | None:
        only = self.options.only
        if only is not None and only not in ids:
            return f"only {only} was asked for"
        return None if self.device.is_cuda else "needs a GPU"
