"""From a kernel's tile-level IR to C++ that runs it on a CPU.

The emitted function is

    extern "C" int32_t SYMBOL(const tile::Argument *arguments, int32_t reversed, tile::Report *report)

It runs the whole grid of every launch and returns the report's outcome. One `Argument` is passed for each parameter, in
order. A tensor's carries its data and, for shapes with variables (T.dynamic), its shape; a number's carries the number.

A run in order goes through blocks, parallel iterations and threads as they are counted, with tiles that start as NaN; a
reversed one goes backwards, with tiles that start as large numbers (include/memory.hpp says why). Tiles start so in
every block. Results are those of a GPU run of TileLang 0.1.15: reading a tensor out of range gives zero, writing there
does nothing, arithmetic rounds to its dtype. Indices of tiles are tested, as nothing does on a GPU.
"""

from __future__ import annotations

from tlpuzzles.device.cpu import blocks, dtypes
from tlpuzzles.device.cpu.initialised import check_updates
from tlpuzzles.device.cpu.ranges import Interval
from tlpuzzles.device.cpu.scope import Memory, Name, Scope, extent_of
from tlpuzzles.device.cpu.statements import Statements
from tlpuzzles.device.cpu.threads import PRIVATE, Varying
from tlpuzzles.device.cpu.unsupported import Unsupported
from tlpuzzles.device.cpu.writer import Writer
from tlpuzzles.kernel import tile_ir as ir

__all__ = ["Unsupported", "emit"]

DEFAULT_THREADS = (128, 1, 1)
"""What TileLang launches if T.Kernel is not given `threads`."""


def emit(func: ir.PrimFunc, symbol: str) -> str:
    """C++ source of the function; `#include "tile.hpp"` comes before it.

    Raises Unsupported, naming the construct and its line, for all that cannot be run as a GPU would run it.
    """
    if dtypes.identifier(symbol) != symbol:
        raise ValueError(f"{symbol!r} is no name for a C function")
    try:
        check_updates(func)
        return _Function(func, symbol).source()
    except RecursionError:
        raise Unsupported("this kernel", func.line, "an expression in it is too deeply nested") from None


class _Function:
    def __init__(self, func: ir.PrimFunc, symbol: str) -> None:
        self._func = func
        self._symbol = symbol
        self._scope = Scope(line=func.line)
        self._writer = Writer()
        self._statements = Statements(self._scope, self._writer)

    def source(self) -> str:
        self._parameters()
        self._outside_of_launches(self._func.body)
        body = self._writer.text()
        sites = ", ".join(self._scope.sites) or '{"", 0, 0, 0}'
        return f"""\
static void {self._symbol}_kernel(const tile::Argument *arguments, const bool reversed) {{
static const tile::Site sites[] = {{{sites}}};
int64_t block = 0;
(void)sites, (void)block, (void)reversed;
{body}}}
extern "C" __attribute__((visibility("default")))
int32_t {self._symbol}(const tile::Argument *arguments, int32_t reversed, tile::Report *report) {{
  return tile::run({self._symbol}_kernel, arguments, reversed, report);
}}
"""

    def _parameters(self) -> None:
        tensors: list[tuple[int, ir.Buffer]] = []
        for position, argument in enumerate(self._func.arguments):
            if isinstance(argument, ir.Buffer):
                self._tensor(position, argument)
                tensors.append((position, argument))
            else:
                self._number(position, argument)
        for position, buffer in tensors:
            for dimension, extent in enumerate(buffer.shape):
                expected = self._statements.expressions.index(extent)
                given = f"arguments[{position}].shape[{dimension}]"
                self._writer.line(f"tile::expect({given}, {expected}, {position}, {dimension});")

    def _tensor(self, position: int, buffer: ir.Buffer) -> None:
        if buffer.scope != ir.Scope.GLOBAL.value:
            raise self._scope.unsupported(f"the parameter {buffer.name}", f"it is in {buffer.scope} memory")
        dtype = dtypes.cpp(buffer.dtype, self._scope.line)
        pointer = self._scope.fresh(buffer.name)
        argument = f"arguments[{position}]"
        self._writer.line(f"{dtype} *const {pointer} = static_cast<{dtype} *>({argument}.data);")
        self._scope.memory[buffer.data] = Memory(pointer, dtypes.scalar(buffer.dtype), extent_of(buffer), True)
        for dimension, extent in enumerate(buffer.shape):
            if isinstance(extent, ir.Var) and extent not in self._scope.names:
                self._scope.ranges.put(extent, Interval(0, 2**62))
                name = self._scope.name_index(extent)
                self._writer.line(f"const int64_t {name} = {argument}.shape[{dimension}];")

    def _number(self, position: int, var: ir.Var) -> None:
        dtype = dtypes.cpp(var.dtype, self._scope.line)
        name = self._scope.fresh(var.name)
        field = "real" if dtypes.is_float(var.dtype) else "integer"
        self._writer.line(f"const {dtype} {name} = tile::cast<{dtype}>(arguments[{position}].{field});")
        self._scope.names[var] = Name(name, False)

    def _outside_of_launches(self, stmt: ir.Stmt | None) -> None:
        if stmt is not None and stmt.line is not None:
            self._scope.line = stmt.line
        if isinstance(stmt, ir.SeqStmt):
            for inner in stmt.seq:
                self._outside_of_launches(inner)
        elif isinstance(stmt, ir.SBlockRealize):
            blocks.check(stmt, self._scope)
            for buffer in stmt.block.alloc_buffers:
                self._allocate(buffer)
                if buffer.scope != ir.Scope.GLOBAL.value:
                    blocks.poison(buffer, self._scope, self._writer)
            self._outside_of_launches(stmt.block.body)
        elif isinstance(stmt, ir.AttrStmt):
            blocks.check_attribute(stmt, self._scope)
            self._outside_of_launches(stmt.body)
        elif isinstance(stmt, (ir.Bind, ir.AssertStmt, ir.DeclBuffer)):
            self._statements.emit(stmt)
        elif isinstance(stmt, ir.For) and stmt.thread_binding is not None:
            self._launch(stmt)
        elif not isinstance(stmt, ir.Evaluate) or not isinstance(stmt.value, ir.IntImm):
            raise self._scope.unsupported(
                "a statement outside of T.Kernel",
                "the CPU device runs kernels only",
                "Move it into the T.Kernel block.",
            )

    def _launch(self, loop: ir.For) -> None:
        grid: list[ir.For] = []
        body: ir.Stmt = loop
        while isinstance(body, ir.For) and body.thread_binding is not None:
            if not body.thread_binding.thread_tag.startswith("blockIdx.") or len(grid) == 3:
                raise self._scope.unsupported(
                    f"a loop over {body.thread_binding.thread_tag}", "it stands outside of T.Kernel"
                )
            grid.append(body)
            body = body.body
        self._scope.threads = self._threads(body)
        self._scope.varying = Varying(body)
        outside = dict(self._scope.outside)
        with self._writer.block():
            self._writer.line("block = 0;")
            for buffer in _allocations(body):
                self._allocate(buffer)
            position = len(self._writer)
            indices = ["0", "0", "0"]
            for axis, dimension in enumerate(grid):
                extent = self._scope.ranges.range(dimension.extent)
                self._scope.ranges.put(dimension.loop_var, Interval(0, extent.high - 1))
                count = self._statements.expressions.index(dimension.extent)
                self._writer.line(f"const int64_t grid_{axis} = {count};")
                indices[axis] = self._scope.name_index(dimension.loop_var)
            self._scope.block_indices = (indices[0], indices[1], indices[2])
            self._blocks(list(enumerate(indices[: len(grid)]))[::-1], body)
            self._scratch(position)
        self._scope.varying = None
        self._scope.outside = outside

    def _blocks(self, axes: list[tuple[int, str]], body: ir.Stmt) -> None:
        """The grid's loops, the x axis innermost, as a GPU counts blocks."""
        if not axes:
            self._statements.emit(body)
            self._writer.line("++block;")
            return
        (axis, name), *inner = axes
        with self._writer.block(f"for (int64_t n = 0; n < grid_{axis}; ++n)"):
            self._writer.line(f"const int64_t {name} = reversed ? grid_{axis} - 1 - n : n;")
            self._blocks(inner, body)

    def _threads(self, body: ir.Stmt) -> tuple[int, int, int]:
        root = next((node for node in ir.walk(body) if isinstance(node, ir.SBlock)), None)
        threads = root.annotations.get("tl.launch_threads") if root is not None else None
        if threads is None:
            return DEFAULT_THREADS
        extents = [t.value for t in threads if isinstance(t, ir.IntImm)] if isinstance(threads, list) else []
        if len(extents) != 3 or any(extent < 1 for extent in extents) or extents[0] * extents[1] * extents[2] > 1024:
            raise self._scope.unsupported(
                "T.Kernel", "its number of threads is not one that a GPU can launch (1 to 1024)"
            )
        return extents[0], extents[1], extents[2]

    def _allocate(self, buffer: ir.Buffer) -> None:
        if buffer.scope in blocks.BARRIERS or buffer.data in self._scope.memory:
            return
        line = buffer.line or self._scope.line
        is_global = buffer.scope == ir.Scope.GLOBAL.value
        if not is_global and buffer.scope not in blocks.TILES:
            raise Unsupported(f"the buffer {buffer.name}", line, f"it is in {buffer.scope} memory")
        elements = extent_of(buffer)
        if elements is None:
            raise Unsupported(f"the tile {buffer.name}", line, "its shape is not constant", "Give it a constant shape.")
        dtype = dtypes.cpp(buffer.dtype, line)
        varying = self._scope.varying
        per_thread = buffer.scope in PRIVATE and varying is not None and buffer.data in varying.memory
        count = elements * (self._scope.thread_count if per_thread else 1)
        if count * dtypes.ITEM_SIZE[dtypes.scalar(buffer.dtype)] >= 2**40:
            raise Unsupported(f"the tile {buffer.name}", line, "it does not fit into memory", "Use smaller tiles.")
        name = self._scope.fresh(buffer.name)
        self._writer.line(f"const tile::Array<{dtype}> {name}_memory({count}u);")
        self._writer.line(f"{dtype} *const {name} = {name}_memory.data();")
        self._scope.memory[buffer.data] = Memory(name, dtypes.scalar(buffer.dtype), elements, is_global, per_thread)
        if is_global:
            blocks.poison(buffer, self._scope, self._writer)

    def _scratch(self, position: int) -> None:
        """Declares the workspace of the launch's matrix multiplications, where `position` is."""
        for dtype, (name, size) in self._scope.take_scratch().items():
            self._writer.insert(position, f"const tile::Array<{dtype}> {name}({size}u);")


def _allocations(body: ir.Stmt) -> list[ir.Buffer]:
    buffers: list[ir.Buffer] = []
    for node in ir.walk(body):
        if isinstance(node, ir.SBlock):
            buffers.extend(node.alloc_buffers)
        elif isinstance(node, ir.AllocBuffer):
            buffers.append(node.buffer)
    return buffers
