"""Where a kernel's statements read and write its tensors, as sums of block numbers and loop indices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import Kernel, region
from tlpuzzles.kernel.parameters import Parameters
from tlpuzzles.kernel.steps import Step, Touch, accesses, expressions, is_grid
from tlpuzzles.kernel.values import constant


@dataclass(frozen=True)
class Place:
    """What one statement reads or writes of a tensor along one of its axes."""

    step: Step
    tensor: str
    axis: str
    """Its name in the contract: the axis of another tensor that is called the same goes with it."""
    writes: bool
    index: ir.Expr
    """Where it begins, as written."""
    strides: Mapping[ir.Var, int]
    """How far each block number and loop index moves it; those of `T.Parallel` are part of the extent."""
    constant: int
    extent: int
    """How many neighbours it has at a time."""

    @property
    def blocks(self) -> tuple[ir.Var, ...]:
        """The block numbers that it follows."""
        return tuple(loop.loop_var for loop in self.step.loops if is_grid(loop) and loop.loop_var in self.strides)


def places(kernel: Kernel, exercise: Exercise, parameters: Parameters) -> Iterator[Place]:
    """In program order. Places that are no such sum, or whose neighbours are not dense, are left out."""
    axes = {spec.name: spec.shape for spec in (*exercise.inputs, exercise.output)}
    tensors = {buffer.data: name for name, buffer in parameters.buffers.items()}
    for step in kernel.steps:
        for data, writes, indices, extents in _touched(step, parameters):
            tensor = tensors.get(data)
            if tensor is None or len(set(axes[tensor])) < len(indices):
                continue
            for axis, index, extent in zip(axes[tensor], indices, extents, strict=True):
                place = _place(step, (tensor, axis, writes), index, extent, kernel.names, parameters)
                if place is not None:
                    yield place


_Touched = tuple[ir.Var, bool, tuple[ir.Expr, ...], tuple["int | None", ...]]


def _touched(step: Step, parameters: Parameters) -> Iterator[_Touched]:
    """Buffers, whether they are written to, where, and how much of them; elements have an extent of 1."""
    for access in accesses(step):
        if access.op == "":
            yield access.buffer.data, access.touch is Touch.WRITE, access.indices, (1,) * len(access.indices)
    for node in (node for expr in expressions(step.stmt) for node in ir.walk(expr)):
        if isinstance(node, ir.Call) and node.op == "tl.region":
            part, mask = region(node), node.args[1]
            writes = isinstance(mask, ir.IntImm) and bool(mask.value & Touch.WRITE.value)
            extents = tuple(constant(extent, parameters.sizes) for extent in part.extents)
            yield part.buffer.data, writes, part.mins, extents


def _place(
    step: Step,
    of: tuple[str, str, bool],
    index: ir.Expr,
    extent: int | None,
    names: Mapping[ir.Var, ir.Expr],
    parameters: Parameters,
) -> Place | None:
    form = _linear(index, names, parameters)
    if form is None or extent is None:
        return None
    strides, begin = form
    parallel = {loop.loop_var: constant(loop.extent, parameters.sizes) for loop in step.parallel}
    inside = [(strides.pop(var), trips) for var, trips in parallel.items() if var in strides]
    if not strides.keys() <= {loop.loop_var for loop in step.loops}:
        return None
    if inside:
        if extent != 1 or any(trips is None for _, trips in inside):
            return None
        counts = [(abs(stride), trips or 0) for stride, trips in inside]
        extent = prod(trips for _, trips in counts)
        if extent != 1 + sum(stride * (trips - 1) for stride, trips in counts):
            return None
    return Place(step, *of, index, strides, begin, extent)


def _linear(
    expr: ir.Expr, names: Mapping[ir.Var, ir.Expr], parameters: Parameters
) -> tuple[dict[ir.Var, int], int] | None:
    """`expr` as variables with their factors and a constant; None if it is no such sum."""
    number = constant(expr, parameters.sizes)
    if number is not None:
        return {}, number
    if isinstance(expr, ir.Var):
        return _linear(names[expr], names, parameters) if expr in names else ({expr: 1}, 0)
    if isinstance(expr, ir.Cast):
        return _linear(expr.value, names, parameters)
    if not isinstance(expr, (ir.Add, ir.Sub, ir.Mul)):
        return None
    a, b = _linear(expr.a, names, parameters), _linear(expr.b, names, parameters)
    if a is None or b is None:
        return None
    if isinstance(expr, ir.Mul):
        (terms, begin), (others, factor) = (b, a) if not a[0] else (a, b)
        return None if others else ({var: factor * stride for var, stride in terms.items() if factor}, begin * factor)
    sign = -1 if isinstance(expr, ir.Sub) else 1
    total = {var: a[0].get(var, 0) + sign * b[0].get(var, 0) for var in (*a[0], *b[0])}
    return {var: stride for var, stride in total.items() if stride}, a[1] + sign * b[1]
