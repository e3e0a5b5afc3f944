"""Statements of the IR in C++: control flow, stores, and which of them run in every thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from tlpuzzles.device.cpu import blocks, dtypes, order
from tlpuzzles.device.cpu.dealing import ONE_EACH, dealt
from tlpuzzles.device.cpu.effects import Effects
from tlpuzzles.device.cpu.expressions import Expressions
from tlpuzzles.device.cpu.ranges import Interval, reads_memory
from tlpuzzles.device.cpu.scope import Name, Scope
from tlpuzzles.device.cpu.threads import BREAKS, copied_to_print
from tlpuzzles.device.cpu.tile_operations import TileOperations
from tlpuzzles.device.cpu.writer import Writer
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import TILE_OP


class Order(Enum):
    """In which order a loop runs."""

    FORWARDS = "forwards"
    ANY = "any"
    """Forwards too, and the compiler may do several turns at once."""
    OF_THE_RUN = "of the run"
    """Forwards or backwards, as the run goes."""


class Statements:
    """Emits the statements of a function at a place that `scope` describes."""

    def __init__(self, scope: Scope, writer: Writer) -> None:
        self.scope = scope
        self.writer = writer
        self.expressions = Expressions(scope)
        self._effects = Effects(self.expressions, writer)
        self._tile_operations = TileOperations(self.expressions, writer)
        self._loops: list[bool] = []
        """For each C++ loop around, whether `break` may leave it."""

    def emit(self, stmt: ir.Stmt | None) -> None:
        if stmt is None:
            return
        outer = self.scope.line
        if stmt.line is not None:
            self.scope.line = stmt.line
        self._emit(stmt)
        self.scope.line = outer

    def _emit(self, stmt: ir.Stmt) -> None:
        if isinstance(stmt, ir.SeqStmt):
            for inner, then in zip(stmt.seq, (*stmt.seq[1:], None), strict=True):
                self._tile_operations.printed = copied_to_print(inner, then) if then is not None else None
                self.emit(inner)
        elif isinstance(stmt, ir.SBlockRealize):
            blocks.check(stmt, self.scope)
            for buffer in stmt.block.alloc_buffers:
                self._poison(buffer)
            self.emit(stmt.block.body)
        elif isinstance(stmt, ir.AttrStmt):
            blocks.check_attribute(stmt, self.scope)
            self.emit(stmt.body)
        elif isinstance(stmt, ir.DeclBuffer):
            self.scope.memory_of(stmt.buffer)
        elif isinstance(stmt, ir.AllocBuffer):
            self._poison(stmt.buffer)
        elif isinstance(stmt, ir.Bind):
            self._bind(stmt)
        elif self._runs_in_threads(stmt):
            with self._threads():
                self._simple(stmt)
        else:
            self._simple(stmt)

    def _simple(self, stmt: ir.Stmt) -> None:
        if isinstance(stmt, ir.BufferStore):
            self._store(stmt)
        elif isinstance(stmt, ir.Evaluate):
            self._evaluate(stmt)
        elif isinstance(stmt, ir.For):
            self._for(stmt)
        elif isinstance(stmt, ir.While):
            with self._loop(f"while ({self.expressions.value(stmt.condition)})", True):
                # To C++ a loop that never ends and does nothing else is undefined, and some compilers leave it out.
                self.writer.line('__asm__ volatile("");')
                self.emit(stmt.body)
        elif isinstance(stmt, ir.IfThenElse):
            with self.writer.block(f"if ({self.expressions.value(stmt.condition)})"), self.scope.inner():
                self.emit(stmt.then_case)
            if stmt.else_case is not None:
                with self.writer.block("else"), self.scope.inner():
                    self.emit(stmt.else_case)
        elif isinstance(stmt, ir.AssertStmt):
            self._effects.assertion(stmt.condition, "the kernel's assert does not hold")
        else:
            raise self.scope.unsupported(
                f"a statement of kind {type(stmt).__name__}", "the CPU device does not know it"
            )

    def _poison(self, buffer: ir.Buffer) -> None:
        # All blocks share a workspace in global memory: it is poisoned where it is allocated.
        if buffer.scope != ir.Scope.GLOBAL.value:
            blocks.poison(buffer, self.scope, self.writer)

    # Threads

    def _runs_in_threads(self, stmt: ir.Stmt) -> bool:
        """Whether the statement, with all below it, is run whole in every thread from here."""
        varying = self.scope.varying
        if varying is None or self.scope.in_thread or self.scope.parallel:
            return False
        if isinstance(stmt, ir.For) and stmt.kind in (ir.LoopKind.PARALLEL, ir.LoopKind.THREAD_BINDING):
            return False
        if isinstance(stmt, (ir.For, ir.While, ir.IfThenElse)):
            return varying.diverges(stmt)
        return varying.of(stmt)

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """Runs what is emitted meanwhile once in every thread."""
        count = self.scope.thread_count
        with self._loop(f"for (int64_t n = 0; n < {count}; ++n)", False):
            self.writer.line(f"const int64_t thread = reversed ? {count - 1} - n : n;")
            self.scope.in_thread = True
            yield
            self.scope.in_thread = False

    @contextmanager
    def _loop(self, head: str, may_break: bool) -> Iterator[None]:
        self._loops.append(may_break)
        with self.writer.block(head), self.scope.inner():
            yield
        self._loops.pop()

    # Simple statements

    def _bind(self, stmt: ir.Bind) -> None:
        var, value = stmt.var, stmt.value
        if dtypes.lanes(var.dtype) != 1:
            raise self.scope.unsupported(f"the variable {var.name}", "it holds a vector")
        if isinstance(value, ir.Call) and value.op == "tl.launch_thread_idx":
            self.bind_thread(var, value)
        elif not reads_memory(value):
            self.scope.ranges.define(var, value)
            if self._needs_later_names(value) or self._varies(var):
                self.scope.late[var] = value
            elif dtypes.is_index(var.dtype):
                code = self.expressions.index(value)
                self.writer.line(f"const int64_t {self.scope.name_index(var)} = {code};")
            else:
                self._declare(var, value)
        elif self._varies(var) and not self.scope.in_thread:
            dtype, name = self.expressions.cpp(var.dtype), self.scope.fresh(var.name)
            self.writer.line(f"{dtype} {name}[{self.scope.thread_count}];")
            with self._threads():
                self.writer.line(f"{name}[thread] = {self.expressions.value(value)};")
            self.scope.names[var] = Name(f"{name}[thread]", False)
        else:
            self._declare(var, value)

    def _declare(self, var: ir.Var, value: ir.Expr) -> None:
        code, name = self.expressions.value(value), self.scope.fresh(var.name)
        self.writer.line(f"const {self.expressions.cpp(var.dtype)} {name} = {code};")
        self.scope.names[var] = Name(name, False)

    def bind_thread(self, var: ir.Var, value: ir.Call) -> None:
        """`var` is the thread index along the axis that `tl.launch_thread_idx` names."""
        axis = value.args[0] if value.args else None
        if not isinstance(axis, ir.IntImm) or not 0 <= axis.value <= 2:
            raise self.scope.unsupported("the thread index", "its axis is not x, y or z")
        self.scope.late[var] = value
        self.scope.ranges.put(var, Interval(0, self.scope.threads[axis.value] - 1))

    def _varies(self, var: ir.Var) -> bool:
        return self.scope.varying is not None and var in self.scope.varying.vars and not self.scope.parallel

    def _needs_later_names(self, value: ir.Expr) -> bool:
        """T.Persistent binds the coordinates of a tile before the loop that they are computed from."""
        known = self.scope.names.keys() | self.scope.late.keys()
        return any(isinstance(node, ir.Var) and node not in known for node in ir.walk(value))

    def _store(self, stmt: ir.BufferStore) -> None:
        lanes = next((i.lanes for i in stmt.indices if isinstance(i, ir.Ramp)), None)
        if lanes is None:
            self._effects.store(stmt, None)
            return
        if not isinstance(lanes, ir.IntImm):
            raise self.scope.unsupported("a slice", "its length is not constant", "Use T.copy.")
        # All elements are read before any is written.
        outer, self.scope.lane = self.scope.lane, "lane"
        loop = f"for (int64_t lane = 0; lane < {lanes.value}; ++lane)"
        with self.writer.block():
            self.writer.line(f"tile::Array<{self.expressions.cpp(stmt.buffer.dtype)}> values({lanes.value});")
            with self.writer.block(loop):
                self.writer.line(f"values.data()[lane] = {self._effects.converted(stmt)};")
            with self.writer.block(loop):
                self._effects.store(stmt, "values.data()[lane]")
        self.scope.lane = outer

    def _evaluate(self, stmt: ir.Evaluate) -> None:
        call = stmt.value
        if isinstance(call, ir.Call) and call.op in BREAKS:
            if not self._loops or not self._loops[-1]:
                raise self.scope.unsupported(
                    f"{BREAKS[call.op]}",
                    "it would leave a loop that runs in parallel",
                    "Put what depends on a condition under an `if`, or use T.serial.",
                )
            self.writer.line(f"{BREAKS[call.op]};")
        elif isinstance(call, ir.Call) and call.op.startswith(TILE_OP):
            self._tile_operations.emit(call)
        else:
            self._effects.emit(call)

    # Loops

    def _for(self, stmt: ir.For) -> None:
        blocks.check_loop(stmt, self.scope)
        if stmt.kind is ir.LoopKind.THREAD_BINDING:
            self._thread_binding(stmt)
        elif stmt.kind is ir.LoopKind.PARALLEL:
            self._parallel(stmt)
        else:
            with self._counted(stmt, Order.FORWARDS, True):
                self.emit(stmt.body)

    @contextmanager
    def _counted(self, stmt: ir.For, order_: Order, may_break: bool) -> Iterator[None]:
        """A loop over the statement's variable."""
        first, count = self.expressions.index(stmt.min), self.expressions.index(stmt.extent)
        self.scope.ranges.put(stmt.loop_var, self._values_of(stmt))
        with self.scope.inner(), self.writer.block():
            var = self.scope.name_index(stmt.loop_var)
            self.writer.line(f"const int64_t first = {first}, count = {count};")
            if order_ is Order.OF_THE_RUN:
                with self._loop("for (int64_t n = 0; n < count; ++n)", may_break):
                    self.writer.line(f"const int64_t {var} = first + (reversed ? count - 1 - n : n);")
                    yield
            else:
                if order_ is Order.ANY:
                    self.writer.line("TILE_INDEPENDENT")
                with self._loop(f"for (int64_t {var} = first; {var} < first + count; ++{var})", may_break):
                    yield

    def _values_of(self, loop: ir.For) -> Interval:
        low, extent = self.scope.ranges.range(loop.min), self.scope.ranges.range(loop.extent)
        return Interval(low.low, low.high + extent.high - 1)

    def _parallel(self, stmt: ir.For) -> None:
        if self.scope.in_thread:
            raise self.scope.unsupported(
                "T.Parallel under a condition on the thread index",
                "all threads of a block run it together",
                "Move it out of the condition.",
            )
        nest, body = [stmt], stmt.body
        while isinstance(body, ir.For) and body.kind is ir.LoopKind.PARALLEL:
            nest.append(body)
            body = body.body
        for loop in nest:
            self.scope.ranges.put(loop.loop_var, self._values_of(loop))
        rounds = ONE_EACH if self.scope.parallel else dealt(nest, body, self.scope.thread_count)
        if rounds.serial is not None:
            self._in_every_thread(list(rounds.serial), body)
            return
        free = not self.scope.parallel and order.is_free(nest, body, self.scope.ranges)
        outer, self.scope.dealt = self.scope.dealt, self.scope.dealt if self.scope.parallel else rounds
        self._nest(nest, body, free)
        self.scope.dealt = outer

    def _in_every_thread(self, nest: list[ir.For], body: ir.Stmt) -> None:
        if not nest:
            self.emit(body)
            return
        loop, *inner = nest
        with self._counted(loop, Order.FORWARDS, False):
            self._in_every_thread(inner, body)

    def _nest(self, nest: list[ir.For], body: ir.Stmt, free: bool) -> None:
        loop, *inner = nest
        blocks.check_loop(loop, self.scope)
        # Only the innermost loop is worth vectorising.
        order_ = (Order.FORWARDS if inner else Order.ANY) if free else Order.OF_THE_RUN
        with self._counted(loop, order_, False):
            self.scope.parallel.append((self.scope.names[loop.loop_var].code, self.expressions.index(loop.extent)))
            if inner:
                self._nest(inner, body, free)
            else:
                self.emit(body)
            self.scope.parallel.pop()

    def _thread_binding(self, stmt: ir.For) -> None:
        binding = stmt.thread_binding
        tag = binding.thread_tag if binding is not None else ""
        if tag.startswith("blockIdx"):
            raise self.scope.unsupported(
                "a T.Kernel inside another",
                "a block cannot start blocks, on a GPU neither",
                "Give one T.Kernel all sizes of the grid: T.Kernel(x, y, threads=128) as (bx, by).",
            )
        axis = {"threadIdx.x": 0, "threadIdx.y": 1, "threadIdx.z": 2}.get(tag)
        if axis is None or not isinstance(stmt.extent, ir.IntImm) or stmt.extent.value != self.scope.threads[axis]:
            raise self.scope.unsupported(
                f"T.thread_binding({tag!r})", "it does not have the threads of the T.Kernel around"
            )
        self.bind_thread(stmt.loop_var, ir.Call("int32", "tl.launch_thread_idx", [ir.IntImm("int32", axis)], {}))
        self.emit(stmt.body)
