"""Runs TileLang's autotuner on a learner's kernel: the one process with a learner's Python in it that sees the GPU.

What it says of times is never taken for a measurement: the winner leaves as a capsule, and the grader measures it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tlpuzzles.border import stand_ins
from tlpuzzles.border.caller import plain
from tlpuzzles.border.learners_file import NotAKernel, a, describe, find, load
from tlpuzzles.border.tracer import written

Emit = Callable[[dict[str, Any]], None]


def tune(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: path, text (a file), factory, sizes. Emits "loaded", then "tuned" with the winner's configuration and
    capsule, or "error"."""
    path = str(job["path"])
    stage = "load"
    try:
        module = load(path, Path(job["text"]).read_text(encoding="utf-8"))
        factory = find(module, job["factory"])
        emit({"kind": "loaded"})
        stage = "tune"
        emit({"kind": "tuned", **_winner(factory, job["factory"], dict(job["sizes"]))})
    except BaseException as error:  # noqa: BLE001 - a learner's file may raise anything, SystemExit included
        emit({"kind": "error", **describe(error, path, stage)})


def _winner(factory: Any, name: str, sizes: dict[str, int]) -> dict[str, Any]:
    from tilelang.autotuner.tuner import AutoTuneImpl
    from tilelang.jit import JITImpl

    if not isinstance(factory, AutoTuneImpl):
        raise NotAKernel(
            f"{name} has {'@tilelang.jit, but no' if isinstance(factory, JITImpl) else 'neither @tilelang.jit nor'} "
            "@tilelang.autotune above it."
        )
    kernel = factory(**sizes)
    config = getattr(kernel, "config", None)
    if not isinstance(config, dict):
        raise NotAKernel(f"Calling the autotuned function gave {a(kernel)}, which was not tuned.")
    jit = factory.jit_impl
    # Traced again: a kernel that came from the cache has no IR.
    tunables = {name: value for name, value in config.items() if name != "pass_configs"}
    traced = stand_ins.traced(jit, jit.get_tir(**sizes, **tunables))
    traced.pass_configs = {**traced.pass_configs, **config.get("pass_configs", {})}
    return {"config": plain(tunables, "the autotuner"), **written(traced)}
