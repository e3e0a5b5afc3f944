"""What a lowered kernel asks of the GPU, and whether the GPU has it."""

from __future__ import annotations

import math
from typing import Any

from tilelang import tvm
from tvm import tirx

from tlpuzzles.catalogue.explanation import Explanation
from tlpuzzles.device.cuda.explain import gpu_name, largest_tile
from tlpuzzles.device.cuda.model import Footprint
from tlpuzzles.device.limits import MAX_GRID_XYZ, MAX_THREADS, architecture
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import Kernel

MAX_STATIC_SHARED = 48 << 10
"""Bytes of shared memory of a fixed size; ptxas refuses more on every architecture (CUDA C++ Programming Guide)."""


def footprint(func: Any) -> Footprint:
    """What the lowered TVM function `func` asks of the GPU."""
    extents = func.attrs["thread_extent"]
    dynamic = func.attrs.get("dyn_shared_memory_buf", 0)
    static = 0

    def visit(node: Any) -> None:
        nonlocal static
        if isinstance(node, tirx.AllocBuffer):
            scope = node.buffer.scope()
            if scope.startswith("shared") and scope != "shared.dyn":
                static += _bytes(node.buffer)

    tirx.stmt_functor.post_order_visit(func.body, visit)
    return Footprint(
        tuple(_number(extents.get(f"threadIdx.{axis}", 1)) or 1 for axis in "xyz"),
        tuple(_number(extents.get(f"blockIdx.{axis}", 1)) for axis in "xyz"),
        _number(dynamic) or 0,
        static,
    )


def _number(value: Any) -> int | None:
    if isinstance(value, tirx.IntImm):
        return int(value.value)
    return value if isinstance(value, int) else None


def _bytes(buffer: Any) -> int:
    count = 1
    for extent in buffer.shape:
        count *= _number(extent) or 0
    bits: int = tvm.DataType(buffer.dtype).bits
    return (count * bits + 7) // 8


def too_big(asked: Footprint, arch: str, func: ir.PrimFunc) -> Explanation | None:
    """What CUDA would refuse when it is launched on `arch`; None if nothing. `func` is the kernel, for the line.

    TileLang 0.1.15 compiles such kernels without a word (tile-ai/tilelang#1252).
    """
    return _threads(asked, arch, func) or _shared(asked, arch, func) or _grid(asked, func)


def _threads(asked: Footprint, arch: str, func: ir.PrimFunc) -> Explanation | None:
    threads = math.prod(asked.threads)
    if threads <= MAX_THREADS:
        return None
    written = max((math.prod(launch.threads) for launch in Kernel(func).launches), default=threads)
    added = threads - written
    if added <= 0:
        return _limit(
            "threads",
            f"A block has {threads} threads; at most {MAX_THREADS} are possible",
            f"Use at most threads={MAX_THREADS} in T.Kernel; 128 or 256 are usual",
            _launch_line(func),
        )
    return _limit(
        "threads",
        f"A block has {threads} threads, since TileLang adds {added} to threads={written} for the copies of a "
        f"pipeline on "
        f"{gpu_name(arch)}; at most {MAX_THREADS} are possible",
        f"Use at most threads={MAX_THREADS - added} in T.Kernel; 128 or 256 are usual",
        _launch_line(func),
    )


def _shared(asked: Footprint, arch: str, func: ir.PrimFunc) -> Explanation | None:
    known = architecture(arch)
    total = asked.dynamic_shared + asked.static_shared
    if known is not None and total > known.shared_bytes:
        return _limit(
            "shared-memory",
            f"A block asks for {_kib(total)} of shared memory; there are {known.shared} for a block on {known.gpus}",
            "Use smaller tiles or fewer stages: every stage of a T.Pipelined holds its own copy of the tiles",
            largest_tile(func),
        )
    if asked.static_shared > MAX_STATIC_SHARED:
        return _limit(
            "static-shared-memory",
            f"A block asks for {_kib(asked.static_shared)} of shared memory of a fixed size; CUDA allows "
            f"{_kib(MAX_STATIC_SHARED)} of that kind",
            "Leave scope='shared' out of T.alloc_shared: what it takes by default has the GPU's whole limit. "
            "Printing a "
            "whole tile takes such memory too",
            largest_tile(func, ir.Scope.SHARED),
        )
    return None


def _grid(asked: Footprint, func: ir.PrimFunc) -> Explanation | None:
    for axis, blocks, most in zip("xyz", asked.grid, MAX_GRID_XYZ, strict=True):
        if blocks is not None and blocks > most:
            return _limit(
                "grid",
                f"The grid has {blocks} blocks along {axis}; at most {most} are possible there",
                "Put the longest axis first in T.Kernel, or let each block do more",
                _launch_line(func),
            )
    return None


def _launch_line(func: ir.PrimFunc) -> int | None:
    return next((launch.line for launch in Kernel(func).launches), None)


def _kib(count: int) -> str:
    return f"{count / 1024:.4g} KiB"


def _limit(name: str, message: str, fix: str, line: int | None) -> Explanation:
    return Explanation(name, message, fix, message, line)
