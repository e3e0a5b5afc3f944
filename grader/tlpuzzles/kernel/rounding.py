"""Where a kernel rounds numbers to a short type and then computes with them again.

The statements are followed in the order in which they stand, each once. A write counts as one of the whole buffer: what
is said to be rounded has been, and a kernel that hides it behind a partial write goes unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import TILE_OP, Kernel, region
from tlpuzzles.kernel.steps import Step, Touch, accesses

SHORT = ("float16", "bfloat16")
_PRODUCTS = (f"{TILE_OP}gemm", f"{TILE_OP}wgmma_gemm")
_POWERS = ("tirx.exp", "tirx.exp2", "tirx.exp10", "tl.__exp", "tl.__exp10")
_COMPUTING = ("reduce", "cumsum", "atomic")
"""Parts of the names of tile operations that compute; others move elements and convert them."""
_MOVING = ("tirx.if_then_else", "tirx.likely")
"""Calls that give one of their arguments as it is."""
_EXACT = (ir.Min, ir.Max)
_TRUTHS = (ir.EQ, ir.NE, ir.LT, ir.LE, ir.GT, ir.GE, ir.And, ir.Or)


class Source(Enum):
    """What is followed through the kernel; the values name it for messages."""

    PRODUCTS = "T.gemm"
    POWERS = "T.exp"


@dataclass(frozen=True)
class Rounding:
    """A value that was rounded and is computed with again."""

    rounded: int | None
    """Line of the rounding."""
    tile: str
    """Where the rounded value was kept; "" where it was used at once."""
    used: int | None
    """Line that computes with it."""
    dtype: str


@dataclass(frozen=True)
class _Value:
    """Something that comes from the source: as it was computed, or rounded somewhere."""

    rounded: bool = False
    line: int | None = None
    tile: str = ""
    dtype: str = ""


def roundings(kernel: Kernel, source: Source) -> Iterator[Rounding]:
    """What comes from `source`, is rounded to a short type, and is converted back or computed with thereafter."""
    follower = _Follower(source)
    for step in kernel.steps:
        yield from follower.follow(step)


class _Follower:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.kept: dict[ir.Var, _Value | None] = {}
        """What a buffer holds, or a name stands for."""
        self.found: list[Rounding] = []
        self.line: int | None = None

    def follow(self, step: Step) -> Iterator[Rounding]:
        self.found, self.line = [], step.line
        stmt = step.stmt
        if isinstance(stmt, ir.Bind):
            self.kept[stmt.var] = self.value(stmt.value)
        elif isinstance(stmt, ir.BufferStore):
            self.kept[stmt.buffer.data] = self._in(stmt.buffer, self.value(stmt.value))
        elif isinstance(stmt, ir.Evaluate) and isinstance(stmt.value, ir.Call):
            self._tile_operation(step, stmt.value)
        yield from self.found

    def _tile_operation(self, step: Step, call: ir.Call) -> None:
        touched = list(accesses(step))
        if call.op in _PRODUCTS:
            total = region(call.args[2]).buffer
            if self.source is Source.PRODUCTS:
                self.kept[total.data] = None if total.dtype in SHORT else _Value()
            return
        if not call.op.startswith(TILE_OP):
            return
        computes = any(word in call.op for word in _COMPUTING)
        read = self._joined(self.kept.get(access.buffer.data) for access in touched if Touch.READ in access.touch)
        for access in touched:
            if Touch.WRITE in access.touch:
                buffer = access.buffer
                if read is not None and read.rounded and (computes or buffer.dtype not in SHORT):
                    self._used(read)
                self.kept[buffer.data] = self._in(buffer, read)

    def value(self, expr: ir.Expr) -> _Value | None:
        """What an expression gives, None if nothing of it comes from the source. Notes what it computes with."""
        if isinstance(expr, ir.BufferLoad):
            return self.kept.get(expr.buffer.data)
        if isinstance(expr, ir.Var):
            return self.kept.get(expr)
        below = self._joined([self.value(child) for child in ir.children(expr) if isinstance(child, ir.Expr)])
        if isinstance(expr, _TRUTHS):
            return None
        if isinstance(expr, ir.Cast):
            return self._cast(expr, below)
        if isinstance(expr, ir.Call) and expr.op in _POWERS and self.source is Source.POWERS:
            short = expr.dtype in SHORT
            below = _Value(rounded=short, line=self.line, dtype=expr.dtype)
            if short:
                self._used(below)
            return below
        computes = isinstance(expr, ir.Binary) and not isinstance(expr, _EXACT)
        if (computes or (isinstance(expr, ir.Call) and expr.op not in _MOVING)) and below is not None and below.rounded:
            self._used(below)
        return below

    def _cast(self, expr: ir.Cast, value: _Value | None) -> _Value | None:
        if value is None or not expr.dtype.startswith(("float", "bfloat")):
            return None
        if value.rounded and expr.dtype not in SHORT:
            self._used(value)
        return self._short(expr.dtype, value)

    def _in(self, buffer: ir.Buffer, value: _Value | None) -> _Value | None:
        """The value as it is kept in a buffer."""
        if value is None:
            return None
        value = self._short(buffer.dtype, value)
        return _Value(True, value.line, value.tile or buffer.name, value.dtype) if value.rounded else value

    def _short(self, dtype: str, value: _Value) -> _Value:
        return _Value(True, self.line, "", dtype) if dtype in SHORT and not value.rounded else value

    def _used(self, value: _Value) -> None:
        self.found.append(Rounding(value.line, value.tile, self.line, value.dtype))

    @staticmethod
    def _joined(values: Iterable[_Value | None]) -> _Value | None:
        """Of several values, the one that matters most: a rounded one before others."""
        some = [value for value in values if value is not None]
        return next((value for value in some if value.rounded), some[0] if some else None)
