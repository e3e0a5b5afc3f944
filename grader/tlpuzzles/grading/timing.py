"""The parent's side of timing kernels: what the child measured becomes verdicts here."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits as ChildLimits
from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.course.timings import Timing
from tlpuzzles.course.vocabulary import Case, Exercise
from tlpuzzles.grading import caches, checks
from tlpuzzles.grading.devices import GradingDevice, Tell
from tlpuzzles.grading.plan import Plan
from tlpuzzles.grading.stages import Built
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.verdict.advice import advise
from tlpuzzles.verdict.measured import Compiled, Gpu, Limits, Measurement, NotTimed
from tlpuzzles.verdict.model import Check, Kind, Speed, Verdict
from tlpuzzles.verdict.speed import judge
from tlpuzzles.verdict.thresholds import Threshold, Thresholds

CHILD = ChildLimits(seconds=400, silence=90, memory=None)

_CUDA_ERROR = re.compile(r"CUDA[ _]?(\w+ )?error", re.IGNORECASE)
"""In the traceback of a process whose kernel has broken the rules of the GPU."""
_MACHINE = re.compile("fallen off the bus|ECC|uncorrectable", re.IGNORECASE)
"""In that of one whose GPU has failed."""

WRONG = "a kernel is timed when its results are right"
NO_GPU = "needs a GPU"
NOT_ASKED = "not asked (--no-speed)"
NO_WINNER = "there is no winner to be timed"


@dataclass
class Timed:
    """What came of it."""

    checks: list[Check] = field(default_factory=list)
    speeds: list[Speed] = field(default_factory=list)


@dataclass(frozen=True)
class Timer:
    """Times the kernels of one grading."""

    warm: Warm
    exercise: Exercise
    plan: Plan
    submission: Submission
    device: GradingDevice
    thresholds: Thresholds
    folder: Path
    tell: Tell

    def time(self, built: Mapping[str, Built], problems: Mapping[str, Problem]) -> Timed:
        """Times those that were built. `problems`: why others were not, by case."""
        timed = Timed()
        waiting = []
        for posed in self.plan.timed:
            if posed.kernel in built:
                waiting.append(built[posed.kernel])
            else:
                timed.checks.append(self._failed(posed.case, problems[posed.case.id]))
        with self.device.alone(self.tell):
            self._measure(waiting, timed)
        order = [one.case.id for one in self.exercise.timings]
        timed.checks.sort(key=lambda check: order.index(check.id))
        return timed

    def _measure(self, waiting: list[Built], timed: Timed) -> None:
        """After each death the rest go on in a new process."""
        limits = self._known_limits()
        titles = {built.case.id: built.case.title for built in waiting}
        while waiting:
            report = self.warm.run(
                "time",
                self._job(waiting, measures_limits=limits is None),
                CHILD,
                self.folder,
                sees_gpu=True,
                cache=caches.kernels(),
                on_message=lambda message: self.tell(titles.get(message.get("case", ""), "")),
            )
            limits = self._told_limits(report) or limits
            waiting = self._read(report, waiting, limits, timed)
            launched = {message.get("case") for message in report.of("launching")}
            begun = next((built for built in waiting if built.case.id in launched), None)
            if report.end is End.FINISHED or begun is None:
                # No kernel was running: it is not the kernels' doing, and would come about again.
                timed.checks.extend(self._failed(built.case, _failed(report)) for built in waiting)
                return
            timed.checks.append(self._failed(begun.case, _died(report)))
            waiting.remove(begun)

    def _told_limits(self, report: Report) -> Limits | None:
        for message in report.of("limits"):
            limits = Limits.model_validate({name: value for name, value in message.items() if name != "kind"})
            caches.keep(self._question(), limits.model_dump(mode="json"))
            return limits
        return None

    def _read(self, report: Report, waiting: list[Built], limits: Limits | None, timed: Timed) -> list[Built]:
        """Takes up what was said of the cases that wait; returns those of which nothing was. The first word counts."""
        said: dict[str, Message] = {}
        for message in report.messages:
            if message.get("kind") in ("timed", "not timed"):
                said.setdefault(str(message.get("case")), message)
        for built in waiting:
            if built.case.id not in said:
                continue
            message = said[built.case.id]
            try:
                if message["kind"] == "timed":
                    self._judge(built.case, message, limits, timed)
                else:
                    timed.checks.append(self._not_timed(built.case, message))
            except Exception as error:  # noqa: BLE001 - what cannot be read is no measurement, whatever is odd about it
                why = f"The process that times kernels said what cannot be: {error}"
                timed.checks.append(self._failed(built.case, Problem(why, ours=True)))
        return [built for built in waiting if built.case.id not in said]

    def _job(self, waiting: Sequence[Built], *, measures_limits: bool) -> dict[str, Any]:
        return {
            "exercise": self.exercise.slug,
            "arch": self.device.arch,
            "seed": self.plan.seed,
            "limits": measures_limits,
            "edges": {built.case.id: self._edges(built.case) for built in waiting},
            "cases": [
                {
                    "id": built.case.id,
                    "sizes": dict(built.sizes),
                    "capsule": str(built.capsule),
                    "parameters": list(built.parameters),
                }
                for built in waiting
            ],
        }

    def _edges(self, case: Case) -> dict[str, tuple[float, float]]:
        """The thresholds beside each baseline that the GPU may turn out to have."""
        found = {baseline.id: self._threshold(case, baseline.id) for baseline in self._timing(case.id).against}
        return {id_: (one.pass_at, one.full_at) for id_, one in found.items() if one is not None}

    def _timing(self, case: str) -> Timing:
        return next(timing for timing in self.exercise.timings if timing.case.id == case)

    def _threshold(self, case: Case, baseline: str) -> Threshold | None:
        return self.thresholds.find(
            self.exercise.slug, case.id, baseline, arch=self.device.arch, gpu_name=self.device.shown.name
        )

    def _judge(self, case: Case, message: Message, limits: Limits | None, timed: Timed) -> None:
        measurement = Measurement.model_validate(message["measurement"])
        compiled, gpu = Compiled.model_validate(message["compiled"]), Gpu.model_validate(message["gpu"])
        if measurement.case != case.id:
            raise ValueError(f"a measurement of {measurement.case}, asked for {case.id}")
        check, speed = judge(
            measurement,
            exercise=self.exercise,
            timing=self._timing(case.id),
            sizes=next(posed.sizes for posed in self.plan.timed if posed.case.id == case.id),
            threshold=self._threshold(case, measurement.baseline),
            gpu=gpu,
            limits=limits,
            compiled=compiled,
        )
        if speed.roofline is not None:
            advice = advise(
                compiled,
                bound=speed.roofline.bound,
                limit_fraction=speed.limit_fraction,
                arch=self.device.arch,
                grid=message["grid"],
                multiprocessors=message["multiprocessors"],
            )
            speed = speed.model_copy(update={"advice": advice})
        timed.checks.append(check)
        timed.speeds.append(speed)

    def _not_timed(self, case: Case, message: Message) -> Check:
        why = str(message["why"])
        reason = NotTimed(message["reason"])
        if reason is NotTimed.WRONG:
            return self._failed(case, Problem(why))
        if reason is NotTimed.UNAVAILABLE:
            return checks.skipped(Kind.SPEED, case.id, case.title, why)
        found = (self._threshold(case, baseline.id) for baseline in self._timing(case.id).against)
        return Check(
            id=case.id,
            title=case.title,
            kind=Kind.SPEED,
            verdict=Verdict.INCONCLUSIVE,
            message=f"Not timed: {why}. Close what else uses the GPU (nvidia-smi lists it), and grade again.",
            graded=any(threshold.grades for threshold in found if threshold is not None),
        )

    def _failed(self, case: Case, problem: Problem) -> Check:
        return checks.failed(Kind.SPEED, case.id, case.title, problem, self.submission, {"case": case.id})

    def _known_limits(self) -> Limits | None:
        try:
            return Limits.model_validate(caches.recall(self._question()))
        except ValidationError:
            return None

    def _question(self) -> dict[str, object]:
        return {"limits": self.device.shown.name, "id": self.device.id}


def is_right(made: Sequence[Check]) -> bool:
    """Whether nothing that looks at the kernel or its results has failed or stayed open."""
    about = {Kind.BUILD, Kind.REQUIREMENT, Kind.CORRECTNESS, Kind.ORDER, Kind.OUTPUT, Kind.PORTABILITY}
    return all(
        check.verdict in (Verdict.PASSED, Verdict.SKIPPED) for check in made if check.kind in about and check.graded
    )


def _died(report: Report) -> Problem:
    """Why a process ended in which a kernel was being timed."""
    if report.end is End.TIMED_OUT:
        return Problem("At the size that is timed, the kernel hangs: it gave no answer and was stopped.")
    if report.end is End.EXITED and (_MACHINE.search(report.output) or not _CUDA_ERROR.search(report.output)):
        return _failed(report)
    if report.code == -signal.SIGKILL:
        return _failed(report)  # not by us: the system does that where memory is short
    how = f"signal {-report.code}" if report.code is not None and report.code < 0 else f"exit status {report.code}"
    return Problem(
        f"At the size that is timed, the kernel ended the process that ran it ({how}).",
        raw=report.output[-2000:] or None,
    )


def _failed(report: Report) -> Problem:
    """The process failed by itself: a fault of ours, or of the machine."""
    if report.end is End.FINISHED:
        return Problem("The process that times kernels said nothing of this case. Run `tlpuzzles doctor`.", ours=True)
    last = next(iter(report.output.strip().splitlines()[-1:]), "it left no message")
    return Problem(
        f"The process that times kernels {report.end.value}: {last}. Run `tlpuzzles doctor`.",
        raw=report.output[-2000:] or None,
        ours=True,
    )
