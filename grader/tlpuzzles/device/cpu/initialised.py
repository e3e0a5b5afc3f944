"""Refuses atomic updates of tensors that the kernel never sets: a graded output starts as NaN, not as zero."""

from __future__ import annotations

from collections.abc import Iterator

from tlpuzzles.device.cpu.threads import ATOMICS
from tlpuzzles.device.cpu.unsupported import Unsupported
from tlpuzzles.kernel import tile_ir as ir

_REGION_UPDATES = {
    "tl.tileop.atomicadd": "T.atomic_add",
    "tl.tileop.atomicmax": "T.atomic_max",
    "tl.tileop.atomicmin": "T.atomic_min",
}


def check_updates(func: ir.PrimFunc) -> None:
    """Raises Unsupported for an atomic update of a tensor without any plain write to it."""
    updated: list[tuple[ir.Buffer, str, int | None]] = []
    written: set[ir.Var] = set()
    for stmt in _statements(func.body):
        line = stmt.line
        for node in ir.walk(stmt.value) if isinstance(stmt, (ir.Evaluate, ir.Bind, ir.BufferStore)) else ():
            if not isinstance(node, ir.Call):
                continue
            if node.op in ATOMICS:
                buffer = _target(node.args[:1])
                if buffer is not None:
                    updated.append((buffer, "T." + "_".join(node.op.removeprefix("tl.").split("_")[:2]), line))
            elif node.op in _REGION_UPDATES:
                buffer = _target(node.args[1:2])
                if buffer is not None:
                    updated.append((buffer, _REGION_UPDATES[node.op], line))
            elif node.op == "tl.atomic_store_elem_op" or node.op.startswith("tl.tileop."):
                written.update(_written(node))
        if isinstance(stmt, ir.BufferStore):
            written.add(stmt.buffer.data)
    for buffer, construct, line in updated:
        if buffer.scope == ir.Scope.GLOBAL.value and buffer.data not in written:
            raise Unsupported(
                f"{construct} to {buffer.name}",
                line,
                f"{buffer.name} does not start at zero (outputs start as NaN, so that every element must be written)",
                "Write each element once: let one block loop over all of K, or clear the tensor in a launch before.",
            )


def _statements(body: ir.Stmt) -> Iterator[ir.Stmt]:
    return (node for node in ir.walk(body) if isinstance(node, ir.Stmt))


def _target(pointer: list[ir.Expr]) -> ir.Buffer | None:
    """The buffer that an argument points to; the list holds the argument, or nothing where it is missing."""
    return next((n.buffer for arg in pointer for n in ir.walk(arg) if isinstance(n, ir.BufferLoad)), None)


def _written(call: ir.Call) -> Iterator[ir.Var]:
    """Memory that a tile operation writes: the regions that it takes with the right to."""
    if call.op == "tl.atomic_store_elem_op":
        buffer = _target(call.args[:1])
        if buffer is not None:
            yield buffer.data
    for arg in call.args:
        if isinstance(arg, ir.Call) and arg.op == "tl.region" and len(arg.args) > 1:
            mask = arg.args[1]
            if isinstance(mask, ir.IntImm) and mask.value & 2 and isinstance(arg.args[0], ir.BufferLoad):
                yield arg.args[0].buffer.data
