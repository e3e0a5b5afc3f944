"""The tile-level IR of one kernel, as plain Python objects.

A traced kernel leaves the learner's process as the JSON text of `tvm.ir.save_json`. `capsule.read` turns that text into
these classes without TVM: vetting a kernel, counting its work and emitting it for a CPU then need no native code that a
malformed text could crash. Class and field names are TVM's own (`tirx.For` is `For`): its documentation applies.

Nodes compare by identity, as in TVM: two variables named `i` are two variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import Enum, IntEnum


class LoopKind(IntEnum):
    """How a loop runs (the numbers are TVM's `ForKind`)."""

    SERIAL = 0
    PARALLEL = 1
    VECTORIZED = 2
    UNROLLED = 3
    THREAD_BINDING = 4


class Scope(str, Enum):
    """Where a buffer lives; the values are TileLang's scope strings."""

    GLOBAL = "global"
    SHARED = "shared"
    SHARED_DYNAMIC = "shared.dyn"
    SHARED_BARRIER = "shared.barrier"
    FRAGMENT = "local.fragment"
    LOCAL = "local"
    VARIABLE = "local.var"
    REDUCER = "local.reducer"

    @property
    def is_shared(self) -> bool:
        return self in (Scope.SHARED, Scope.SHARED_DYNAMIC)

    @property
    def is_tile(self) -> bool:
        """Whether TileLang distributes or shares the buffer among a block's threads."""
        return self.is_shared or self is Scope.FRAGMENT


@dataclass(eq=False, slots=True)
class Node:
    """Anything in the IR."""


@dataclass(eq=False, slots=True)
class Expr(Node):
    dtype: str


@dataclass(eq=False, slots=True)
class Stmt(Node):
    line: int | None
    """Line in the learner's file that the statement was traced from; None where TileLang recorded none."""


# Expressions


@dataclass(eq=False, slots=True)
class Var(Expr):
    name: str
    scope: str = ""
    """Storage scope of the memory a pointer variable points to; empty for a scalar."""


@dataclass(eq=False, slots=True)
class IntImm(Expr):
    value: int


@dataclass(eq=False, slots=True)
class FloatImm(Expr):
    value: float


@dataclass(eq=False, slots=True)
class StringImm(Expr):
    value: str


@dataclass(eq=False, slots=True)
class Cast(Expr):
    value: Expr


@dataclass(eq=False, slots=True)
class Binary(Expr):
    """An arithmetic, comparison or logical operator with two operands."""

    a: Expr
    b: Expr


class Add(Binary): ...


class Sub(Binary): ...


class Mul(Binary): ...


class Div(Binary):
    """Division; truncates for integers."""


class Mod(Binary):
    """Remainder of a truncating division."""


class FloorDiv(Binary): ...


class FloorMod(Binary): ...


class Min(Binary): ...


class Max(Binary): ...


class EQ(Binary): ...


class NE(Binary): ...


class LT(Binary): ...


class LE(Binary): ...


class GT(Binary): ...


class GE(Binary): ...


class And(Binary): ...


class Or(Binary): ...


@dataclass(eq=False, slots=True)
class Not(Expr):
    a: Expr


@dataclass(eq=False, slots=True)
class Select(Expr):
    """Both values may be evaluated, unlike `tirx.if_then_else`."""

    condition: Expr
    true_value: Expr
    false_value: Expr


@dataclass(eq=False, slots=True)
class Let(Expr):
    var: Var
    value: Expr
    body: Expr


@dataclass(eq=False, slots=True)
class Ramp(Expr):
    """The vector base, base + stride, ...; `lanes` elements."""

    base: Expr
    stride: Expr
    lanes: Expr


@dataclass(eq=False, slots=True)
class Broadcast(Expr):
    value: Expr
    lanes: Expr


@dataclass(eq=False, slots=True)
class BufferLoad(Expr):
    buffer: Buffer
    indices: list[Expr]


@dataclass(eq=False, slots=True)
class Call(Expr):
    """An operator applied to arguments: mathematics, a tile operation, or an intrinsic."""

    op: str
    args: list[Expr]
    annotations: dict[str, object]


# Buffers and loops


@dataclass(eq=False, slots=True)
class Buffer(Node):
    data: Var
    """The pointer; two buffers with one pointer are views of the same memory."""
    dtype: str
    shape: list[Expr]
    strides: list[Expr]
    elem_offset: Expr | None
    name: str
    line: int | None

    @property
    def scope(self) -> str:
        return self.data.scope or Scope.GLOBAL.value


@dataclass(eq=False, slots=True)
class Range(Node):
    min: Expr
    extent: Expr


@dataclass(eq=False, slots=True)
class IterVar(Node):
    var: Var
    thread_tag: str


@dataclass(eq=False, slots=True)
class BufferRegion(Node):
    buffer: Buffer
    region: list[Range]


@dataclass(eq=False, slots=True)
class MatchBufferRegion(Node):
    buffer: Buffer
    source: BufferRegion


# Statements


@dataclass(eq=False, slots=True)
class BufferStore(Stmt):
    buffer: Buffer
    value: Expr
    indices: list[Expr]


@dataclass(eq=False, slots=True)
class Bind(Stmt):
    """Names a value for the rest of the enclosing sequence."""

    var: Var
    value: Expr


@dataclass(eq=False, slots=True)
class Evaluate(Stmt):
    value: Expr


@dataclass(eq=False, slots=True)
class SeqStmt(Stmt):
    seq: list[Stmt]


@dataclass(eq=False, slots=True)
class For(Stmt):
    loop_var: Var
    min: Expr
    extent: Expr
    kind: LoopKind
    body: Stmt
    thread_binding: IterVar | None
    annotations: dict[str, object]
    step: Expr | None


@dataclass(eq=False, slots=True)
class While(Stmt):
    condition: Expr
    body: Stmt


@dataclass(eq=False, slots=True)
class IfThenElse(Stmt):
    condition: Expr
    then_case: Stmt
    else_case: Stmt | None


@dataclass(eq=False, slots=True)
class AssertStmt(Stmt):
    condition: Expr


@dataclass(eq=False, slots=True)
class AttrStmt(Stmt):
    node: object
    attr_key: str
    value: object
    body: Stmt | None


@dataclass(eq=False, slots=True)
class AllocBuffer(Stmt):
    buffer: Buffer
    annotations: dict[str, object]


@dataclass(eq=False, slots=True)
class DeclBuffer(Stmt):
    buffer: Buffer


@dataclass(eq=False, slots=True)
class SBlock(Stmt):
    name_hint: str
    alloc_buffers: list[Buffer]
    match_buffers: list[MatchBufferRegion]
    annotations: dict[str, object]
    init: Stmt | None
    body: Stmt


@dataclass(eq=False, slots=True)
class SBlockRealize(Stmt):
    predicate: Expr
    block: SBlock


@dataclass(eq=False, slots=True)
class Layout(Node):
    """A `tl.Layout` or `tl.Fragment` that the learner annotated; `fields` as TileLang serialises them."""

    kind: str
    fields: dict[str, object]


@dataclass(eq=False, slots=True)
class PrimFunc(Node):
    params: list[Var]
    buffer_map: dict[Var, Buffer]
    attrs: dict[str, object]
    body: Stmt
    line: int | None

    @property
    def arguments(self) -> list[Buffer | Var]:
        """The parameters in order: the buffer that a handle stands for, or the scalar itself."""
        return [self.buffer_map.get(param, param) for param in self.params]


def children(node: Node) -> Iterator[Node]:
    """The nodes that `node` refers to, in field order; lists and annotation maps are entered, buffers yielded."""
    kind = type(node)
    if kind not in _FIELD_NAMES:
        _FIELD_NAMES[kind] = tuple(field.name for field in fields(node))
    for name in _FIELD_NAMES[kind]:
        yield from _nodes(getattr(node, name))


_FIELD_NAMES: dict[type, tuple[str, ...]] = {}


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _nodes(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _nodes(key)
            yield from _nodes(item)


def walk(node: Node) -> Iterator[Node]:
    """`node` and everything below it, each node once, parents first."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        stack.extend(reversed(list(children(current))))
