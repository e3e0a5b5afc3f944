"""The tile of the output that a kernel stores at a time: the blocks that its author thinks in."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import Kernel, region
from tlpuzzles.kernel.parameters import Parameters
from tlpuzzles.kernel.steps import Step, expressions
from tlpuzzles.kernel.values import Interval, constant, interval


def output_tile(kernel: Kernel, parameters: Parameters) -> tuple[int, ...] | None:
    """The largest part of the output that one statement stores, as extents along its axes; None if that cannot be said.

    It is a region that a tile operation is given, or what a `T.Parallel` loop goes over. It may reach past the end of
    the output.
    """
    output = parameters.buffers[parameters.output]
    tiles = []
    for step in kernel.steps:
        for extents in _stored(step, output, parameters):
            tile = tuple(extent for extent in extents if extent is not None and extent > 0)
            if len(tile) == len(output.shape):
                tiles.append(tile)
    return max(tiles, key=prod, default=None)


def _stored(step: Step, output: ir.Buffer, parameters: Parameters) -> Iterator[list[int | None]]:
    if isinstance(step.stmt, ir.BufferStore) and step.stmt.buffer.data is output.data:
        yield [_reach(index, step, parameters) for index in step.stmt.indices]
        return
    for node in (node for expr in expressions(step.stmt) for node in ir.walk(expr)):
        if isinstance(node, ir.Call) and node.op == "tl.region" and (part := region(node)).buffer.data is output.data:
            yield [constant(extent, parameters.sizes) for extent in part.extents]


def _reach(index: ir.Expr, step: Step, parameters: Parameters) -> int | None:
    """How many values an index may take while all but the parallel loops stands still."""
    ranges = {node: Interval(0, 0) for node in ir.walk(index) if isinstance(node, ir.Var)}
    for loop in step.parallel:
        extent = constant(loop.extent, parameters.sizes)
        if extent is None:
            return None
        ranges[loop.loop_var] = Interval(0, extent - 1)
    found = interval(index, ranges)
    return None if found is None else found.high - found.low + 1
