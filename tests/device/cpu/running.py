"""Emits, compiles and runs kernels on torch tensors, for the tests of the CPU device."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import torch

from tests.tracing import document
from tlpuzzles.device.cpu import build, runner
from tlpuzzles.device.cpu.emit import emit
from tlpuzzles.device.cpu.run import CpuRun, Job, Number, Tensor, job_document, run

Argument: TypeAlias = "torch.Tensor | int | float"
_numbers = itertools.count()


@dataclass(frozen=True)
class Program:
    """Kernels compiled together."""

    library: Path
    symbols: Mapping[str, str]

    def run(self, name: str, arguments: Sequence[Argument], folder: Path, **options: object) -> CpuRun:
        """Runs the kernel in a process of its own. Afterwards the tensors hold what it left in them."""
        job = self._job(name, arguments, folder)
        result = run(replace(job, **options))  # type: ignore[arg-type]
        _read_back(arguments, job)
        return result

    def output(
        self, name: str, inputs: Sequence[Argument], like: torch.Tensor, folder: Path, backwards: bool = False
    ) -> torch.Tensor:
        """The last argument after a run in this process (which saves the time to start one), which must finish.

        It starts poisoned, as in a grading."""
        found = torch.full_like(like, float("nan") if like.is_floating_point() else like.dtype != torch.bool and 77)
        job = replace(self._job(name, [*inputs, found], folder), backwards=backwards)
        report = runner.execute(json.loads(json.dumps(job_document(job, folder / "report.json"))))
        assert report["outcome"] == "finished", report
        _read_back([*inputs, found], job)
        return found

    def _job(self, name: str, arguments: Sequence[Argument], folder: Path) -> Job:
        passed: list[Tensor | Number] = []
        for argument in arguments:
            if isinstance(argument, torch.Tensor):
                path = folder / f"argument{next(_numbers)}.bin"
                path.write_bytes(_storage(argument).view(torch.uint8).numpy().tobytes())
                passed.append(Tensor(path, tuple(argument.shape), str(argument.dtype).removeprefix("torch.")))
            else:
                passed.append(Number(argument))
        return Job(self.library, self.symbols[name], passed)


def _read_back(arguments: Sequence[Argument], job: Job) -> None:
    for argument, file in zip(arguments, job.arguments, strict=True):
        if isinstance(argument, torch.Tensor) and isinstance(file, Tensor):
            raw = bytearray(file.path.read_bytes())
            _storage(argument).copy_(torch.frombuffer(raw, dtype=argument.dtype))


def _storage(tensor: torch.Tensor) -> torch.Tensor:
    """All elements in memory from the tensor's first on, those between its rows as well."""
    return tensor.as_strided(
        (tensor.untyped_storage().size() // tensor.element_size() - tensor.storage_offset(),), (1,)
    )


def compiled(sources: Mapping[str, tuple[str, Mapping[str, object]]], folder: Path) -> Program:
    """Compiles kernels, given as (source of a factory `kernel`, its arguments), in one translation unit."""
    symbols = {name: f"kernel_{number}" for number, name in enumerate(sources)}
    texts = [emit(document(source, **arguments).func, symbols[name]) for name, (source, arguments) in sources.items()]
    return Program(build.compile(texts, folder, None), symbols)
