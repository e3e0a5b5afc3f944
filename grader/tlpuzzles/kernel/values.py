"""What the whole numbers in a kernel's expressions can be: extents, grid sizes, numbers of trips."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tlpuzzles.kernel import tile_ir as ir

_LIMIT = 1 << 62


@dataclass(frozen=True)
class Interval:
    """The whole numbers from `low` to `high`, both counted."""

    low: int
    high: int

    @property
    def only(self) -> int | None:
        """The number, if there is but one."""
        return self.low if self.low == self.high else None


Ranges = Mapping[ir.Var, Interval]
"""What is known of variables."""


def interval(expr: ir.Expr, ranges: Ranges) -> Interval | None:
    """The numbers that `expr` can be, perhaps with more around them; None if that cannot be said.

    Exact where every variable in it has but one value.
    """
    known: dict[int, Interval | None] = {}

    def visit(node: ir.Expr) -> Interval | None:
        if id(node) not in known:
            known[id(node)] = _sane(_interval(node, ranges, visit))
        return known[id(node)]

    return visit(expr)


def constant(expr: ir.Expr, ranges: Ranges | None = None) -> int | None:
    """The number that `expr` is, or None."""
    found = interval(expr, ranges or {})
    return None if found is None else found.only


def _sane(found: Interval | None) -> Interval | None:
    return found if found is not None and found.low > -_LIMIT and found.high < _LIMIT else None


def _interval(node: ir.Expr, ranges: Ranges, visit: Callable[[ir.Expr], Interval | None]) -> Interval | None:
    if isinstance(node, ir.IntImm):
        return Interval(node.value, node.value)
    if isinstance(node, ir.Var):
        return ranges.get(node)
    if isinstance(node, ir.Cast):
        # A narrowing cast could wrap around; sizes of kernels are far from that.
        return visit(node.value)
    if isinstance(node, ir.Binary):
        a, b = visit(node.a), visit(node.b)
        combine = _COMBINE.get(type(node))
        return None if a is None or b is None or combine is None else combine(a, b)
    if isinstance(node, ir.Select):
        return _either(visit(node.true_value), visit(node.false_value))
    if isinstance(node, ir.Call) and node.op == "tirx.if_then_else" and len(node.args) == 3:
        return _either(visit(node.args[1]), visit(node.args[2]))
    return None


def _either(a: Interval | None, b: Interval | None) -> Interval | None:
    return None if a is None or b is None else Interval(min(a.low, b.low), max(a.high, b.high))


def _corners(combine: Callable[[int, int], int]) -> Callable[[Interval, Interval], Interval]:
    def both(a: Interval, b: Interval) -> Interval:
        values = [combine(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return Interval(min(values), max(values))

    return both


def _quotient(combine: Callable[[int, int], int]) -> Callable[[Interval, Interval], Interval | None]:
    corners = _corners(combine)
    return lambda a, b: None if b.low <= 0 <= b.high else corners(a, b)


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _floor_remainder(a: Interval, b: Interval) -> Interval | None:
    if a.only is not None and b.only:
        return Interval(a.only % b.only, a.only % b.only)
    if b.low <= 0:
        return None
    if a.low >= 0 and a.high < b.low:
        return a
    return Interval(0, b.high - 1)


def _truncated_remainder(a: Interval, b: Interval) -> Interval | None:
    if a.only is not None and b.only:
        remainder = a.only - b.only * _truncated(a.only, b.only)
        return Interval(remainder, remainder)
    if a.low >= 0:
        return _floor_remainder(a, b)
    return None if b.low <= 0 else Interval(1 - b.high, b.high - 1)


_COMBINE: Mapping[type[ir.Binary], Callable[[Interval, Interval], Interval | None]] = {
    ir.Add: lambda a, b: Interval(a.low + b.low, a.high + b.high),
    ir.Sub: lambda a, b: Interval(a.low - b.high, a.high - b.low),
    ir.Mul: _corners(lambda x, y: x * y),
    ir.Div: _quotient(_truncated),
    ir.FloorDiv: _quotient(lambda x, y: x // y),
    ir.Mod: _truncated_remainder,
    ir.FloorMod: _floor_remainder,
    ir.Min: _corners(min),
    ir.Max: _corners(max),
}
