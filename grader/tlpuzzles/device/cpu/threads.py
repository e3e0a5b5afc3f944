"""Which values of a launch differ from thread to thread, and which statements must run once in every thread.

Most kernels never name a thread: their tile operations and parallel loops speak of whole tiles, and run once a block.
What does name one runs in a loop over the threads, statement by statement: TileLang puts a barrier between two
statements that need one, so that every thread has finished a statement before any starts the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from tlpuzzles.kernel import tile_ir as ir

THREAD_VALUES = {
    "tl.launch_thread_idx",
    "tl.get_lane_idx",
    "tl.get_warp_idx",
    "tl.get_warp_idx_sync",
    "tl.get_warp_group_idx",
    "tl.tl_shuffle_elect",
}
"""Operators whose value differs from thread to thread."""
ATOMICS = (
    *("tl.atomic_add_elem_op", "tl.atomic_add_ret_elem_op", "tl.atomic_max_elem_op", "tl.atomic_max_ret_elem_op"),
    *("tl.atomic_min_elem_op", "tl.atomic_min_ret_elem_op", "tl.atomic_or_elem_op", "tl.atomic_addx2_elem_op"),
    "tl.atomic_addx4_elem_op",
)
"""Updates of one element (or a few): each thread makes its own."""
PRINTS = ("debug_print_var", "debug_print_msg", "debug_print_buffer_value")
"""External functions that T.print calls."""
BREAKS = {"tirx.break_loop": "break", "tl.loop_break": "break", "tirx.continue_loop": "continue"}
"""Operators that leave a loop or one turn of it, and the C++ statement for each."""
PRIVATE = (ir.Scope.LOCAL.value, ir.Scope.VARIABLE.value)
"""Scopes of which each thread has its own copy."""


def is_print(node: ir.Node) -> bool:
    return (
        isinstance(node, ir.Call)
        and node.op == "tirx.call_extern"
        and isinstance(node.args[0], ir.StringImm)
        and node.args[0].value in PRINTS
    )


def copied_to_print(first: ir.Stmt, then: ir.Stmt) -> ir.Buffer | None:
    """The tile that T.print copies to shared memory in its first statement, to print it in the next; None for others.

    TileLang 0.1.15 prints every whole tile that is not in shared memory this way."""
    call = first.value if isinstance(first, ir.Evaluate) else None
    if not isinstance(call, ir.Call) or call.op != "tl.tileop.copy":
        return None
    source, target = (next((n for n in ir.walk(arg) if isinstance(n, ir.BufferLoad)), None) for arg in call.args[:2])
    printed = (load for node in ir.walk(then) if is_print(node) for load in ir.walk(node))
    if source is None or target is None or not isinstance(then, ir.IfThenElse):
        return None
    return source.buffer if any(isinstance(n, ir.Buffer) and n is target.buffer for n in printed) else None


def _acts_in_every_thread(node: ir.Node) -> bool:
    return (isinstance(node, ir.Call) and node.op in ATOMICS) or is_print(node)


class Varying:
    """The answer for one launch."""

    def __init__(self, body: ir.Stmt) -> None:
        self.vars: set[ir.Var] = set()
        """Variables with a value of their own in each thread."""
        self.memory: set[ir.Var] = set()
        """Data pointers of private buffers whose contents differ from thread to thread."""
        self._in_parallel = False
        while True:
            known = len(self.vars) + len(self.memory)
            self._visit(body, False)
            if len(self.vars) + len(self.memory) == known:
                return

    def of(self, node: ir.Node) -> bool:
        """Whether a value or statement depends on the thread, or acts in every one of them."""
        return any(self._varies(n) or _acts_in_every_thread(n) for n in ir.walk(node))

    def names_thread(self, node: ir.Node) -> bool:
        """Whether a value or statement depends on the thread."""
        return any(self._varies(n) for n in ir.walk(node))

    def _varies(self, node: ir.Node) -> bool:
        return (
            (isinstance(node, ir.Var) and node in self.vars)
            or (isinstance(node, ir.Buffer) and node.data in self.memory)
            or (isinstance(node, ir.Call) and node.op in THREAD_VALUES)
        )

    def _value(self, node: ir.Node) -> bool:
        returns_before = any(isinstance(n, ir.Call) and n.op in ATOMICS and n.dtype != "handle" for n in ir.walk(node))
        return self.names_thread(node) or (returns_before and not self._in_parallel)

    def diverges(self, stmt: ir.For | ir.While | ir.IfThenElse) -> bool:
        """Whether threads may take different ways through the statement, which then runs whole in each of them."""
        if isinstance(stmt, ir.IfThenElse):
            return self.of(stmt.condition)
        control: tuple[ir.Expr, ...] = (stmt.condition,) if isinstance(stmt, ir.While) else (stmt.min, stmt.extent)
        return any(self.of(expr) for expr in control) or any(self._leaves(stmt.body, False))

    def _leaves(self, stmt: ir.Stmt | None, diverged: bool) -> Iterator[bool]:
        """For each way out of the enclosing loop, whether only some threads take it."""
        if isinstance(stmt, ir.SeqStmt):
            for inner in stmt.seq:
                yield from self._leaves(inner, diverged)
        elif isinstance(stmt, ir.IfThenElse):
            inside = diverged or self.of(stmt.condition)
            yield from self._leaves(stmt.then_case, inside)
            yield from self._leaves(stmt.else_case, inside)
        elif isinstance(stmt, ir.AttrStmt):
            yield from self._leaves(stmt.body, diverged)
        elif isinstance(stmt, ir.SBlockRealize):
            yield from self._leaves(stmt.block.body, diverged)
        elif isinstance(stmt, ir.Evaluate) and isinstance(stmt.value, ir.Call) and stmt.value.op in BREAKS:
            yield diverged

    def _visit(self, stmt: ir.Stmt | None, diverged: bool) -> None:
        if isinstance(stmt, ir.Bind):
            if diverged or self._value(stmt.value):
                self.vars.add(stmt.var)
        elif isinstance(stmt, ir.BufferStore):
            if diverged or self._value(stmt.value) or any(self._value(index) for index in stmt.indices):
                self._written(stmt.buffer)
        elif isinstance(stmt, ir.Evaluate):
            writes = isinstance(stmt.value, ir.Call) and stmt.value.op.startswith("tl.tileop.")
            if writes and (diverged or self._value(stmt.value)):
                for node in ir.walk(stmt.value):
                    if isinstance(node, ir.BufferLoad):
                        self._written(node.buffer)
        elif isinstance(stmt, ir.SeqStmt):
            for inner in stmt.seq:
                self._visit(inner, diverged)
        elif isinstance(stmt, ir.For):
            if stmt.thread_binding is not None and stmt.thread_binding.thread_tag.startswith("threadIdx"):
                self.vars.add(stmt.loop_var)
            inside = diverged or self.diverges(stmt)
            if inside:
                self.vars.add(stmt.loop_var)
            outside = self._in_parallel
            self._in_parallel = outside or stmt.kind is ir.LoopKind.PARALLEL
            self._visit(stmt.body, inside)
            self._in_parallel = outside
        elif isinstance(stmt, ir.While):
            self._visit(stmt.body, diverged or self.diverges(stmt))
        elif isinstance(stmt, ir.IfThenElse):
            inside = diverged or self.diverges(stmt)
            self._visit(stmt.then_case, inside)
            self._visit(stmt.else_case, inside)
        elif isinstance(stmt, ir.AttrStmt):
            self._visit(stmt.body, diverged)
        elif isinstance(stmt, ir.SBlockRealize):
            self._visit(stmt.block.body, diverged)

    def _written(self, buffer: ir.Buffer) -> None:
        if buffer.scope in PRIVATE:
            self.memory.add(buffer.data)
