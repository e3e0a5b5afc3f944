"""Regions of buffers as tile operations take them, and the loops over them."""

from __future__ import annotations

from dataclasses import dataclass

from tlpuzzles.device.cpu.expressions import Expressions
from tlpuzzles.kernel import tile_ir as ir


@dataclass(frozen=True)
class Region:
    """`extents[d]` indices from `mins[d]` on, in every dimension d of the buffer."""

    buffer: ir.Buffer
    mins: tuple[ir.Expr, ...]
    extents: tuple[ir.Expr, ...]

    @property
    def moving(self) -> tuple[int, ...]:
        """Dimensions that an operation runs over: those of any extent but one."""
        return tuple(d for d, extent in enumerate(self.extents) if not is_one(extent))

    @property
    def is_global(self) -> bool:
        return self.buffer.scope == ir.Scope.GLOBAL.value


def is_one(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.IntImm) and expr.value == 1


@dataclass(frozen=True)
class Side:
    """One operand of a tile operation in C++. Indices of tiles have been tested where this was made."""

    region: Region
    data: str
    mins: tuple[str, ...]
    extents: tuple[str, ...]
    """Of the buffer."""
    strides: tuple[str, ...]

    @property
    def offset(self) -> str:
        return " + ".join(f"({m}) * {s}" for m, s in zip(self.mins, self.strides, strict=True)) or "0"

    def condition(self, without: tuple[int, ...]) -> str:
        """Whether the tensor's other dimensions are in range; "true" for tiles."""
        if not self.region.is_global:
            return "true"
        tests = [f"tile::inside({self.mins[d]}, {self.extents[d]})" for d in range(len(self.mins)) if d not in without]
        return " && ".join(tests) or "true"

    def axis(self, dimension: int | None) -> str:
        """`tile::Side` for one axis of an operation; None: the operand stays where it is."""
        if dimension is None:
            return "{0, INT64_MAX, 0}"
        if not self.region.is_global:
            return f"{{0, INT64_MAX, {self.strides[dimension]}}}"
        return f"{{{self.mins[dimension]}, {self.extents[dimension]}, {self.strides[dimension]}}}"


class Regions:
    def __init__(self, expressions: Expressions) -> None:
        self._on = expressions

    def decode(self, expr: ir.Expr) -> Region:
        """The region that an argument stands for: a `tl.region`, or a single element."""
        if isinstance(expr, ir.BufferLoad):
            return self._of(expr, [ir.IntImm("int32", 1)] * len(expr.indices))
        if isinstance(expr, ir.Call) and expr.op == "tl.region" and len(expr.args) > 2:
            load, _, *extents = expr.args
            if isinstance(load, ir.BufferLoad) and len(load.indices) == len(extents):
                return self._of(load, extents)
        raise self._on.scope.unsupported("a tile operation", "an argument of it is not a region of a buffer")

    def _of(self, load: ir.BufferLoad, extents: list[ir.Expr]) -> Region:
        mins: list[ir.Expr] = []
        counts: list[ir.Expr] = []
        for index, extent in zip(load.indices, extents, strict=True):
            if isinstance(index, ir.Ramp):
                mins.append(index.base)
                counts.append(index.lanes)
            else:
                mins.append(index)
                counts.append(extent)
        if len(mins) != len(load.buffer.shape):
            raise self._on.scope.unsupported(f"the region of {load.buffer.name}", "it has the wrong number of indices")
        return Region(load.buffer, tuple(mins), tuple(counts))

    def side(self, region: Region, counts: dict[int, str] | None = None) -> Side:
        """Tests a tile's indices when the kernel runs. `counts` are the numbers of indices along dimensions in C++,
        where an operation runs over others than the region says."""
        buffer = region.buffer
        mins: list[str] = []
        extents: list[str] = []
        for dimension, (low, extent) in enumerate(zip(region.mins, region.extents, strict=True)):
            code, _ = self._on.position(buffer, dimension, low)
            if not region.is_global:
                code = self._tested(region, dimension, code, (counts or {}).get(dimension) or self._on.index(extent))
            mins.append(code)
            extents.append(self._on.index(buffer.shape[dimension]))
        return Side(region, self._on.data(buffer), tuple(mins), tuple(extents), tuple(self._on.strides(buffer)))

    def _tested(self, region: Region, dimension: int, code: str, count: str) -> str:
        shape = region.buffer.shape[dimension]
        low = self._on.scope.ranges.range(region.mins[dimension])
        extent = self._on.scope.ranges.range(region.extents[dimension])
        is_plain = count == self._on.index(region.extents[dimension])
        if is_plain and isinstance(shape, ir.IntImm) and low.low >= 0 and low.high + extent.high <= shape.value:
            return code
        return f"tile::span({code}, {count}, {self._on.scope.site(region.buffer, dimension)})"
