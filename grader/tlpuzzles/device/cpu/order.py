"""Whether the iterations of a T.Parallel loop touch separate elements, so that their order cannot show.

A GPU runs the iterations in no particular order. Loops whose order may show run backwards in the second of the two runs
that a kernel gets on a CPU; all others run forwards in both, where the compiler can vectorise them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tlpuzzles.device.cpu.ranges import Linear, Ranges, reads_memory
from tlpuzzles.kernel import tile_ir as ir

_MATHEMATICS_PREFIXES = ("tirx.", "tl.__", "tl.ieee_")
_ACTS = {"tirx.call_extern", "tirx.call_pure_extern", "tirx.break_loop", "tirx.continue_loop"}
_PURE = {"tl.infinity", "tl.clamp", "tl.fast_rcp", "tl.fma", "tl.fmul", "tl.pow_of_int", "tl.round_ties_away_from_zero"}


@dataclass(frozen=True)
class _Access:
    buffer: ir.Buffer
    indices: tuple[Linear, ...]


def is_free(loops: list[ir.For], body: ir.Stmt, ranges: Ranges) -> bool:
    """Whether any order of the nest's iterations gives the same result. `ranges` knows its loop variables."""
    stores: list[_Access] = []
    loads: list[_Access] = []
    inner: set[ir.Var] = set()
    for node in ir.walk(body):
        if isinstance(node, (ir.Evaluate, ir.While, ir.AttrStmt)) or (isinstance(node, ir.Call) and not _is_pure(node)):
            return False
        if isinstance(node, ir.For):
            inner.add(node.loop_var)
        elif isinstance(node, ir.Bind):
            if reads_memory(node.value):
                inner.add(node.var)
            else:
                ranges.define(node.var, node.value)
        elif isinstance(node, ir.BufferStore):
            stores.append(_Access(node.buffer, tuple(map(ranges.linear, node.indices))))
        elif isinstance(node, ir.BufferLoad):
            loads.append(_Access(node.buffer, tuple(map(ranges.linear, node.indices))))
    own = [loop.loop_var for loop in loops]
    for store in stores:
        same_memory = [a for a in (*stores, *loads) if a.buffer.data is store.buffer.data]
        if any(access.buffer is not store.buffer for access in same_memory):
            return False
        if not all(_separates(var, own, store, same_memory, inner, ranges) for var in own):
            return False
    return True


def _is_pure(call: ir.Call) -> bool:
    return call.op in _PURE or (call.op.startswith(_MATHEMATICS_PREFIXES) and call.op not in _ACTS)


def _separates(
    var: ir.Var, own: list[ir.Var], store: _Access, same_memory: list[_Access], inner: set[ir.Var], ranges: Ranges
) -> bool:
    """Whether some dimension's index is `var` times a constant plus what does not change in the nest, everywhere."""
    for dimension, form in enumerate(store.indices):
        if not isinstance(form.terms.get(var), int):
            continue
        rest: list[Hashable] = [atom for atom in form.terms if atom is not var]
        changing = {*own, *inner}
        if any(ranges.variables(atom) & changing or ranges.reads_memory(atom) for atom in rest):
            continue
        if all(access.indices[dimension] == form for access in same_memory):
            return True
    return False
