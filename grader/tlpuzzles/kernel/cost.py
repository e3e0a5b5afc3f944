"""What a kernel asks of a GPU and of a grading: threads, shared memory, registers, amount of work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.buffers import bits, buffer_bytes
from tlpuzzles.kernel.facts import TILE_OP, Kernel, Launch, region
from tlpuzzles.kernel.steps import Step, Touch, accesses
from tlpuzzles.kernel.values import Interval, Ranges, constant, interval

DEFAULT_THREADS = 128
"""Threads of a block where `T.Kernel` is given none (TileLang 0.1.15 on CUDA)."""

PIPELINE = "num_stages"


@dataclass(frozen=True)
class LaunchCost:
    """What one `T.Kernel` asks for."""

    launch: Launch
    grid: tuple[int | None, ...]
    """Blocks along x, y, z; None where that depends on something unknown."""
    threads: int
    """Threads of a block."""
    shared_bytes: int
    """See `shared_bytes`."""
    registers: int
    """See `registers`."""

    @property
    def blocks(self) -> int | None:
        return None if None in self.grid else prod(extent for extent in self.grid if extent is not None)


def launch_costs(kernel: Kernel, sizes: Ranges) -> tuple[LaunchCost, ...]:
    """One for each launch. `sizes`: what is known of the sizes that the kernel leaves open."""
    return tuple(
        LaunchCost(
            launch,
            tuple(constant(extent, sizes) for extent in launch.grid),
            prod(launch.threads) if launch.threads else DEFAULT_THREADS,
            _shared_bytes(kernel, launch),
            registers(kernel, launch),
        )
        for launch in kernel.launches
    )


def shared_bytes(kernel: Kernel) -> int:
    """Dynamic shared memory of a block in bytes, the most of any launch, before anything is lowered.

    Shared tiles in use at the same time, each times the stages of the pipeline that fills it from global memory. It is
    what TileLang 0.1.15 asks for in every kernel tried but for what lowering adds: up to 1 KiB of alignment a tile on
    sm_90a, and the workspace of reductions across warps (1 KiB and more). A lower bound, then, and a close one; not
    one where pass configs change how tiles share memory. A pipeline scheduled by hand (`order=`, `stage=`) counts once.
    """
    return max((_shared_bytes(kernel, launch) for launch in kernel.launches), default=0)


def _shared_bytes(kernel: Kernel, launch: Launch) -> int:
    """The most that is live at once. Tiles live from their first to their last statement below the launch; a loop there
    is one statement, as TileLang lets tiles share memory before and after it, not in it."""
    lives: dict[ir.Var, tuple[int, int]] = {}
    bytes_of: dict[ir.Var, int] = {}
    stages: dict[ir.Var, int] = {}
    top = {id(stmt): number for number, stmt in enumerate(_top_level(launch.body.body))}
    now = 0
    for step in kernel.steps_of(launch):
        now = top.get(id(step.stmt), now)
        touched = list(accesses(step))
        from_global = any(a.buffer.scope == ir.Scope.GLOBAL and Touch.READ in a.touch for a in touched)
        for access in touched:
            if access.buffer.scope != ir.Scope.SHARED_DYNAMIC:
                continue
            data = access.buffer.data
            lives[data] = (lives.get(data, (now, now))[0], now)
            bytes_of[data] = max(bytes_of.get(data, 0), buffer_bytes(access.buffer))
            if from_global and Touch.WRITE in access.touch:
                stages[data] = max(stages.get(data, 1), _stages(step))
    needed = {data: size * stages.get(data, 1) for data, size in bytes_of.items()}
    return max(
        sum(needed[data] for data, (first, last) in lives.items() if first <= moment <= last)
        for moment in range(len(top) + 1)
    )


def _top_level(stmt: ir.Stmt) -> Iterator[ir.Stmt]:
    if isinstance(stmt, ir.SeqStmt):
        for child in stmt.seq:
            yield from _top_level(child)
    elif isinstance(stmt, ir.AttrStmt) and stmt.body is not None:
        yield from _top_level(stmt.body)
    else:
        yield stmt


def _stages(step: Step) -> int:
    """Copies that the innermost pipeline around a statement keeps of a tile it fills."""
    for loop in reversed(step.loops):
        declared = loop.annotations.get(PIPELINE)
        if isinstance(declared, ir.IntImm):
            return max(declared.value, 1)
    return 1


def registers(kernel: Kernel, launch: Launch) -> int:
    """32-bit registers a thread needs for a launch's fragments, if each were spread over all threads of the block.

    More where TileLang repeats a fragment in several threads, fewer where fragments are not needed at the same time.
    """
    threads = prod(launch.threads) if launch.threads else DEFAULT_THREADS
    fragments = {
        access.buffer.data: access.buffer
        for step in kernel.steps_of(launch)
        for access in accesses(step)
        if access.buffer.scope == ir.Scope.FRAGMENT
    }
    return sum(ceil((bits(buffer) or 0) / (32 * max(threads, 1))) for buffer in fragments.values())


def work(kernel: Kernel, sizes: Ranges) -> int:
    """Element operations of all blocks, at most: trips of the loops around each statement times what it does.

    A multiply-add of a product counts one. A `while` loop counts one trip, as does a loop whose trips are unknown.
    """
    ranges: dict[ir.Var, Interval] = dict(sizes)
    total = 0
    trips: dict[int, int] = {}
    for step in kernel.steps:
        stmt = step.stmt
        if isinstance(stmt, ir.For):
            trips[id(stmt)] = _learn_loop(stmt, ranges)
        elif isinstance(stmt, ir.Bind):
            value = interval(stmt.value, ranges)
            if value is not None:
                ranges[stmt.var] = value
        unit = _unit(stmt)
        if unit:
            total += unit * prod(trips.get(id(loop), 1) for loop in step.loops)
    return total


def _learn_loop(loop: ir.For, ranges: dict[ir.Var, Interval]) -> int:
    start, extent = interval(loop.min, ranges), interval(loop.extent, ranges)
    if start is None or extent is None:
        return 1
    most = max(extent.high, 0)
    ranges[loop.loop_var] = Interval(start.low, start.high + max(most - 1, 0))
    return most


def _unit(stmt: ir.Stmt) -> int:
    if isinstance(stmt, ir.BufferStore):
        return 1
    if not isinstance(stmt, ir.Evaluate) or not isinstance(stmt.value, ir.Call):
        return 0
    call = stmt.value
    if not call.op.startswith(TILE_OP):
        return 1
    if call.op.endswith("gemm"):
        return prod(size.value for size in call.args[5:8] if isinstance(size, ir.IntImm))
    return max((_elements(argument) for argument in call.args), default=1)


def _elements(argument: ir.Expr) -> int:
    try:
        extents = region(argument).extents
    except ValueError:
        return 1
    return prod(max(extent.value, 0) for extent in extents if isinstance(extent, ir.IntImm))
