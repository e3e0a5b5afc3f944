"""Talks to `tests.gpu.server`, and the kernels that the tests run there."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from tests.device.cuda.kernels import ADD, ATTENTION, GEMM
from tests.gpu import kernels
from tlpuzzles.device.cuda.model import Argument, LaunchCase, Role, poisons

UNSAFE: dict[str, object] = {"tl.disable_safe_memory_legalize": True}
RUN_SECONDS = 60

KERNELS: dict[str, tuple[str, dict[str, object], dict[str, object]]] = {
    "add": (ADD, {"N": 1003}, {}),
    "gemm": (GEMM, {"M": 200, "N": 328, "K": 150}, {}),
    "two products": (ATTENTION, {"S": 192}, {}),
    "copy": (kernels.COPY, {}, {}),
    "fault": (kernels.FAULT, {"N": 1024}, UNSAFE),
    "writes after": (kernels.WRITES_AFTER, {"N": 1024}, UNSAFE),
    "writes before": (kernels.WRITES_BEFORE, {"N": 1024}, UNSAFE),
    "writes input": (kernels.WRITES_INPUT, {}, {}),
    "reads output": (kernels.READS_OUTPUT, {}, {}),
    "hangs": (kernels.HANGS, {}, {}),
    "too much shared": (kernels.TOO_MUCH_SHARED, {}, {}),
    "races": (kernels.RACES, {"N": 256, "blocks": 16384}, {}),
    "reads the clock": (kernels.READS_THE_CLOCK, {}, {}),
    "asserts": (kernels.ASSERTS, {}, {}),
    "adds atomically": (kernels.ADDS_ATOMICALLY, {}, {}),
    "too many threads": (kernels.TOO_MANY_THREADS, {}, {}),
    "huge": (kernels.HUGE, {"rows": 400_000_000}, {}),
    "does not compile": (GEMM, {"bm": 16, "bn": 16}, {}),
}
"""Source, arguments of the factory, pass configs."""


@dataclass(frozen=True)
class Answer:
    """What came of a job."""

    messages: list[dict[str, Any]]
    code: int | None
    timed_out: bool
    log: str

    @property
    def ran(self) -> list[dict[str, Any]]:
        return [message for message in self.messages if message.get("event") == "ran"]

    @property
    def remaining(self) -> list[str] | None:
        return next((m["cases"] for m in self.messages if m.get("event") == "remaining"), None)


@dataclass
class Gpu:
    """The server, and files for its jobs."""

    process: subprocess.Popen[str]
    folder: Path
    arch: str = ""
    _number: Iterator[int] = field(default_factory=count)

    def ask(self, do: str, seconds: float = RUN_SECONDS, **job: object) -> Answer:
        number = next(self._number)
        messages, log = self.folder / f"{number}.messages", self.folder / f"{number}.log"
        messages.touch()
        job |= {"do": do, "seconds": seconds, "messages": str(messages), "log": str(log), "arch": self.arch}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        end = json.loads(self.process.stdout.readline())
        told = [json.loads(line) for line in messages.read_text().splitlines()]
        return Answer(told, end["code"], end["timed_out"], log.read_text() if log.exists() else "")

    def run(self, *cases: LaunchCase, seconds: float = RUN_SECONDS) -> Answer:
        """Runs cases in one child; their kernels were compiled before, and come from the cache."""
        names = {case.kernel for case in cases}
        return self.ask("run", seconds, kernels=describe(names), cases=[case.to_json() for case in cases])

    def case(
        self, kernel: str, inputs: Mapping[str, np.ndarray[Any, Any]], shape: tuple[int, ...], dtype: str = "float32"
    ) -> LaunchCase:
        """A case with its input files written; the output is called C."""
        name = f"{kernel}-{next(self._number)}"
        arguments = []
        for key, values in inputs.items():
            path = self.folder / f"{name}.{key}"
            values.tofile(path)
            arguments.append(Argument(key, Role.INPUT, str(path), str(values.dtype), values.shape))
        arguments.append(Argument("C", Role.OUTPUT, str(self.folder / f"{name}.C"), dtype, shape))
        return LaunchCase(name, kernel, tuple(arguments), poisons(dtype))


def describe(names: set[str]) -> dict[str, Any]:
    """Kernels as the server takes them."""
    return {
        name: {"source": source, "arguments": arguments, "pass_configs": configs}
        for name, (source, arguments, configs) in KERNELS.items()
        if name in names
    }
