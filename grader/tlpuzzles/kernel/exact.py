"""What whole numbers and conditions in a kernel are in one iteration: of one thread, in one trip of each loop."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.reach import PRIVATE, Definition, Definitions
from tlpuzzles.kernel.steps import Step

_WARP, _WARP_GROUP = 32, 128
_DEEPEST = 16
"""Names that stand for names that stand for names: so many are looked through."""

THREAD_INDEX = "tl.launch_thread_idx"
THREAD_INDICES = frozenset(
    {THREAD_INDEX, "tl.get_lane_idx", "tl.get_warp_idx", "tl.get_warp_idx_sync", "tl.get_warp_group_idx"}
)
"""Operators whose value differs from thread to thread."""


Own = Callable[[ir.Expr], Hashable]
"""Tells an iteration from others, as far as a value depends on it."""


@dataclass(frozen=True)
class Thread:
    """One thread of a block."""

    place: tuple[int, ...]
    """Along x, y, z."""
    number: int
    """Counted along x first, as warps are cut."""


class Marks:
    """Gives equal expressions over equal elements one number, across iterations."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, parts: Hashable) -> int:
        return self._numbers.setdefault(parts, len(self._numbers))


class Exact:
    """Values of expressions in one iteration.

    A value is None where it depends on what is in memory, on another thread, or on a float. Everything is computed
    once: expressions share their parts, and without that the work can double with each level.
    """

    def __init__(self, definitions: Definitions, variables: Mapping[ir.Var, int], thread: Thread | None) -> None:
        self._definitions = definitions
        self._variables = variables
        self._thread = thread
        self._deep = 0
        self._known: dict[tuple[int, int], int | None] = {}
        self._marked: dict[tuple[int, int], int] = {}

    def of(self, expr: ir.Expr, at: Step) -> int | None:
        """The whole number, or 1 and 0 for a condition. `at`: the statement that evaluates it."""
        key = (id(expr), id(at))
        if key not in self._known:
            self._known[key] = None
            self._known[key] = _wrapped(self._of(expr, at), expr.dtype)
        return self._known[key]

    def _of(self, expr: ir.Expr, at: Step) -> int | None:
        if isinstance(expr, ir.IntImm):
            return expr.value
        if isinstance(expr, ir.Var) and expr in self._variables:
            return self._variables[expr]
        if isinstance(expr, (ir.Var, ir.BufferLoad)):
            definition = self._definition(expr, at)
            return None if definition is None else self._defined(definition)
        if isinstance(expr, (ir.And, ir.Or)):
            return self._joined(expr, at)
        if isinstance(expr, ir.Binary):
            combine = _COMBINE.get(type(expr))
            return None if combine is None else self._combined(combine, [expr.a, expr.b], at)
        if isinstance(expr, ir.Not):
            return self._combined(lambda a: not a, [expr.a], at)
        if isinstance(expr, ir.Cast):
            return self.of(expr.value, at)
        if isinstance(expr, ir.Select):
            return self._chosen(expr.condition, expr.true_value, expr.false_value, at)
        if isinstance(expr, ir.Call):
            return self._called(expr, at)
        return None

    def _defined(self, definition: Definition) -> int | None:
        if self._deep == _DEEPEST:
            return None
        self._deep += 1
        value = self.of(definition.value, definition.step)
        self._deep -= 1
        return value

    def _called(self, call: ir.Call, at: Step) -> int | None:
        if call.op == "tirx.if_then_else" and len(call.args) == 3:
            return self._chosen(call.args[0], call.args[1], call.args[2], at)
        if call.op == "tirx.likely" and len(call.args) == 1:
            return self.of(call.args[0], at)
        if call.op in THREAD_INDICES:
            return None if self._thread is None else _of_thread(call, self._thread)
        combine = _COMBINE_CALLS.get(call.op)
        return None if combine is None or len(call.args) != 2 else self._combined(combine, call.args, at)

    def _combined(self, combine: Callable[..., int | None], operands: list[ir.Expr], at: Step) -> int | None:
        values = [self.of(operand, at) for operand in operands]
        return None if None in values else combine(*values)

    def _joined(self, expr: ir.And | ir.Or, at: Step) -> int | None:
        values = (self.of(expr.a, at), self.of(expr.b, at))
        decides = 0 if isinstance(expr, ir.And) else 1
        if any(value is not None and bool(value) == bool(decides) for value in values):
            return decides
        return None if None in values else 1 - decides

    def _chosen(self, condition: ir.Expr, yes: ir.Expr, no: ir.Expr, at: Step) -> int | None:
        chosen = self.of(condition, at)
        return None if chosen is None else self.of(yes if chosen else no, at)

    def _definition(self, expr: ir.Var | ir.BufferLoad, at: Step) -> Definition | None:
        return self._definitions.bound(expr, at) if isinstance(expr, ir.Var) else self._definitions.stored(expr, at)

    # Marks

    def mark(self, expr: ir.Expr, at: Step, marks: Marks, own: Own) -> int:
        """Equal for two iterations that compute the same from the same elements. `own`: asked where it cannot be seen
        what a thread's own variable holds, or which thread it is."""
        key = (id(expr), id(at))
        if key not in self._marked:
            self._marked[key] = -1
            self._marked[key] = marks.of(self._parts(expr, at, marks, own))
        return self._marked[key]

    def _parts(self, expr: ir.Expr, at: Step, marks: Marks, own: Own) -> Hashable:
        value = self.of(expr, at)
        if value is not None:
            return value
        definition = self._definition(expr, at) if isinstance(expr, (ir.Var, ir.BufferLoad)) else None
        if definition is not None:
            return self._defined_parts(definition, marks, own)
        if isinstance(expr, ir.BufferLoad):
            inside = [self.mark(index, at, marks, own) for index in expr.indices]
            return ("load", id(expr.buffer.data), *inside, own(expr) if expr.buffer.scope in PRIVATE else None)
        if isinstance(expr, (ir.FloatImm, ir.StringImm)):
            return type(expr).__name__, expr.value
        if isinstance(expr, ir.Var):
            return "variable", id(expr)
        if isinstance(expr, ir.Call) and expr.op in THREAD_INDICES:
            return expr.op, own(expr)
        below = [self.mark(child, at, marks, own) for child in ir.children(expr) if isinstance(child, ir.Expr)]
        return (type(expr).__name__, expr.op if isinstance(expr, ir.Call) else "", expr.dtype, *below)

    def _defined_parts(self, definition: Definition, marks: Marks, own: Own) -> Hashable:
        if self._deep == _DEEPEST:
            return "too deep"
        self._deep += 1
        parts = "is", self.mark(definition.value, definition.step, marks, own)
        self._deep -= 1
        return parts


def _of_thread(call: ir.Call, thread: Thread) -> int | None:
    if call.op == THREAD_INDEX:
        axis = call.args[0] if call.args else None
        if not isinstance(axis, ir.IntImm) or axis.value not in (0, 1, 2):
            return None
        return thread.place[axis.value] if axis.value < len(thread.place) else 0
    if call.args:  # warps of another size
        return None
    if call.op == "tl.get_lane_idx":
        return thread.number % _WARP
    return thread.number // (_WARP_GROUP if call.op == "tl.get_warp_group_idx" else _WARP)


def _wrapped(value: int | None, dtype: str) -> int | None:
    """As a GPU keeps it. Without this, numbers could also grow without end."""
    if value is None:
        return None
    if dtype == "bool":
        return int(bool(value))
    kind = "uint" if dtype.startswith("uint") else "int"
    width = dtype.removeprefix(kind)
    if not dtype.startswith(kind) or not width.isdigit():
        return None
    bits = int(width)
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if kind == "int" and low >> (bits - 1) else low


def _truncated(a: int, b: int) -> int | None:
    if not b:
        return None
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int | None:
    quotient = _truncated(a, b)
    return None if quotient is None else a - b * quotient


def _shifted(left: bool) -> Callable[[int, int], int | None]:
    return lambda a, b: None if not 0 <= b < 64 else a << b if left else a >> b


_COMBINE: Mapping[type[ir.Binary], Callable[[int, int], int | None]] = {
    ir.Add: lambda a, b: a + b,
    ir.Sub: lambda a, b: a - b,
    ir.Mul: lambda a, b: a * b,
    ir.Div: _truncated,
    ir.Mod: _remainder,
    ir.FloorDiv: lambda a, b: a // b if b else None,
    ir.FloorMod: lambda a, b: a % b if b else None,
    ir.Min: min,
    ir.Max: max,
    ir.EQ: lambda a, b: a == b,
    ir.NE: lambda a, b: a != b,
    ir.LT: lambda a, b: a < b,
    ir.LE: lambda a, b: a <= b,
    ir.GT: lambda a, b: a > b,
    ir.GE: lambda a, b: a >= b,
}
_COMBINE_CALLS: Mapping[str, Callable[[int, int], int | None]] = {
    "tirx.bitwise_and": lambda a, b: a & b,
    "tirx.bitwise_or": lambda a, b: a | b,
    "tirx.bitwise_xor": lambda a, b: a ^ b,
    "tirx.shift_left": _shifted(left=True),
    "tirx.shift_right": _shifted(left=False),
}
