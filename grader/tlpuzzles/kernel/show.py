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
_CALL_SIGNS = {
    "tirx.bitwise_and": "&",
    "tirx.bitwise_or": "|",
    "tirx.bitwise_xor": "^",
    "tirx.shift_left": "<<",
    "tirx.shift_right": ">>",
}
_FUNCTIONS: dict[type[ir.Expr], str] = {ir.Min: "T.min", ir.Max: "T.max"}
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
    if isinstance(expr, ir.Binary) and type(expr) in _FUNCTIONS:
        return f"{_FUNCTIONS[type(expr)]}({show(expr.a, depth + 1)}, {show(expr.b, depth + 1)})"
    if isinstance(expr, ir.Call) and expr.op in _CALL_SIGNS and len(expr.args) == 2:
        a, b = (_operand(expr, arg, depth) for arg in expr.args)
        return f"{a} {_CALL_SIGNS[expr.op]} {b}"
    return "..."


def _operand(parent: ir.Binary | ir.Call, operand: ir.Expr, depth: int) -> str:
    text = show(operand, depth + 1)
    if isinstance(operand, ir.Call):
        return f"({text})" if operand.op in _CALL_SIGNS else text
    if not isinstance(operand, ir.Binary) or type(operand) in _FUNCTIONS:
        return text
    if isinstance(parent, _LOOSE) and (operand is parent.a or not isinstance(operand, _LOOSE)):
        return text
    return f"({text})"
