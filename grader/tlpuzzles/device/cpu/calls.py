"""Operators within expressions: mathematics, bits, conversions, thread indices, atomics that return a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tlpuzzles.device.cpu import dtypes
from tlpuzzles.device.cpu.threads import THREAD_VALUES
from tlpuzzles.device.cpu.unsupported import refuse
from tlpuzzles.kernel import tile_ir as ir

if TYPE_CHECKING:
    from tlpuzzles.device.cpu.expressions import Expressions

_SAME_NAME = (
    *("exp", "exp2", "exp10", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sigmoid", "erf", "sin", "cos", "tan"),
    *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "round"),
    *("nearbyint", "pow", "fmod", "atan2", "hypot", "copysign", "nextafter"),
)
MATHEMATICS: dict[str, tuple[str, int]] = {
    **{
        f"tirx.{name}": (name, 2 if name in ("pow", "fmod", "atan2", "hypot", "copysign") else 1) for name in _SAME_NAME
    },
    "tirx.nextafter": ("nextafter", 2),
    "tirx.ldexp": ("ldexp", 2),
    "tirx.fabs": ("abs", 1),
    "tirx.abs": ("abs", 1),
    "tirx.fma": ("fma", 3),
    "tl.fma": ("fma", 3),
    "tl.clamp": ("clamp", 3),
    # GPUs approximate these; the difference is below every tolerance, and machines differ in it.
    **{f"tl.__{name}": (name, 1) for name in ("exp", "exp10", "log", "log2", "log10", "sin", "cos", "tan")},
    "tl.fast_rcp": ("reciprocal", 1),
    "tl.ieee_frsqrt": ("rsqrt", 1),
    "tl.round_ties_away_from_zero": ("round", 1),
    "tl.max_nan": ("NanMax::combine", 2),
    "tl.min_nan": ("NanMin::combine", 2),
    "tirx.popcount": ("popcount", 1),
    "tirx.shift_left": ("shift_left", 2),
    "tirx.shift_right": ("shift_right", 2),
    "tl.pow_of_int": ("pow", 2),
}
"""Operators that are functions of the runtime library on values of the call's dtype: its name, number of arguments."""
_ROUNDED = {
    "tl.ieee_add": "({0} + {1})",
    "tl.ieee_sub": "({0} - {1})",
    "tl.ieee_mul": "({0} * {1})",
    "tl.ieee_fdiv": "({0} / {1})",
    "tl.ieee_fmaf": "tile::fma<{dtype}>({0}, {1}, {2})",
    "tl.ieee_frcp": "tile::reciprocal<{dtype}>({0})",
    "tl.ieee_fsqrt": "tile::sqrt<{dtype}>({0})",
}
_BITS = {"tirx.bitwise_and": "&", "tirx.bitwise_or": "|", "tirx.bitwise_xor": "^"}
_TESTS = {"tirx.isnan": "isnan", "tirx.isinf": "isinf", "tirx.isfinite": "isfinite"}
ATOMIC_RESULTS = {
    "tl.atomic_add_ret_elem_op": "Sum",
    "tl.atomic_max_ret_elem_op": "Max",
    "tl.atomic_min_ret_elem_op": "Min",
}


class Calls:
    """Emits calls for an expression emitter."""

    def __init__(self, expressions: Expressions) -> None:
        self._on = expressions

    @property
    def _line(self) -> int | None:
        return self._on.scope.line

    def value(self, call: ir.Call) -> str:
        op, args = call.op, call.args
        if op in MATHEMATICS:
            return self._function(call, *MATHEMATICS[op])
        if op == "tirx.if_then_else":
            self._expect(call, 3)
            return self._on.choose(args[0], args[1], args[2])
        if op in _BITS:
            self._expect(call, 2)
            return f"{self._on.cpp(call.dtype)}({self._on.value(args[0])} {_BITS[op]} {self._on.value(args[1])})"
        if op == "tirx.bitwise_not":
            self._expect(call, 1)
            negation = "!" if dtypes.scalar(call.dtype) == "bool" else "~"
            return f"{self._on.cpp(call.dtype)}({negation}{self._on.value(args[0])})"
        if op in _TESTS:
            self._expect(call, 1)
            return f"tile::{_TESTS[op]}({self._on.value(args[0])})"
        if op in _ROUNDED:
            return self._rounded(call)
        if op == "tl.fmul":
            self._expect(call, 2)
            return f"({self._on.value(args[0])} * {self._on.value(args[1])})"
        if op == "tl.infinity":
            return dtypes.float_literal(float("inf"), call.dtype)
        if op == "tirx.reinterpret":
            return self._reinterpret(call)
        if op in ("tirx.likely", "tl.__ldg") and len(args) == 1:
            return self._on.value(args[0])
        if op in THREAD_VALUES:
            return self._thread_value(call)
        if op in ("tl.any_of", "tl.all_of"):
            self._expect(call, 2)
            return f"tile::{op.removeprefix('tl.')}({self.pointer(args[0], args[1])}, {self._on.index(args[1])})"
        if op in ATOMIC_RESULTS:
            return self._atomic_result(call)
        if op == "tl.atomic_load_elem_op":
            return self._on.load(self._on.target(call))
        raise refuse(op, self._line)

    def _expect(self, call: ir.Call, count: int) -> None:
        if len(call.args) != count:
            raise self._on.scope.unsupported(f"the operator {call.op}", f"it has {len(call.args)} arguments")

    def _function(self, call: ir.Call, name: str, count: int) -> str:
        self._expect(call, count)
        dtype = self._on.cpp(call.dtype)
        args = [
            self._on.value(arg) if arg.dtype == call.dtype else f"tile::cast<{dtype}>({self._on.value(arg)})"
            for arg in call.args
        ]
        return f"tile::{name}<{dtype}>({', '.join(args)})"

    def _rounded(self, call: ir.Call) -> str:
        *args, mode = call.args
        if not isinstance(mode, ir.StringImm) or mode.value != "rn":
            name = call.op.removeprefix("tl.")
            raise self._on.scope.unsupported(
                f"T.{name} with another rounding mode", "a CPU rounds to nearest", 'Use rounding_mode="rn".'
            )
        form = _ROUNDED[call.op]
        if f"{{{len(args) - 1}}}" not in form or f"{{{len(args)}}}" in form:
            raise self._on.scope.unsupported(f"the operator {call.op}", f"it has {len(call.args)} arguments")
        return form.format(*map(self._on.value, args), dtype=self._on.cpp(call.dtype))

    def _reinterpret(self, call: ir.Call) -> str:
        self._expect(call, 1)
        to, of = self._on.cpp(call.dtype), call.args[0].dtype
        if dtypes.ITEM_SIZE[dtypes.scalar(call.dtype)] != dtypes.ITEM_SIZE.get(dtypes.scalar(of)):
            raise self._on.scope.unsupported("T.reinterpret", f"{of} and {call.dtype} differ in size")
        return f"tile::bits_of<{to}>({self._on.value(call.args[0])})"

    def _thread_value(self, call: ir.Call) -> str:
        if not self._on.scope.in_thread:
            raise self._on.scope.unsupported(
                "the thread index",
                "it is used inside T.Parallel or a tile operation, where all threads work together",
                "Use the loop variables of T.Parallel instead of T.get_thread_binding().",
            )
        sizes = [arg.value for arg in call.args if isinstance(arg, ir.IntImm)]
        if len(sizes) != len(call.args) or any(size < 0 for size in sizes):
            raise refuse(call.op, self._line)
        if call.op == "tl.launch_thread_idx":
            x, y, _ = self._on.scope.threads
            return f"int32_t({(f'thread % {x}', f'thread / {x} % {y}', f'thread / {x * y}')[min(sizes[0], 2)]})"
        if call.op == "tl.get_lane_idx":
            return f"int32_t(thread % {sizes[0] if sizes and sizes[0] else 32})"
        if call.op == "tl.tl_shuffle_elect":
            return f"(thread % {sizes[0]} == 0)" if sizes and sizes[0] else "(thread == 0)"
        divisor = 1
        for size in sizes:
            divisor *= max(1, size)
        default = 128 if call.op == "tl.get_warp_group_idx" else 32
        return f"int32_t(thread / {divisor if sizes else default})"

    def pointee(self, pointer: ir.Expr | None) -> ir.BufferLoad:
        """The element that a `tl.access_ptr` points to."""
        if (
            isinstance(pointer, ir.Call)
            and pointer.op == "tl.access_ptr"
            and pointer.args
            and isinstance(pointer.args[0], ir.BufferLoad)
        ):
            return pointer.args[0]
        raise self._on.scope.unsupported("an atomic operation", "its target is not an element of a buffer")

    def pointer(self, pointer: ir.Expr, count: ir.Expr) -> str:
        """A C++ pointer to `count` elements of a tile that lie side by side in its last dimensions."""
        load = pointer.args[0] if isinstance(pointer, ir.Call) and pointer.op == "tl.access_ptr" else None
        if not isinstance(load, ir.BufferLoad) or not isinstance(count, ir.IntImm):
            raise self._on.scope.unsupported("T.any_of or T.all_of", "its argument is not a buffer")
        element = self._on.element(load.buffer, load.indices)
        size = element.memory.elements
        starts_at_zero = all(isinstance(i, ir.IntImm) and i.value == 0 for i in load.indices)
        last = load.buffer.shape[-1]
        fits = starts_at_zero and size is not None and 0 <= count.value <= size
        if element.memory.is_global or not (fits or (isinstance(last, ir.IntImm) and count.value <= last.value)):
            raise self._on.scope.unsupported("T.any_of or T.all_of", "it does not look at one row of a tile")
        if starts_at_zero:
            return element.data
        site = self._on.scope.site(load.buffer, len(load.indices) - 1)
        column = f"tile::span({self._on.index(load.indices[-1])}, {count.value}, {site})"
        dims = (*element.dims[:-1], (column, *element.dims[-1][1:]))
        return f"&{element.data}[{' + '.join(f'{index} * {stride}' for index, _, stride in dims)}]"

    def _atomic_result(self, call: ir.Call) -> str:
        if len(call.args) < 2:
            raise self._on.scope.unsupported("an atomic operation", "it has no value")
        load = self._on.target(call)
        element = self._on.element(load.buffer, load.indices)
        dtype = self._on.cpp(load.buffer.dtype)
        update = (
            f"tile::update<tile::{ATOMIC_RESULTS[call.op]}>({element.code}, "
            f"tile::cast<{dtype}>({self._on.value(call.args[1])}))"
        )
        if not element.guarded:
            return update
        return f"({element.condition} ? {update} : {self._on.outside(load.buffer, load.buffer.dtype)})"
