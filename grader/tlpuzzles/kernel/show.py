"""Expressions of a kernel as a learner would write them, for messages."""

from __future__ import annotations

from tlpuzzles.kernel import tile_ir as ir

_SIGNS: dict[type[ir.Expr], str] = {
    ir.Add: "+",
    ir.Sub: "-",
    ir.Mul: "*",
    ir.Div: "/",
    ir.Mod: "%",
    ir.FloorDiv: "//",
    ir.FloorMod: "%",
    ir.EQ: "==",
    ir.NE: "!=",
    ir.LT: "<",
    ir.LE: "<=",
    ir.GT: ">",
    ir.GE: ">=",
}
_LOOSE = (ir.Add, ir.Sub)
_DEEPEST = 4


def show(expr: ir.Expr, depth: int = 0) -> str:
    """The expression on one line; "..." for what would be long or has no short form."""
    if depth > _DEEPEST:
        return "..."
    if isinstance(expr, ir.Var):
        return expr.name or "?"
    if isinstance(expr, (ir.IntImm, ir.FloatImm)):
        return str(expr.value)
    if isinstance(expr, ir.Cast):
        return show(expr.value, depth)
    if isinstance(expr, ir.Ramp):
        return f"{show(expr.base, depth + 1)}:..."
    if isinstance(expr, ir.BufferLoad):
        if expr.buffer.scope == ir.Scope.VARIABLE:
            return expr.buffer.name or "?"
        return f"{expr.buffer.name}[{', '.join(show(index, depth + 1) for index in expr.indices)}]"
    if isinstance(expr, ir.Binary) and type(expr) in _SIGNS:
        return f"{_operand(expr, expr.a, depth)} {_SIGNS[type(expr)]} {_operand(expr, expr.b, depth)}"
    return "..."


def _operand(parent: ir.Binary, operand: ir.Expr, depth: int) -> str:
    text = show(operand, depth + 1)
    if isinstance(operand, ir.Binary) and not (isinstance(parent, _LOOSE) and operand is parent.a):
        tight = isinstance(parent, _LOOSE) and not isinstance(operand, _LOOSE)
        return text if tight else f"({text})"
    return text
