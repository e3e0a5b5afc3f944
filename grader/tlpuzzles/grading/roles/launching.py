"""In a child that sees the GPU: compiles kernels and runs them on inputs it is given. The GPU may stop it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from tlpuzzles.device.cuda import printing
from tlpuzzles.device.cuda.compiling import Source
from tlpuzzles.device.cuda.model import LaunchCase
from tlpuzzles.device.cuda.probe import probe as ask
from tlpuzzles.device.cuda.run import run
from tlpuzzles.grading.stages import fetch
from tlpuzzles.kernel.capsule import read

Emit = Callable[[dict[str, Any]], None]


def launch(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: arch, kernels (capsule files by key), cases (`LaunchCase.to_json`; none: only compiles). Emits "cuda"."""
    sources = {}
    for key, file in job["kernels"].items():
        capsule = fetch(file)
        sources[key] = Source(read(capsule), capsule.pass_configs)
    cases = [LaunchCase.from_json(case) for case in job["cases"]]
    emit({"kind": "prints", "nonce": printing.nonce()})
    run(sources, cases, job["arch"], lambda message: emit({"kind": "cuda", **message}))


def probe(job: Mapping[str, Any], emit: Emit) -> None:
    """Emits "probe": what the GPU is, or why it cannot be used."""
    emit({"kind": "probe", **asdict(ask())})
