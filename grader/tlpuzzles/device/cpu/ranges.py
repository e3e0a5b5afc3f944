"""What is known of an index before the kernel runs: its linear form and its range.

An index whose range is within its buffer needs no test when the kernel runs, and only loops without tests are fast. The
linear form (a sum of variables and constants, each times a constant) also tells which loop variables an index follows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, fields

from tlpuzzles.kernel import tile_ir as ir


@dataclass(frozen=True)
class Interval:
    """All integers from `low` to `high`, both included; infinite where unknown."""

    low: float
    high: float

    @property
    def is_known(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def within(self, low: float, high: float) -> bool:
        return low <= self.low and self.high <= high

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))


ANYTHING = Interval(-math.inf, math.inf)


@dataclass(frozen=True)
class Linear:
    """`constant` plus the sum of coefficient * atom. An atom is a variable or a term that is not linear."""

    terms: dict[Hashable, int]
    constant: int

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * coefficient
        return Linear({a: c for a, c in terms.items() if c}, self.constant + factor * other.constant)

    def times(self, factor: int) -> Linear:
        return Linear({a: c * factor for a, c in self.terms.items()} if factor else {}, self.constant * factor)


@dataclass(frozen=True)
class _Term:
    """A term that is not linear; equal to every other term of the same structure."""

    key: Hashable


class Ranges:
    """Linear forms and ranges of index expressions, given the ranges of the variables in scope."""

    def __init__(self) -> None:
        self._variables: dict[ir.Var, Interval] = {}
        self._definitions: dict[ir.Var, ir.Expr] = {}
        self._terms: dict[Hashable, Interval] = {}
        self._in_term: dict[Hashable, frozenset[ir.Var]] = {}
        self._reading: set[Hashable] = set()
        # Without it, nested divisions take time exponential in their depth.
        self._known: dict[int, tuple[ir.Expr, Linear]] = {}

    def put(self, var: ir.Var, interval: Interval) -> None:
        self._variables[var] = interval
        self._known.clear()

    def define(self, var: ir.Var, value: ir.Expr) -> None:
        """`var` names `value`, which reads no memory."""
        self._definitions[var] = value
        self._known.clear()

    def range(self, expr: ir.Expr) -> Interval:
        return self._range(self.linear(expr))

    def _range(self, form: Linear) -> Interval:
        low: float = form.constant
        high: float = form.constant
        for atom, coefficient in form.terms.items():
            of = self._variables.get(atom, ANYTHING) if isinstance(atom, ir.Var) else self._terms.get(atom, ANYTHING)
            ends = (coefficient * of.low, coefficient * of.high)
            low, high = low + min(ends), high + max(ends)
        return Interval(low, high)

    def variables(self, atom: Hashable) -> frozenset[ir.Var]:
        """The variables that an atom of a linear form depends on."""
        return frozenset({atom}) if isinstance(atom, ir.Var) else self._in_term.get(atom, frozenset())

    def reads_memory(self, atom: Hashable) -> bool:
        """Whether the atom is a term whose value may change although its variables do not."""
        return atom in self._reading

    def linear(self, expr: ir.Expr) -> Linear:
        known = self._known.get(id(expr))
        if known is None:
            known = self._known[id(expr)] = (expr, self._linear(expr))
        return known[1]

    def _linear(self, expr: ir.Expr) -> Linear:
        if isinstance(expr, ir.IntImm):
            return Linear({}, expr.value)
        if isinstance(expr, ir.Var):
            definition = self._definitions.get(expr)
            return Linear({expr: 1}, 0) if definition is None else self.linear(definition)
        if isinstance(expr, ir.Add):
            return self.linear(expr.a).plus(self.linear(expr.b))
        if isinstance(expr, ir.Sub):
            return self.linear(expr.a).plus(self.linear(expr.b), -1)
        if isinstance(expr, ir.Cast) and expr.dtype in ("int32", "int64") and expr.value.dtype in ("int32", "int64"):
            return self.linear(expr.value)
        if isinstance(expr, ir.Mul):
            a, b = self.linear(expr.a), self.linear(expr.b)
            if not a.terms:
                return b.times(a.constant)
            if not b.terms:
                return a.times(b.constant)
        return self._nonlinear(expr)

    def _nonlinear(self, expr: ir.Expr) -> Linear:
        interval = ANYTHING
        if isinstance(expr, (ir.FloorDiv, ir.Div, ir.FloorMod, ir.Mod)):
            dividend = self.range(expr.a)
            divisor = self.linear(expr.b)
            # Truncating and flooring division agree on what is not negative.
            floors = isinstance(expr, (ir.FloorDiv, ir.FloorMod)) or dividend.low >= 0
            if not divisor.terms and divisor.constant > 0 and floors:
                by = divisor.constant
                if isinstance(expr, (ir.FloorMod, ir.Mod)):
                    if dividend.within(0, by - 1):
                        return self.linear(expr.a)
                    interval = Interval(0, by - 1)
                elif dividend.is_known:
                    interval = Interval(math.floor(dividend.low) // by, math.floor(dividend.high) // by)
        elif isinstance(expr, ir.Min):
            a, b = self.range(expr.a), self.range(expr.b)
            interval = Interval(min(a.low, b.low), min(a.high, b.high))
        elif isinstance(expr, ir.Max):
            a, b = self.range(expr.a), self.range(expr.b)
            interval = Interval(max(a.low, b.low), max(a.high, b.high))
        elif isinstance(expr, ir.Select):
            interval = self.range(expr.true_value).union(self.range(expr.false_value))
        elif isinstance(expr, ir.Mul):
            a, b = self.range(expr.a), self.range(expr.b)
            if a.is_known and b.is_known:
                corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
                interval = Interval(min(corners), max(corners))
        term = _Term(self.key(expr))
        self._terms[term] = interval
        self._in_term[term] = frozenset(self._below(expr))
        if reads_memory(expr):
            self._reading.add(term)
        return Linear({term: 1}, 0)

    def _below(self, expr: ir.Node) -> set[ir.Var]:
        found: set[ir.Var] = set()
        for node in ir.walk(expr):
            if isinstance(node, ir.Var):
                definition = self._definitions.get(node)
                found |= {node} if definition is None else self._below(definition)
        return found

    def key(self, node: object) -> Hashable:
        """Equal for expressions of the same structure over the same variables and buffers."""
        if isinstance(node, (ir.Var, ir.Buffer)):
            return id(node)
        if isinstance(node, ir.Node):
            return (type(node).__name__, *(self.key(getattr(node, field.name)) for field in fields(node)))
        if isinstance(node, (list, tuple)):
            return tuple(self.key(item) for item in node)
        if isinstance(node, dict):
            return tuple((self.key(k), self.key(v)) for k, v in node.items())
        return node if isinstance(node, Hashable) else id(node)


def reads_memory(expr: ir.Expr) -> bool:
    """Whether the expression's value may change although its variables do not."""
    return any(isinstance(node, (ir.BufferLoad, ir.Call)) for node in ir.walk(expr))
