"""Expressions of the IR in C++.

`value` gives a C++ expression of exactly the dtype's type. `index` gives one of type int64_t for a signed integer:
index arithmetic in 64 bits is what lets the compiler vectorise loops, and no kernel relies on an index that wraps.
"""

from __future__ import annotations

from dataclasses import dataclass

from tlpuzzles.device.cpu import dtypes
from tlpuzzles.device.cpu.calls import Calls
from tlpuzzles.device.cpu.ranges import reads_memory
from tlpuzzles.device.cpu.scope import Memory, Scope
from tlpuzzles.kernel import tile_ir as ir

_OPERATORS: dict[type[ir.Binary], str] = {ir.Add: "+", ir.Sub: "-", ir.Mul: "*", ir.Div: "/"}
_WRAPPING: dict[type[ir.Binary], str] = {ir.Add: "add", ir.Sub: "sub", ir.Mul: "mul", ir.Div: "div", ir.Mod: "mod"}
_COMPARISONS: dict[type[ir.Binary], str] = {
    **{ir.EQ: "==", ir.NE: "!=", ir.LT: "<", ir.LE: "<=", ir.GT: ">", ir.GE: ">="}
}
_FUNCTIONS: dict[type[ir.Binary], str] = {
    **{ir.Min: "min", ir.Max: "max", ir.FloorDiv: "floordiv", ir.FloorMod: "floormod"}
}


@dataclass(frozen=True)
class Element:
    """Where an element of a buffer is."""

    memory: Memory
    data: str
    """Pointer to elements of the buffer's own dtype."""
    dims: tuple[tuple[str, str, str], ...]
    """(index, extent, stride) of each dimension, in C++."""
    guarded: tuple[int, ...]
    """Dimensions of a tensor whose index may be out of range."""
    reads_memory: bool
    """Whether an index depends on memory; it is then evaluated only once."""

    @property
    def offset(self) -> str:
        return " + ".join(index if stride == "1" else f"{index} * {stride}" for index, _, stride in self.dims) or "0"

    @property
    def code(self) -> str:
        return f"{self.data}[{self.offset}]"

    @property
    def condition(self) -> str:
        """True if no index is out of range."""
        return " && ".join(f"tile::inside({self.dims[d][0]}, {self.dims[d][1]})" for d in self.guarded)


class Expressions:
    """Emits expressions at a place that `scope` describes."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._calls = Calls(self)

    def value(self, expr: ir.Expr) -> str:
        if isinstance(expr, ir.IntImm):
            if dtypes.is_float(expr.dtype):
                return dtypes.float_literal(float(expr.value), expr.dtype)
            dtypes.cpp(expr.dtype, self.scope.line)
            return dtypes.integer_literal(expr.value, expr.dtype)
        if isinstance(expr, ir.FloatImm):
            dtypes.cpp(expr.dtype, self.scope.line)
            return dtypes.float_literal(expr.value, expr.dtype)
        if isinstance(expr, ir.Var):
            return self._var(expr)
        if isinstance(expr, ir.Cast):
            return f"tile::cast<{self.cpp(expr.dtype)}>({self.value(expr.value)})"
        if isinstance(expr, ir.Binary):
            return self._binary(expr)
        if isinstance(expr, ir.Not):
            return f"(!{self.value(expr.a)})"
        if isinstance(expr, ir.Select):
            return self.choose(expr.condition, expr.true_value, expr.false_value)
        if isinstance(expr, ir.BufferLoad):
            return self.load(expr)
        if isinstance(expr, ir.Call):
            return self._calls.value(expr)
        if isinstance(expr, ir.Broadcast):
            return self.value(expr.value)
        if isinstance(expr, ir.Ramp):
            return f"{self.cpp(expr.dtype)}({self.index(expr)})"
        raise self.scope.unsupported(f"an expression of kind {type(expr).__name__}", "the CPU device does not know it")

    def target(self, call: ir.Call) -> ir.BufferLoad:
        """The element that an atomic operation works on."""
        return self._calls.pointee(call.args[0] if call.args else None)

    def pointee(self, pointer: ir.Expr) -> ir.BufferLoad:
        """The element that a `tl.access_ptr` points to."""
        return self._calls.pointee(pointer)

    def cpp(self, dtype: str) -> str:
        return dtypes.cpp(dtype, self.scope.line)

    def choose(self, condition: ir.Expr, yes: ir.Expr, no: ir.Expr) -> str:
        """Evaluates one of the two values only: the other may index a tile out of range."""
        return f"({self.value(condition)} ? {self.value(yes)} : {self.value(no)})"

    def _var(self, var: ir.Var) -> str:
        if var in self.scope.late and var not in self.scope.names:
            return self.value(self.scope.late[var])
        name = self.scope.names.get(var)
        if name is None and var in self.scope.gone:
            raise self.scope.unsupported(
                f"{var.name} after its loop or if",
                "it has no value there, on a GPU neither, and a Python variable carries no sum out of a loop",
                "Keep what must last in a tile (T.alloc_fragment, or T.alloc_var for one number) allocated before it.",
            )
        if name is None:
            raise self.scope.unsupported(f"the variable {var.name}", "it is used where it has no value")
        return f"{self.cpp(var.dtype)}({name.code})" if name.is_index else name.code

    def _binary(self, expr: ir.Binary) -> str:
        kind = type(expr)
        if isinstance(expr, ir.And):
            return f"({self.value(expr.a)} && {self.value(expr.b)})"
        if isinstance(expr, ir.Or):
            return f"({self.value(expr.a)} || {self.value(expr.b)})"
        if kind in _COMPARISONS:
            indices = dtypes.is_index(expr.a.dtype) and dtypes.is_index(expr.b.dtype)
            side = self.index if indices else self.value
            return f"({side(expr.a)} {_COMPARISONS[kind]} {side(expr.b)})"
        if dtypes.is_index(expr.dtype) and not reads_memory(expr):
            return f"{self.cpp(expr.dtype)}({self.index(expr)})"
        a, b = self.value(expr.a), self.value(expr.b)
        dtype = self.cpp(expr.dtype)
        if kind in _FUNCTIONS:
            return f"tile::{_FUNCTIONS[kind]}<{dtype}>({a}, {b})"
        if dtypes.is_float(expr.dtype):
            if isinstance(expr, ir.Mod):
                return f"tile::fmod<{dtype}>({a}, {b})"
            return f"({a} {_OPERATORS[kind]} {b})"
        return f"tile::{_WRAPPING[kind]}<{dtype}>({a}, {b})"

    def index(self, expr: ir.Expr) -> str:
        if isinstance(expr, ir.IntImm):
            return dtypes.index_literal(expr.value)
        if isinstance(expr, ir.Ramp):
            lane = self._lane()
            return f"({self.index(expr.base)} + {self.index(expr.stride)} * {lane})"
        if isinstance(expr, ir.Broadcast):
            return self.index(expr.value)
        if not dtypes.is_index(expr.dtype):
            return f"int64_t({self.value(expr)})"
        if isinstance(expr, ir.Var):
            if expr in self.scope.late and expr not in self.scope.names:
                return self.index(self.scope.late[expr])
            name = self.scope.names.get(expr)
            return name.code if name is not None and name.is_index else f"int64_t({self.value(expr)})"
        if isinstance(expr, ir.Cast) and dtypes.is_index(expr.value.dtype):
            return self.index(expr.value)
        if isinstance(expr, (ir.Add, ir.Sub, ir.Mul)):
            return f"({self.index(expr.a)} {_OPERATORS[type(expr)]} {self.index(expr.b)})"
        if isinstance(expr, (ir.FloorDiv, ir.FloorMod, ir.Div, ir.Mod)):
            return self._divided(expr)
        if isinstance(expr, (ir.Min, ir.Max)):
            return f"tile::{_FUNCTIONS[type(expr)]}<int64_t>({self.index(expr.a)}, {self.index(expr.b)})"
        if isinstance(expr, ir.Select):
            return f"({self.value(expr.condition)} ? {self.index(expr.true_value)} : {self.index(expr.false_value)})"
        return f"int64_t({self.value(expr)})"

    def _divided(self, expr: ir.Binary) -> str:
        a, b = self.index(expr.a), self.index(expr.b)
        is_remainder = isinstance(expr, (ir.FloorMod, ir.Mod))
        if self.scope.ranges.range(expr.a).low >= 0 and self.scope.ranges.range(expr.b).low > 0:
            return f"({a} {'%' if is_remainder else '/'} {b})"
        floors = isinstance(expr, (ir.FloorDiv, ir.FloorMod))
        return f"tile::{'floor' if floors else ''}{'mod' if is_remainder else 'div'}<int64_t>({a}, {b})"

    def _lane(self) -> str:
        if self.scope.lane is None:
            raise self.scope.unsupported("a vector", "it is used where a single number belongs")
        return self.scope.lane

    def load(self, load: ir.BufferLoad) -> str:
        element = self.element(load.buffer, load.indices)
        if not element.guarded:
            return element.code
        outside = self.outside(load.buffer, load.buffer.dtype)
        if element.reads_memory:
            dims = ", ".join(f"tile::Dim{{{', '.join(dim)}}}" for dim in element.dims)
            return f"tile::load({element.data}, {outside}, {dims})"
        return f"({element.condition} ? {element.code} : {outside})"

    def outside(self, buffer: ir.Buffer, dtype: str) -> str:
        """What reading the tensor out of range gives: zero, or what T.annotate_safe_value says."""
        safe = self.scope.outside.get(buffer.data)
        if safe is None:
            return f"{self.cpp(dtype)}(0)"
        return f"tile::cast<{self.cpp(dtype)}>({self.value(safe)})"

    def data(self, buffer: ir.Buffer) -> str:
        """Pointer to the buffer's first element, of the buffer's own dtype."""
        memory = self.scope.memory_of(buffer)
        pointer = memory.pointer
        if memory.per_thread:
            if not self.scope.in_thread:
                raise self.scope.unsupported(
                    f"{buffer.name}",
                    "it holds another value in each thread, and is used where all threads work together",
                    "Use a fragment or a shared tile for values that a tile operation or T.Parallel reads.",
                )
            pointer = f"({pointer} + thread * {memory.elements})"
        if dtypes.scalar(buffer.dtype) != memory.dtype:
            pointer = f"(({self.cpp(buffer.dtype)} *)({pointer}))"
        return pointer

    def strides(self, buffer: ir.Buffer) -> list[str]:
        if buffer.strides:
            return [self._constant_or_index(stride) for stride in buffer.strides]
        strides, product = ["1"], 1
        for dimension in range(len(buffer.shape) - 1, 0, -1):
            extent = buffer.shape[dimension]
            if isinstance(extent, ir.IntImm):
                product *= extent.value
                strides.append(str(product))
            else:
                raise self.scope.unsupported(
                    f"the buffer {buffer.name}", "its shape is dynamic and its strides unknown"
                )
        return strides[::-1]

    def _constant_or_index(self, expr: ir.Expr) -> str:
        return str(expr.value) if isinstance(expr, ir.IntImm) else self.index(expr)

    def element(self, buffer: ir.Buffer, indices: list[ir.Expr]) -> Element:
        """Tests every index of a tile; says which indices of a tensor may be out of range."""
        memory = self.scope.memory_of(buffer)
        if len(indices) != len(buffer.shape):
            raise self.scope.unsupported(f"the buffer {buffer.name}", "it is indexed with the wrong number of indices")
        dims: list[tuple[str, str, str]] = []
        guarded: list[int] = []
        for dimension, (index, stride) in enumerate(zip(indices, self.strides(buffer), strict=True)):
            code, in_range = self.position(buffer, dimension, index)
            if not in_range:
                if memory.is_global:
                    guarded.append(dimension)
                else:
                    code = f"tile::at({code}, {self.scope.site(buffer, dimension)})"
            dims.append((code, self._constant_or_index(buffer.shape[dimension]), stride))
        return Element(memory, self.data(buffer), tuple(dims), tuple(guarded), any(map(reads_memory, indices)))

    def position(self, buffer: ir.Buffer, dimension: int, index: ir.Expr) -> tuple[str, bool]:
        """The index in C++, and whether it is known to be in range. A negative one counts from the end."""
        extent = buffer.shape[dimension]
        known = self.scope.ranges.range(index)
        if isinstance(extent, ir.IntImm):
            if known.high < 0:
                return f"({self.index(index)} + {extent.value})", known.low + extent.value >= 0
            return self.index(index), known.within(0, extent.value - 1)
        if known.high < 0:
            return f"({self.index(index)} + {self.index(extent)})", False
        return self.index(index), False
