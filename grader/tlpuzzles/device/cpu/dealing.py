"""How TileLang deals the rounds of a T.Parallel out to the threads, as far as prints show it.

For results it is no matter which threads run a round, or how many: they do the same. But each of them prints. Found in
the CUDA that TileLang 0.1.15 generates:

- A loop goes with the fragments that it indexes by its variables. A fragment of fewer elements than the block has
  threads is held several times, and every holder runs the round.
- Else a loop that stores into tensors or shared tiles is dealt out: one thread for each round.
- Else a loop whose rounds differ and that reads a fragment is dealt out; fewer rounds than threads run several times.
- Else every thread runs every round; or, if the rounds do not differ, one in their stead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeGuard

from tlpuzzles.device.cpu.threads import ATOMICS, is_print
from tlpuzzles.kernel import tile_ir as ir


@dataclass(frozen=True)
class Dealt:
    """Who runs the rounds of a nest of parallel loops that prints."""

    holders: int
    """Threads that run one round, where rounds are dealt out."""
    step: int
    """From one of them to the next."""
    serial: tuple[ir.For, ...] | None = None
    """The loops that every thread runs as a whole, if rounds are not dealt out."""


ONE_EACH = Dealt(1, 1)


def dealt(nest: Sequence[ir.For], body: ir.Stmt, threads: int) -> Dealt:
    """ONE_EACH also for what prints nothing."""
    nodes = list(ir.walk(body))
    if not any(is_print(node) for node in nodes):
        return ONE_EACH
    variables = {loop.loop_var for loop in nest if not _is_one(loop.extent)}
    differ = any(node in variables for node in nodes if isinstance(node, ir.Var))
    fragments = [node for node in nodes if _is_of_fragment(node)]
    held = [_product(node.buffer.shape) for node in fragments if _names(node, variables)]
    if held:
        return _held(max(held), threads)
    if any(_stores_to_memory(node) for node in nodes):
        return ONE_EACH
    if differ and fragments:
        return _held(_product([loop.extent for loop in nest]), threads)
    return Dealt(1, 1, tuple(loop for loop in nest if differ or _is_one(loop.extent)))


def _held(elements: int, threads: int) -> Dealt:
    return Dealt(max(1, threads // elements), elements)


def _stores_to_memory(node: ir.Node) -> bool:
    if isinstance(node, ir.BufferStore):
        return node.buffer.scope == ir.Scope.GLOBAL.value or node.buffer.scope.startswith("shared")
    return isinstance(node, ir.Call) and node.op in ATOMICS


def _is_of_fragment(node: ir.Node) -> TypeGuard[ir.BufferLoad | ir.BufferStore]:
    return isinstance(node, (ir.BufferLoad, ir.BufferStore)) and node.buffer.scope == ir.Scope.FRAGMENT.value


def _names(element: ir.BufferLoad | ir.BufferStore, variables: set[ir.Var]) -> bool:
    """Whether an index depends on one of the variables."""
    below = (node for index in element.indices for node in ir.walk(index))
    return any(node in variables for node in below if isinstance(node, ir.Var))


def _product(extents: Sequence[ir.Expr]) -> int:
    return max(1, prod(extent.value for extent in extents if isinstance(extent, ir.IntImm)))


def _is_one(extent: ir.Expr) -> bool:
    return isinstance(extent, ir.IntImm) and extent.value == 1
