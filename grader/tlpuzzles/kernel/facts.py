"""What can be read off a kernel's IR: parameters, launches, buffers, and which operators it calls where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tlpuzzles.kernel import tile_ir as ir

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


@dataclass(frozen=True)
class Region:
    """The part of a buffer that a tile operation reads or writes (`tl.region`)."""

    buffer: ir.Buffer
    mins: tuple[ir.Expr, ...]
    extents: tuple[ir.Expr, ...]


def region(expr: ir.Expr) -> Region:
    """Decodes an argument of a tile operation. Raises ValueError if it is none."""
    if isinstance(expr, ir.Call) and expr.op == "tl.region" and isinstance(expr.args[0], ir.BufferLoad):
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

    def calls(self, op: str) -> Iterator[ir.Call]:
        """Calls of one operator, by its full name such as "tl.tileop.gemm"."""
        return (node for node in self.nodes if isinstance(node, ir.Call) and node.op == op)


def _launches(body: ir.Stmt) -> Iterator[Launch]:
    for node in ir.walk(body):
        if isinstance(node, ir.For) and node.thread_binding is not None and node.thread_binding.thread_tag == "blockIdx.x":
            yield _launch(node)


def _launch(loop: ir.For) -> Launch:
    grid: list[ir.Expr] = []
    block_vars: list[ir.Var] = []
    stmt: ir.Stmt = loop
    while isinstance(stmt, ir.For) and stmt.thread_binding is not None:
        grid.append(stmt.extent)
        block_vars.append(stmt.loop_var)
        stmt = stmt.body
    block = next(n for n in ir.walk(stmt) if isinstance(n, ir.SBlock))
    threads = block.annotations.get("tl.launch_threads")
    extents = tuple(t.value for t in threads if isinstance(t, ir.IntImm)) if isinstance(threads, list) else ()
    return Launch(tuple(grid), tuple(block_vars), extents, block, loop.line)
