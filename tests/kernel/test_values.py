"""What whole numbers an expression can be."""

from __future__ import annotations

import random

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.values import Interval, constant, interval

SIGNS = (ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Mod, ir.FloorDiv, ir.FloorMod, ir.Min, ir.Max)


def _number(value: int) -> ir.IntImm:
    return ir.IntImm("int32", value)


def _value(kind: type[ir.Binary], a: int, b: int) -> int:
    if kind is ir.Div:
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    if kind is ir.Mod:
        return abs(a) % abs(b) * (1 if a >= 0 else -1)
    return {
        ir.Add: lambda: a + b,
        ir.Sub: lambda: a - b,
        ir.Mul: lambda: a * b,
        ir.FloorDiv: lambda: a // b,
        ir.FloorMod: lambda: a % b,
        ir.Min: lambda: min(a, b),
        ir.Max: lambda: max(a, b),
    }[kind]()


def test_numbers_are_computed_exactly() -> None:
    for kind in SIGNS:
        for a in range(-7, 8):
            for b in (-3, -1, 1, 2, 5):
                found = constant(kind("int32", _number(a), _number(b)))
                assert found in (_value(kind, a, b), None), (kind, a, b)
                assert found is not None or a < 0 or b < 0


def test_an_interval_holds_every_value_that_its_expression_takes() -> None:
    rng = random.Random(3)
    x, y = ir.Var("int32", "x"), ir.Var("int32", "y")
    for _ in range(400):
        kind = rng.choice(SIGNS)
        low, high = sorted((rng.randint(-9, 9), rng.randint(-9, 9)))
        least, most = sorted((rng.randint(-4, 6), rng.randint(-4, 6)))
        found = interval(kind("int32", x, y), {x: Interval(low, high), y: Interval(least, most)})
        if found is None:
            continue
        values = [_value(kind, a, b) for a in range(low, high + 1) for b in range(least, most + 1)]
        assert found.low <= min(values)
        assert found.high >= max(values)


def test_a_number_that_grows_without_end_is_given_up() -> None:
    expr: ir.Expr = _number(3)
    for _ in range(200):
        expr = ir.Mul("int32", expr, expr)
    assert interval(expr, {}) is None


def test_what_is_unknown_stays_unknown() -> None:
    assert constant(ir.Add("int32", ir.Var("int32", "x"), _number(1))) is None
    assert constant(ir.FloorDiv("int32", _number(1), _number(0))) is None
