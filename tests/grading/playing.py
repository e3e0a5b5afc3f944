"""A GPU that is played: its kernels are the exercise's own library function, its times are told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tlpuzzles.border.children import Warm
from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.devices import Tell
from tlpuzzles.grading.stages import Built, Launch, Ran
from tlpuzzles.verdict.measured import NotTimed
from tlpuzzles.verdict.model import Device

LIMITS: Message = {"kind": "limits", "copy_gbps": 4000.0, "matrix_tflops": 700.0, "peak_gbps": 4800.0}


def report(*messages: Message, end: End = End.FINISHED, output: str = "", code: int | None = None) -> Report:
    return Report(end, list(messages), output, 0, code)


def begun(case: str) -> Message:
    """Its kernel is launched."""
    return {"kind": "launching", "case": case}


def timed(case: str, ratio: float, baseline: str = "cublas", *, milliseconds: float = 1.0) -> Message:
    """A quiet measurement. `milliseconds`: of the kernel."""
    theirs = ratio * milliseconds
    return {
        "kind": "timed",
        "case": case,
        "measurement": {
            "case": case,
            "baseline": baseline,
            "milliseconds": {"kernel": milliseconds, "baseline": theirs, "again": theirs},
            "ratio": {"value": ratio, "low": 0.999 * ratio, "high": 1.001 * ratio},
            "again": {"value": 1.0, "low": 0.999, "high": 1.001},
            "beside": {},
            "blocks": 20,
            "rounds": 4,
            "stopped": "narrow enough",
        },
        "gpu": {"sm_clock_mhz": [1755, 1980]},
        "compiled": {"registers": 168},
        "grid": [32, 32],
        "multiprocessors": 132,
    }


def not_timed(case: str, why: str, reason: NotTimed = NotTimed.WRONG) -> Message:
    return {"kind": "not timed", "case": case, "why": why, "reason": reason.value}


class Runs(Protocol):
    """A warm process, played or not."""

    def run(self, role: str, job: Mapping[str, Any], *rest: Any, **options: Any) -> Report: ...


@dataclass
class PlayedWarm:
    """A warm process whose children that time kernels say what they are told to; others are as they are."""

    answers: list[Callable[[Mapping[str, Any]], Report]] = field(default_factory=list)
    """What each child says to its job, one after the other; the last goes on answering."""
    warm: Runs | None = None
    jobs: list[Mapping[str, Any]] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)

    def run(self, role: str, job: Mapping[str, Any], *rest: Any, **options: Any) -> Report:
        self.roles.append(role)
        if role == "time":
            assert options["sees_gpu"]
            self.jobs.append(job)
            return (self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])(job)
        assert self.warm is not None
        return self.warm.run(role, job, *rest, **options)

    def revive(self) -> None:
        """It is the session's, and lives."""


@dataclass
class PlayedGpu:
    """An H200 on which the library runs in place of every kernel."""

    wrong: Callable[[str], bool] = lambda case: False
    """Whether the kernel of a case gives twice what it should."""
    id: str = "GPU-1 driver-1"
    alone_now: bool = False
    compiled: list[str] = field(default_factory=list)
    """Cases whose kernels were compiled only to be timed."""

    is_cuda = True
    arch = "sm_90a"
    shown = Device(kind="cuda", name="NVIDIA H200", arch="sm_90a")

    def prepare(self) -> None:
        """Nothing."""

    @contextmanager
    def alone(self, tell: Tell) -> Iterator[None]:
        assert not self.alone_now
        self.alone_now = True
        try:
            yield
        finally:
            self.alone_now = False

    def run(
        self,
        exercise: Exercise,
        launches: Sequence[Launch],
        folder: Path,
        warm: Warm,
        tell: Tell,
        *,
        timed: Sequence[Built] = (),
    ) -> dict[str, Ran]:
        from tlpuzzles.device.cuda import memory

        self.compiled += [built.case.id for built in timed]
        ran = {}
        for launch in launches:
            sizes, dtype = launch.kernel.sizes, memory.dtype_of(launch.case.dtype)
            inputs = {
                spec.name: memory.read(str(launch.inputs[spec.name]), dtype, spec.sizes(sizes))
                for spec in exercise.inputs
            }
            assert exercise.library is not None
            found = exercise.library(inputs, sizes, launch.case.flags)
            file = folder / f"{launch.case.id}.out"
            memory.write((2 * found if self.wrong(launch.case.id) else found).contiguous(), str(file))
            ran[launch.case.id] = Ran((file,))
        return ran
