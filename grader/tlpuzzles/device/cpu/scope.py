"""What the emitter knows at a place in a kernel: names, memory, ranges, where it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tlpuzzles.device.cpu import dtypes
from tlpuzzles.device.cpu.dealing import ONE_EACH, Dealt
from tlpuzzles.device.cpu.ranges import Ranges
from tlpuzzles.device.cpu.threads import Varying
from tlpuzzles.device.cpu.unsupported import Unsupported
from tlpuzzles.kernel import tile_ir as ir


@dataclass(frozen=True)
class Name:
    """A variable in C++."""

    code: str
    is_index: bool
    """Held as int64_t whatever its dtype, so that index arithmetic needs no conversions."""


@dataclass(frozen=True)
class Memory:
    """What a data pointer points to."""

    pointer: str
    dtype: str
    elements: int | None
    """None for a tensor of dynamic shape."""
    is_global: bool
    per_thread: bool = False


@dataclass
class Scope:
    """One for a whole function; statements enter and leave loops in it."""

    names: dict[ir.Var, Name] = field(default_factory=dict)
    gone: set[ir.Var] = field(default_factory=set)
    """Variables that had a value in a loop or a branch that has ended."""
    memory: dict[ir.Var, Memory] = field(default_factory=dict)
    outside: dict[ir.Var, ir.Expr] = field(default_factory=dict)
    """What reading a tensor out of range gives (T.annotate_safe_value), by data pointer."""
    late: dict[ir.Var, ir.Expr] = field(default_factory=dict)
    """Variables bound to values that name loop variables of loops yet to come, as T.Persistent binds them."""
    ranges: Ranges = field(default_factory=Ranges)
    varying: Varying | None = None
    threads: tuple[int, int, int] = (1, 1, 1)
    block_indices: tuple[str, str, str] = ("0", "0", "0")
    line: int | None = None
    """Of the statement being emitted."""
    lane: str | None = None
    """Index of the element of a vector being emitted."""
    in_thread: bool = False
    """Inside a loop over the threads."""
    parallel: list[tuple[str, str]] = field(default_factory=list)
    """(variable, extent) of the parallel loops around, outermost first."""
    dealt: Dealt = ONE_EACH
    """To how many threads each round of those loops is dealt, if it prints."""
    reducers: dict[ir.Var, str] = field(default_factory=dict)
    """How T.alloc_reducer's buffers combine ("Sum", "Max", ... of the runtime library), by data pointer."""
    sites: list[str] = field(default_factory=list)
    """Records of the places where tiles are indexed."""
    _count: int = 0
    _scratch: dict[str, tuple[str, int]] = field(default_factory=dict)

    def fresh(self, name: str) -> str:
        self._count += 1
        return f"{dtypes.identifier(name)}_{self._count}"

    @contextmanager
    def inner(self) -> Iterator[None]:
        """What is named meanwhile, in a loop or a branch, has no value after it."""
        before = dict(self.names)
        yield
        self.gone |= self.names.keys() - before.keys()
        self.names = before

    @property
    def thread_count(self) -> int:
        x, y, z = self.threads
        return x * y * z

    def name_index(self, var: ir.Var) -> str:
        """Declares a variable that is held as an index."""
        code = self.fresh(var.name)
        self.names[var] = Name(code, True)
        return code

    def scratch(self, dtype: str, elements: int) -> str:
        """A pointer to workspace of the launch for that many elements of a C++ type. All users share it."""
        name, size = self._scratch.get(dtype) or (self.fresh("scratch"), 0)
        self._scratch[dtype] = (name, max(size, elements))
        return f"{name}.data()"

    def take_scratch(self) -> dict[str, tuple[str, int]]:
        """The workspace asked for since the last call: its name and size by C++ type."""
        taken, self._scratch = self._scratch, {}
        return taken

    def memory_of(self, buffer: ir.Buffer) -> Memory:
        memory = self.memory.get(buffer.data)
        if memory is None:
            raise Unsupported(
                f"the buffer {buffer.name}",
                self.line or buffer.line,
                f"its memory ({buffer.scope}) was never allocated in a way the CPU device knows",
                "Allocate tiles with T.alloc_shared, T.alloc_fragment, T.alloc_local or T.alloc_var.",
            )
        if buffer.elem_offset is not None and not _is_zero(buffer.elem_offset):
            raise Unsupported(f"the buffer {buffer.name}", self.line or buffer.line, "it starts inside another buffer")
        if len(buffer.strides) not in (0, len(buffer.shape)):
            raise Unsupported(f"the buffer {buffer.name}", self.line, "its strides do not match its shape")
        self._check_view(buffer, memory)
        return memory

    def _check_view(self, buffer: ir.Buffer, memory: Memory) -> None:
        """A view must not reach past the memory that it looks at."""
        if memory.elements is None:
            return
        reach = extent_of(buffer)
        size = dtypes.ITEM_SIZE[memory.dtype] * memory.elements
        dtypes.cpp(buffer.dtype, self.line)
        if reach is None or reach * dtypes.ITEM_SIZE[dtypes.scalar(buffer.dtype)] > size:
            raise Unsupported(
                f"the view {buffer.name}", self.line or buffer.line, "it is larger than the buffer that it looks at"
            )

    def site(self, buffer: ir.Buffer, dimension: int) -> str:
        """Registers a place where a tile is indexed; the C++ name of its record."""
        extent = buffer.shape[dimension]
        assert isinstance(extent, ir.IntImm)
        self.sites.append(f"{{{dtypes.text_literal(buffer.name)}, {dimension}, {self.line or 0}, {extent.value}}}")
        return f"sites[{len(self.sites) - 1}]"

    def unsupported(self, construct: str, reason: str, instead: str | None = None) -> Unsupported:
        return (
            Unsupported(construct, self.line, reason)
            if instead is None
            else Unsupported(construct, self.line, reason, instead)
        )


def _is_zero(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.IntImm) and expr.value == 0


def extent_of(buffer: ir.Buffer) -> int | None:
    """Elements from the first to the last one of a buffer; None if its shape or strides are not constant."""
    shape = [extent.value for extent in buffer.shape if isinstance(extent, ir.IntImm)]
    strides = [stride.value for stride in buffer.strides if isinstance(stride, ir.IntImm)]
    if len(shape) != len(buffer.shape) or len(strides) != len(buffer.strides):
        return None
    if any(extent < 0 for extent in shape) or any(stride < 0 for stride in strides):
        return None
    if not strides:
        count = 1
        for extent in shape:
            count *= extent
        return count
    if 0 in shape:
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
