"""A kernel's statements in program order, each with what encloses it, and what it reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Flag, auto

from tlpuzzles.kernel import tile_ir as ir


@dataclass(frozen=True)
class Step:
    """One statement where it stands."""

    stmt: ir.Stmt
    loops: tuple[ir.For, ...]
    """Enclosing loops, the outermost first; those of the grid count."""
    conditions: tuple[ir.Expr, ...]
    """Conditions that hold here, of `if` and of `while`; an `else` gives the negation of its condition."""
    line: int | None
    """Line of the statement or, where TileLang recorded none, of what encloses it below the launch."""

    @property
    def launch(self) -> ir.For | None:
        """The outermost loop over blocks, None for a statement outside of `T.Kernel`."""
        return next((loop for loop in self.loops if is_grid(loop)), None)

    @property
    def call(self) -> ir.Call | None:
        """The call that the statement is, of a tile operation for one; None if it is none."""
        value = self.stmt.value if isinstance(self.stmt, ir.Evaluate) else None
        return value if isinstance(value, ir.Call) else None

    @property
    def parallel(self) -> tuple[ir.For, ...]:
        """The `T.Parallel` loops around the statement."""
        return tuple(loop for loop in self.loops if loop.kind is ir.LoopKind.PARALLEL)


class Touch(Flag):
    """What happens to the elements of a buffer."""

    READ = auto()
    WRITE = auto()


@dataclass(frozen=True)
class Access:
    """Elements of a buffer that a statement reads or writes."""

    step: Step
    buffer: ir.Buffer
    touch: Touch
    indices: tuple[ir.Expr, ...]
    op: str
    """Operator that is given a region or pointer, "tl.tileop.copy"; empty for an element named by its indices."""


def is_grid(loop: ir.For) -> bool:
    """Whether the loop runs over blocks of the grid."""
    return loop.thread_binding is not None and loop.thread_binding.thread_tag.startswith("blockIdx")


def steps(func: ir.PrimFunc) -> Iterator[Step]:
    """Every statement, in program order, parents first."""
    yield from _steps(func.body, (), (), None)


def _steps(
    stmt: ir.Stmt, loops: tuple[ir.For, ...], conditions: tuple[ir.Expr, ...], above: int | None
) -> Iterator[Step]:
    line = stmt.line if stmt.line is not None else above
    yield Step(stmt, loops, conditions, line)
    if isinstance(stmt, ir.SeqStmt):
        for child in stmt.seq:
            yield from _steps(child, loops, conditions, above)
    elif isinstance(stmt, ir.For):
        yield from _steps(stmt.body, (*loops, stmt), conditions, None if is_grid(stmt) else line)
    elif isinstance(stmt, ir.IfThenElse):
        yield from _steps(stmt.then_case, loops, (*conditions, stmt.condition), line)
        if stmt.else_case is not None:
            yield from _steps(stmt.else_case, loops, (*conditions, ir.Not("bool", stmt.condition)), line)
    elif isinstance(stmt, ir.While):
        yield from _steps(stmt.body, loops, (*conditions, stmt.condition), line)
    elif isinstance(stmt, ir.SBlockRealize):
        yield from _steps(stmt.block, loops, conditions, None)
    elif isinstance(stmt, ir.SBlock):
        for part in (stmt.init, stmt.body):
            if part is not None:
                yield from _steps(part, loops, conditions, None)
    elif isinstance(stmt, ir.AttrStmt) and stmt.body is not None:
        yield from _steps(stmt.body, loops, conditions, above)


def expressions(stmt: ir.Stmt) -> tuple[ir.Expr, ...]:
    """The expressions of a statement itself, without those of the statements in it."""
    if isinstance(stmt, ir.BufferStore):
        return (stmt.value, *stmt.indices)
    if isinstance(stmt, (ir.Bind, ir.Evaluate)):
        return (stmt.value,)
    if isinstance(stmt, ir.For):
        return (stmt.min, stmt.extent) if stmt.step is None else (stmt.min, stmt.extent, stmt.step)
    if isinstance(stmt, (ir.While, ir.IfThenElse, ir.AssertStmt)):
        return (stmt.condition,)
    if isinstance(stmt, ir.AttrStmt) and isinstance(stmt.value, ir.Expr):
        return (stmt.value,)
    return ()


def accesses(step: Step) -> Iterator[Access]:
    """What the statement itself reads and writes: elements, and regions given to tile operations."""
    stmt = step.stmt
    if isinstance(stmt, ir.BufferStore):
        yield Access(step, stmt.buffer, Touch.WRITE, tuple(stmt.indices), "")
    for expr in expressions(stmt):
        yield from reads(expr, step)


_POINTED = {"tl.region": 1, "tl.access_ptr": 2}
"""Operators that name elements without touching them, and the argument that says what will happen to those: 1 read,
2 write, 3 both."""


def reads(expr: ir.Expr, step: Step, op: str = "") -> Iterator[Access]:
    """The accesses that evaluating `expr` makes; regions and pointers with what is done through them."""
    if isinstance(expr, ir.BufferLoad):
        yield Access(step, expr.buffer, Touch.READ, tuple(expr.indices), "")
        for index in expr.indices:
            yield from reads(index, step)
        return
    if isinstance(expr, ir.Call) and expr.op in _POINTED and expr.args and isinstance(expr.args[0], ir.BufferLoad):
        load, mask = expr.args[0], expr.args[_POINTED[expr.op]] if len(expr.args) > _POINTED[expr.op] else None
        touch = Touch(mask.value & 3) if isinstance(mask, ir.IntImm) else Touch.READ | Touch.WRITE
        yield Access(step, load.buffer, touch, tuple(load.indices), op)
        for part in (*load.indices, *expr.args[1:]):
            yield from reads(part, step)
        return
    below = expr.op if isinstance(expr, ir.Call) else op
    for child in ir.children(expr):
        if isinstance(child, ir.Expr):
            yield from reads(child, step, below)
