"""In a child that sees the GPU: compiles kernels for one problem and times them in turn. The GPU may stop it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.cuda import memory
from tlpuzzles.device.cuda.bench import difference
from tlpuzzles.device.cuda.compiling import Compiled, Source, compile_kernels
from tlpuzzles.device.cuda.timing import milliseconds
from tlpuzzles.grading.explained import in_words
from tlpuzzles.grading.stages import fetch
from tlpuzzles.kernel.capsule import read

Emit = Callable[[dict[str, Any]], None]


def measure(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: exercise (None: results and library are of no interest), case, sizes, arch, tensors: {name: {"shape",
    "dtype"}}, output: its name, kernels: {key: {"capsule", "parameters"}}.

    Emits "launching" before the first launch of each kernel, "refused" with a reason for one that does not compile or
    start, and at the end "measured" with milliseconds by key.
    """
    sources = {}
    for key, kernel in job["kernels"].items():
        capsule = fetch(kernel["capsule"])
        sources[key] = Source(read(capsule), capsule.pass_configs)
    device = torch.device("cuda")
    tensors = {name: _tensor(spec, device) for name, spec in job["tensors"].items()}
    exercise = None if job["exercise"] is None else catalog.find(job["exercise"])
    expected = None if exercise is None else _expected(exercise, job, tensors)
    launches: dict[str, Callable[[], object]] = {}
    for key, compiled in compile_kernels(sources, job["arch"], lambda _: None).items():
        if not isinstance(compiled, Compiled):
            emit({"kind": "refused", "key": key, "why": in_words(compiled).message})
            continue
        emit({"kind": "launching", "key": key})
        arguments = [tensors[name] for name in job["kernels"][key]["parameters"]]
        # What another kernel left there is not this one's result.
        tensors[job["output"]].fill_(float("nan"))
        try:
            compiled.call(*arguments)
            torch.cuda.synchronize(device)
        except (RuntimeError, ValueError, TypeError) as error:
            emit({"kind": "refused", "key": key, "why": str(error).strip().splitlines()[-1][:300]})
            continue
        if exercise is not None and expected is not None:
            dtype = exercise.case(job["case"]).dtype
            wrong = difference(tensors[job["output"]], expected, dtype, exercise.tolerance[dtype])
            if wrong is not None:
                emit({"kind": "refused", "key": key, "why": f"its result is wrong at this size: {wrong}"})
                continue
        launches[key] = _launch(compiled.call, arguments)
    emit({"kind": "launching", "key": None})
    emit({"kind": "measured", "milliseconds": milliseconds(launches, device)})


def _tensor(spec: Mapping[str, Any], device: torch.device) -> torch.Tensor:
    return torch.randn(spec["shape"], device=device).to(memory.dtype_of(spec["dtype"]))


def _launch(call: Callable[..., object], arguments: list[torch.Tensor]) -> Callable[[], object]:
    return lambda: call(*arguments)


def _expected(exercise: Exercise, job: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> torch.Tensor | None:
    """What the exercise's library function gives, if it has one."""
    if exercise.library is None:
        return None
    inputs = {spec.name: tensors[spec.name] for spec in exercise.inputs}
    return exercise.library(inputs, job["sizes"], exercise.case(job["case"]).flags)
