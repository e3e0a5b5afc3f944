"""Lowers a kernel for one architecture and gathers what there is to see of it. No GPU is needed, and nvcc only for
registers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import Any

from tlpuzzles.device.cuda import cubin
from tlpuzzles.device.cuda.layouts import tiles
from tlpuzzles.device.cuda.lower import Watch, lower
from tlpuzzles.device.cuda.model import Footprint, Lowered, LowerOutcome
from tlpuzzles.device.cuda.pipelines import pipelines, roles
from tlpuzzles.device.cuda.probe import compilers
from tlpuzzles.device.cuda.resources import binary_of
from tlpuzzles.device.limits import MAX_THREADS, Architecture
from tlpuzzles.kernel.capsule import Document
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.values import constant
from tlpuzzles.seeing.landmarks import landmarks
from tlpuzzles.seeing.model import Compilation, Launch, Seen
from tlpuzzles.seeing.occupancy import occupancy

PLANNED, INFERRED = "tl.PipelinePlanning", "tl.LayoutInference"


def see(
    document: Document, pass_configs: Mapping[str, object], gpu: Architecture, *, nvcc: bool = True
) -> tuple[Lowered, Seen | None]:
    """Whether the kernel compiles, and what is to be seen of it as far as that went; registers with `nvcc` only, which
    takes seconds."""
    watch = Watch((PLANNED, INFERRED))
    lowered = lower(document, pass_configs, gpu.name, watch=watch)
    source = watch.source
    if source is None or not {PLANNED, INFERRED} <= watch.modules.keys():
        return lowered, None
    kernel = Kernel(document.func)
    planned, inferred = (_function(watch.modules[name]) for name in (PLANNED, INFERRED))
    shared = roles(inferred)
    drawn = tuple(tiles(inferred, _shapes(kernel), source, shared.producers))
    compilations, why = _compiled(lowered, source, pass_configs, gpu) if nvcc else ({}, "it was not asked")
    return lowered, Seen(
        source=source,
        sights=landmarks(source),
        tiles=drawn,
        pipelines=tuple(pipelines(kernel, planned, shared, drawn, source)),
        launches=tuple(
            _launch(name, asked, source, compilations.get(name), gpu) for name, asked in watch.footprints.items()
        ),
        nvcc=why,
    )


def _function(module: Any) -> Any:
    (function,) = module.functions.values()
    return function


def _shapes(kernel: Kernel) -> dict[str, tuple[int, ...]]:
    """Of the tiles as they were written, by name; without those whose name another one has."""
    shapes: dict[str, tuple[int, ...] | None] = {}
    for buffer in kernel.tiles:
        shape = tuple(constant(extent) or 0 for extent in buffer.shape)
        shapes[buffer.name] = shape if shapes.get(buffer.name, shape) == shape else None
    return {name: shape for name, shape in shapes.items() if shape is not None and 0 not in shape}


def _compiled(
    lowered: Lowered, source: str, pass_configs: Mapping[str, object], gpu: Architecture
) -> tuple[Mapping[str, Compilation], str | None]:
    """What nvcc makes of the source, by kernel, or why that is not known."""
    if lowered.outcome is not LowerOutcome.COMPILES:
        return {}, "the kernel does not fit"
    why, _ = compilers(gpu.name)
    if why:
        return {}, why
    try:
        return cubin.usage(binary_of(source, gpu.name, pass_configs)), None
    except (RuntimeError, OSError, ValueError) as error:
        first = next((line for line in f"{error}".splitlines() if "error" in line.lower()), "it gave no reason")
        return {}, f"nvcc does not compile it: {first}"


def _launch(name: str, asked: Footprint, source: str, compilation: Compilation | None, gpu: Architecture) -> Launch:
    threads = prod(asked.threads)
    static = asked.static_shared
    aligned = re.search(r"extern __shared__ __align__\((\d+)\)", source)
    if asked.dynamic_shared and aligned:
        static = -(-static // int(aligned[1])) * int(aligned[1])
    registers = None if compilation is None else compilation.registers
    return Launch(
        kernel=name,
        threads=threads,
        most_threads=MAX_THREADS,
        grid=asked.grid,
        dynamic_bytes=asked.dynamic_shared,
        static_bytes=static,
        most_shared_bytes=gpu.shared_bytes,
        compilation=compilation,
        occupancy=occupancy(gpu, threads, asked.dynamic_shared + static, registers),
    )
