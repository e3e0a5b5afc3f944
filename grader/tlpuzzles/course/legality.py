"""Which schedules of a GEMM TileLang compiles for an architecture, and which of those a GPU can launch.

The GEMM is the course's: A (M, K) and B (K, N) in float16, float32 sums, a tile of A and one of B in shared memory for
each pipeline stage, the default warp policy (Square), the sums copied straight to C. The rules are those of TileLang
0.1.15: `src/cuda/op/gemm.cc` for the warps, `cuda/intrinsics/macro/` for the sizes of single instructions. A slow test
lowers a grid of schedules for all four architectures and compares (tests/course/test_legality.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tlpuzzles.course.schedules import Schedule
from tlpuzzles.device.limits import MAX_THREADS, WARP, Architecture

DEFAULTS: Mapping[str, int | bool] = {
    "block_M": 128,
    "block_N": 128,
    "block_K": 32,
    "num_stages": 3,
    "threads": 128,
    "use_swizzle": False,
}
"""The tunable parameters of make_matmul with their defaults, in its order."""

PRODUCER_THREADS = 128
"""Threads that TileLang adds on Hopper to those of `T.Kernel` in a pipelined loop: a warp group that only copies."""

_ROWS, _COLUMNS = 16, 8
"""Rows and columns of C that one tensor-core instruction of a warp computes."""
_GROUP = 4
"""Warps that share one instruction of Hopper's (a warp group)."""
_GROUP_COLUMNS = 16
"""Columns of C of a warp group must be a multiple of these: TileLang 0.1.15 has no layout for B otherwise."""


def smem_bytes(block_M: int, block_N: int, block_K: int, num_stages: int, itemsize: int = 2) -> int:
    """Bytes of shared memory that a block asks for: a tile of A and one of B for each stage; 0 stages need one set."""
    return (block_M * block_K + block_K * block_N) * itemsize * max(num_stages, 1)


def malformed(schedule: Any) -> str | None:
    """Why `schedule` cannot be read as values of make_matmul's tunables, for the learner; None if it can.

    A tunable may be left out; it then has its default.
    """
    if not isinstance(schedule, dict):
        return f"{schedule!r} is no dict"
    for name, value in schedule.items():
        if name not in DEFAULTS:
            return f"it has the key {name!r}, which is none of make_matmul's tunables ({', '.join(DEFAULTS)})"
        if name == "use_swizzle":
            if not isinstance(value, bool):
                return f"use_swizzle is {value!r}, not True or False"
        elif not isinstance(value, int) or isinstance(value, bool):
            return f"{name} is {value!r}, not an int"
        elif value < (0 if name == "num_stages" else 1):
            return f"{name} is {value}"
    return None


def why_refused(schedule: Schedule, architecture: Architecture, itemsize: int = 2) -> str | None:
    """Why a GPU of this architecture cannot run make_matmul with this schedule, for the learner; None if it can.

    What the schedule leaves out has its default. Raises KeyError and TypeError for no schedule: ask `malformed` first.
    """
    return does_not_compile(schedule, architecture) or does_not_fit(schedule, architecture, itemsize)


def does_not_compile(schedule: Schedule, architecture: Architecture) -> str | None:
    """The part of `why_refused` about tiles and threads; None if these suit the architecture."""
    full = {**DEFAULTS, **schedule}
    block_M, block_N, block_K, threads = (full[name] for name in ("block_M", "block_N", "block_K", "threads"))
    pipelined = full["num_stages"] > 0
    return (
        _threads(threads, PRODUCER_THREADS if pipelined and _is_hopper(architecture) else 0)
        or _tile(block_M, block_N, block_K, architecture)
        or _warps(block_M, block_N, block_K, threads // WARP, architecture)
    )


def does_not_fit(schedule: Schedule, architecture: Architecture, itemsize: int = 2) -> str | None:
    """The part of `why_refused` about shared memory; None if all stages of the tiles fit."""
    full = {**DEFAULTS, **schedule}
    asked = smem_bytes(full["block_M"], full["block_N"], full["block_K"], full["num_stages"], itemsize)
    if asked <= architecture.shared_bytes:
        return None
    return (
        f"it asks for {asked} bytes of shared memory ({asked / 1024:g} KiB); a block can have "
        f"{architecture.shared_bytes} ({architecture.shared}) on {architecture.gpus}"
    )


def _threads(threads: int, added: int) -> str | None:
    if threads % WARP:
        # TileLang 0.1.15 compiles this and leaves the last threads without a part of the product.
        return f"{threads} threads are no whole number of warps: use a multiple of {WARP}"
    if threads + added <= MAX_THREADS:
        return None
    runs = f" run as {threads + added}, since TileLang adds {added} that only copy;" if added else ":"
    return f"{threads} threads{runs} a block can have {MAX_THREADS} at most"


def _tile(block_M: int, block_N: int, block_K: int, architecture: Architecture) -> str | None:
    if block_M % _ROWS:
        return f"block_M = {block_M} is no multiple of {_ROWS}, the rows of one tensor-core instruction"
    if block_N % _COLUMNS:
        return f"block_N = {block_N} is no multiple of {_COLUMNS}, the columns of one tensor-core instruction"
    depth = 8 if architecture.name == "sm_75" else 16
    if block_K % depth and block_K != 8:
        return f"block_K = {block_K} is no multiple of {depth}, the depth of one tensor-core instruction"
    return None


def _warps(block_M: int, block_N: int, block_K: int, warps: int, architecture: Architecture) -> str | None:
    grouped = _is_hopper(architecture) and block_M >= _GROUP * _ROWS and warps % _GROUP == 0 and block_K % 16 == 0
    ways = list(_ways(block_M, block_N, warps, _GROUP if grouped else 1))
    if not ways:
        whose, rows, columns = ("warp", _ROWS, _COLUMNS)
        if grouped:
            # The ways above are with a multiple of 8 columns, as TileLang looks for them: what it finds for 8 and not
            # for 16 does not compile either.
            whose, rows, columns = ("warp group of four", _GROUP * _ROWS, _GROUP_COLUMNS)
        return (
            f"a tile of {block_M} x {block_N} cannot be dealt out to {warps} warps ({warps * WARP} threads): each "
            f"{whose} needs a multiple of {rows} rows and of {columns} columns"
        )
    if grouped:
        columns = block_N // min(ways, key=lambda way: abs(way[1] / (2 * way[0]) - 1))[1]
        if columns % _GROUP_COLUMNS:
            return (
                f"a warp group gets {columns} of the {block_N} columns: on {architecture.gpus} that must be a multiple "
                f"of {_GROUP_COLUMNS}"
            )
    return None


def _ways(block_M: int, block_N: int, warps: int, group: int) -> Iterator[tuple[int, int]]:
    """The ways to deal a tile out: (warps one below the other, warps side by side)."""
    for down in range(group, warps + 1, group):
        if warps % down == 0 and block_M % (down * _ROWS) == 0 and block_N % (warps // down * _COLUMNS) == 0:
            yield down, warps // down


def _is_hopper(architecture: Architecture) -> bool:
    return architecture.name == "sm_90a"
