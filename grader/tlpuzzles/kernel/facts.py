"""What can be read off a kernel's IR: parameters, launches, buffers, and which operators it calls where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.steps import Step, steps

TILE_OP = "tl.tileop."
"""Prefix of the operators that work on whole tiles: copy, fill, gemm, reduce, ..."""


@dataclass(frozen=True)
class Launch:
    """One `T.Kernel(...)`."""

    grid: tuple[ir.Expr, ...]
    """Numbers of blocks along x, y, z."""
    block_vars: tuple[ir.Var, ...]
    threads: tuple[int, ...]
    """Threads of a block along x, y, z; empty if the IR does not say."""
    body: ir.SBlock
    line: int | None
    loop: ir.For
    """The loop over blocks along x, which holds all of the launch."""


@dataclass(frozen=True)
class Region:
    """The part of a buffer that a tile operation reads or writes (`tl.region`)."""

    buffer: ir.Buffer
    mins: tuple[ir.Expr, ...]
    extents: tuple[ir.Expr, ...]


def region(expr: ir.Expr) -> Region:
    """Decodes an argument of a tile operation. Raises ValueError if it is none."""
    if isinstance(expr, ir.Call) and expr.op == "tl.region" and expr.args and isinstance(expr.args[0], ir.BufferLoad):
        load = expr.args[0]
        return Region(load.buffer, tuple(load.indices), tuple(expr.args[2:]))
    raise ValueError("the argument is not a region of a buffer")


class Kernel:
    """A read-only view of one traced kernel."""

    def __init__(self, func: ir.PrimFunc) -> None:
        self.func = func

    @cached_property
    def nodes(self) -> tuple[ir.Node, ...]:
        return tuple(ir.walk(self.func))

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        return tuple(_launches(self.func.body))

    @cached_property
    def tiles(self) -> tuple[ir.Buffer, ...]:
        """Every buffer that is no parameter: shared tiles, fragments, variables, views of them."""
        parameters = set(map(id, self.func.buffer_map.values()))
        return tuple(n for n in self.nodes if isinstance(n, ir.Buffer) and id(n) not in parameters)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Every statement in program order, with what encloses it."""
        return tuple(steps(self.func))

    @cached_property
    def names(self) -> dict[ir.Var, ir.Expr]:
        """What names in the kernel stand for."""
        return {node.var: node.value for node in self.nodes if isinstance(node, (ir.Bind, ir.Let))}

    def steps_of(self, launch: Launch) -> Iterator[Step]:
        """The statements below one launch."""
        return (step for step in self.steps if launch.loop in step.loops)

    def calls(self, op: str) -> Iterator[ir.Call]:
        """Calls of one operator, by its full name such as "tl.tileop.gemm"."""
        return (node for node in self.nodes if isinstance(node, ir.Call) and node.op == op)


def _launches(body: ir.Stmt) -> Iterator[Launch]:
    for node in ir.walk(body):
        if isinstance(node, ir.For) and _binds(node, "blockIdx.x"):
            launch = _launch(node)
            if launch is not None:
                yield launch


def _binds(loop: ir.For, thread_tag: str) -> bool:
    return loop.thread_binding is not None and loop.thread_binding.thread_tag == thread_tag


def _launch(loop: ir.For) -> Launch | None:
    grid: list[ir.Expr] = []
    block_vars: list[ir.Var] = []
    stmt: ir.Stmt = loop
    while isinstance(stmt, ir.For) and stmt.thread_binding is not None:
        grid.append(stmt.extent)
        block_vars.append(stmt.loop_var)
        stmt = stmt.body
    block = next((n for n in ir.walk(stmt) if isinstance(n, ir.SBlock)), None)
    if block is None:
        return None
    threads = block.annotations.get("tl.launch_threads")
    extents = tuple(t.value for t in threads if isinstance(t, ir.IntImm)) if isinstance(threads, list) else ()
    return Launch(tuple(grid), tuple(block_vars), extents, block, loop.line, loop)
