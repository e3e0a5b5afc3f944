"""Running a compiled kernel on a CPU in a process of its own, from the parent's side."""

from __future__ import annotations

import json
import os
import signal as signals
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO, TypeAlias

from tlpuzzles.device.cpu.processes import Command, Ended, cores, run_each

RUNNER = Path(__file__).parent / "runner.py"
MAX_OUTPUT = 64 * 1024
"""Bytes of the kernel's output that are kept."""


class Outcome(Enum):
    """How a run ended."""

    FINISHED = "finished"
    INDEX_VIOLATION = "index_violation"
    """A tile was indexed out of range."""
    ASSERTION = "assertion"
    """A T.device_assert or assert did not hold."""
    CRASHED = "crashed"
    """The process ended without a report."""
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"


@dataclass(frozen=True)
class Tensor:
    """A parameter that is a tensor, as a file of its elements in row-major order, which the kernel reads and writes.

    Of a strided tensor (T.StridedTensor) the file holds the elements in between as well; the shape is the tensor's."""

    path: Path
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Number:
    """A parameter that is a number."""

    value: int | float


Argument: TypeAlias = Tensor | Number


@dataclass(frozen=True)
class Job:
    """One run of one kernel."""

    library: Path
    """What `build.compile` gave."""
    symbol: str
    """What `emit` was given."""
    arguments: Sequence[Argument]
    """In the order of the kernel's parameters."""
    backwards: bool = False
    """The second kind of run: blocks, parallel loops and threads backwards, tiles starting as large numbers."""
    seconds: float = 60.0
    """Time limit."""
    memory: int = 4 << 30
    """Bytes of address space."""


@dataclass(frozen=True)
class IndexViolation:
    """A tile was indexed out of range."""

    buffer: str
    dimension: int
    index: int
    extent: int
    """Of the tile in that dimension: indices from 0 to extent - 1 are in range."""
    line: int | None
    """In the learner's file."""


@dataclass(frozen=True)
class CpuRun:
    """What became of a job."""

    outcome: Outcome
    seconds: float
    output: str = ""
    """What the kernel printed, cut to 64 KiB; what the process said of itself where it crashed."""
    violation: IndexViolation | None = None
    message: str = ""
    """Of the assertion that failed."""
    line: int | None = None
    """In the learner's file: of the assertion or the index."""
    signal: int | None = None
    """That ended the process, if one did."""


def run(job: Job) -> CpuRun:
    """Runs the job in a new process, which has ended when this returns or raises (KeyboardInterrupt included).

    Raises OSError if files cannot be written or no process be started, ValueError if a tensor does not have the shape
    that the kernel was traced for.
    """
    return run_all([job])[0]


def run_all(jobs: Sequence[Job], on_end: Callable[[int], None] = lambda number: None) -> list[CpuRun]:
    """As `run`, for several: as many side by side as there are cores. `on_end`: called with the number of each that has
    ended."""
    with ExitStack() as stack:
        commands, files = [], []
        for job in jobs:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tlpuzzles-run-")))
            order, report = work / "job.json", work / "report.json"
            order.write_text(json.dumps(job_document(job, report)))
            output = stack.enter_context(tempfile.TemporaryFile())
            words: list[str | Path] = [sys.executable, "-I", "-S", RUNNER, order]
            commands.append(Command(words, job.seconds, output, output, {"PATH": os.defpath}))
            files.append((report, output))
        every = run_each(commands, cores(), on_end)
        return [_became(ended, report, output) for ended, (report, output) in zip(every, files, strict=True)]


def _became(ended: Ended, report: Path, output: IO[bytes]) -> CpuRun:
    output.seek(0)
    printed = output.read(MAX_OUTPUT).decode(errors="replace")
    if ended.timed_out or ended.returncode == -signals.SIGXCPU:
        return CpuRun(Outcome.TIMED_OUT, ended.seconds, printed)
    if ended.returncode != 0 or not report.is_file():
        signal = -ended.returncode if ended.returncode < 0 else None
        return CpuRun(Outcome.CRASHED, ended.seconds, printed, signal=signal)
    return _read(json.loads(report.read_text()), ended.seconds, printed)


def job_document(job: Job, report: Path) -> dict[str, object]:
    """What runner.py reads."""
    return {
        "library": str(job.library),
        "symbol": job.symbol,
        "arguments": [_argument(argument) for argument in job.arguments],
        "reversed": job.backwards,
        "report": str(report),
        "cpu_seconds": job.seconds,
        "memory_bytes": job.memory,
    }


def _argument(argument: Argument) -> dict[str, object]:
    if isinstance(argument, Tensor):
        return {"path": str(argument.path), "shape": list(argument.shape), "dtype": argument.dtype}
    return {"value": argument.value}


def _read(report: dict[str, object], seconds: float, output: str) -> CpuRun:
    if report["outcome"] == "wrong_arguments":
        raise ValueError(str(report["message"]))
    outcome = Outcome(report["outcome"])
    number = report.get("line")
    line = number if isinstance(number, int) else None
    violation = None
    if outcome is Outcome.INDEX_VIOLATION:
        dimension, index, extent = (int(str(report[key])) for key in ("dimension", "index", "extent"))
        violation = IndexViolation(str(report["buffer"]), dimension, index, extent, line)
    return CpuRun(outcome, seconds, output, violation, str(report.get("message", "")), line)
