"""What a function check is made of: plain functions that a learner writes, called with JSON and answering with JSON.

A check names the calls; they run in a process of the learner's, and the answers come back as data. What an answer
should be stays here, with the parent. Objects that such a function must use (a kernel, a way to measure) are recorded:
the learner's process gets something that plays the recording.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from typing import Any, TypeAlias

from tlpuzzles.course.runs import Runs

Json: TypeAlias = Any
"""None, bool, int, float (NaN and infinities included), str, list, or dict with str keys."""


class Of(Enum):
    """What is asked of the named object."""

    CALL = "call"
    """Its value for the arguments."""
    TUNING_SPACE = "tuning space"
    """Whether an @tilelang.autotune stands above it, and the configurations that this would try for the arguments: a
    dict with "autotuned" (a bool), "decorated" (whether it has @tilelang.jit) and "configs"."""


@dataclass(frozen=True)
class Measure:
    """Stands for a function `measure(schedule) -> milliseconds` that plays a table."""

    times: tuple[tuple[Mapping[str, Json], float | None], ...]
    """For each schedule its milliseconds, NaN included; None: measuring it raises, now this type, now that. A schedule
    that is not in the table raises KeyError."""

    def to_json(self) -> Json:
        return {"stand_in": "measure", "times": [[dict(schedule), time] for schedule, time in self.times]}


@dataclass(frozen=True)
class RecordedKernel:
    """Stands for a compiled kernel: gives the sources that TileLang made for a real one."""

    device_source: str
    """What `get_kernel_source()` returns."""
    host_source: str
    """What `get_host_source()` returns."""
    milliseconds: float
    """What `get_profiler().do_bench()` returns."""

    def to_json(self) -> Json:
        return {
            "stand_in": "kernel",
            "device_source": self.device_source,
            "host_source": self.host_source,
            "milliseconds": self.milliseconds,
        }


@dataclass(frozen=True)
class Call:
    """One use of something that the learner's file defines."""

    function: str
    arguments: Mapping[str, Json | Measure | RecordedKernel] = field(default_factory=dict)
    """By parameter name; passed by name, unless `positional`."""
    positional: bool = False
    of: Of = Of.CALL
    beside: str | None = None
    """Another function of the file, whose parameters are told as well: the answer is then a dict with "value" (what
    would be the answer otherwise) and "parameters" (their names; None if it takes any)."""
    arch: str | None = None
    """The architecture whose GPU answers questions in the learner's process, "sm_75"; None: the one graded on."""

    def to_json(self) -> Json:
        return {
            "function": self.function,
            "arguments": {
                name: value.to_json() if isinstance(value, (Measure, RecordedKernel)) else value
                for name, value in self.arguments.items()
            },
            "positional": self.positional,
            "of": self.of.value,
            "beside": self.beside,
            "arch": self.arch,
        }


@dataclass(frozen=True)
class Answer:
    """What came of a call that returned."""

    value: Json
    """Tuples come as lists, and numbers of NumPy or torch as Python's."""
    uses: tuple[Json, ...] = ()
    """What a `Measure` among the arguments was called with, in order; of a `RecordedKernel` the names of its methods
    that were called."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with an answer."""

    message: str
    """For the learner: which call, what was expected, what came, what to do."""
    mistake: str | None = None
    """Identifier of the typical error that gives this answer, where it is one."""
    hint: int | None = None
    """Level of the hint that helps."""


@dataclass(frozen=True)
class FunctionMistake:
    """A typical error in a function, as the values it gives."""

    id: str
    says: str
    """A whole sentence for the learner: "This leaves out the tile of B."."""
    compute: Callable[..., Json]
    """Called with a call's arguments by name; the value that the error gives. May raise ValueError, ZeroDivisionError
    or OverflowError where the error gives none."""
    hint: int = 2


@dataclass(frozen=True)
class FunctionCheck:
    """One line of the report about a learner's function."""

    id: str
    title: str
    """What must hold, for the report: "counts one tile of A and one of B for every stage"."""
    calls: Callable[[random.Random], Sequence[Call]]
    """Drawn anew at each grading."""
    judge: Callable[[Sequence[Call], Sequence[Answer]], Fault | None]
    """Called if every call returned; None if the answers are right."""
    mistakes: tuple[FunctionMistake, ...] = ()
    """Asked if `judge` finds a fault without naming a mistake: one that gives every answer is named."""
    runs: Runs = Runs.ANYWHERE


def named(check: FunctionCheck, fault: Fault, calls: Sequence[Call], answers: Sequence[Answer]) -> Fault:
    """The fault with the first of the check's mistakes whose values all answers have."""
    if fault.mistake is not None:
        return fault
    for mistake in check.mistakes:
        if all(_gives(mistake, call, answer) for call, answer in zip(calls, answers, strict=True)):
            return Fault(f"{fault.message} {mistake.says}", mistake.id, mistake.hint)
    return fault


def _gives(mistake: FunctionMistake, call: Call, answer: Answer) -> bool:
    try:
        expected = mistake.compute(**call.arguments)
    except (ValueError, ZeroDivisionError, OverflowError):
        return False
    return same(expected, answer.value)


def same(expected: Json, found: Json, tolerance: float = 1e-6) -> bool:
    """Whether two values are equal: ints exactly, floats within a relative tolerance, bools only to bools."""
    if isinstance(expected, bool) or isinstance(found, bool):
        return isinstance(expected, bool) and isinstance(found, bool) and expected == found
    if isinstance(expected, (int, float)) and isinstance(found, (int, float)):
        if expected == found or (expected != expected and found != found):
            return True
        # A count is exact, and nothing is near infinity.
        if isinstance(expected, int) or not (isfinite(expected) and isfinite(found)):
            return False
        return abs(expected - found) <= tolerance * max(abs(expected), abs(found))
    if isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
        return len(expected) == len(found) and all(same(e, f, tolerance) for e, f in zip(expected, found, strict=True))
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(same(expected[k], found[k], tolerance) for k in expected)
    return bool(expected == found)


def shown(call: Call) -> str:
    """The call as the learner would write it, long values cut: "smem_bytes(block_M=64, ...)"."""
    parts = []
    for name, value in call.arguments.items():
        text = {Measure: "...", RecordedKernel: "..."}.get(type(value)) or repr(value)
        text = text if len(text) <= 40 else text[:37] + "..."
        parts.append(text if call.positional else f"{name}={text}")
    return f"{call.function}({', '.join(parts)})"
