"""How one field of a node in the JSON of `tvm.ir.save_json` is checked and read.

A field is a plain value (a number, a dtype) or the index of an earlier node. TVM writes children first, so "earlier
nodes only" is the one rule that excludes cycles and indices out of range.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tlpuzzles.kernel import tile_ir as ir

MAX_NAME = 256
MAX_STRING = 1 << 16


class CapsuleError(Exception):
    """The text is not the IR of a kernel; the message names the node and field, and what is wrong with it."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        """Line in the learner's file, where it is known."""


@dataclass(frozen=True)
class Field:
    """One field of a node type."""

    read: Callable[[Any, Nodes], Any]
    """(JSON value, nodes read so far) -> what the field means. Raises CapsuleError."""
    refers: bool
    """Whether the JSON value is the index of another node."""


@dataclass
class Nodes:
    """The nodes read so far, as Python values."""

    values: list[Any]
    path: str
    """The learner's file, as spans name it."""

    def at(self, index: Any) -> Any:
        """The node that a field refers to. Raises CapsuleError unless it is an earlier one."""
        if type(index) is not int or not 0 <= index < len(self.values):
            raise CapsuleError(f"refers to node {shown(index)}, and only earlier nodes may be referred to")
        return self.values[index]


# What a node becomes that is no node of the tile IR.


@dataclass(frozen=True)
class Source:
    is_learners: bool


@dataclass(frozen=True)
class Span:
    line: int | None


@dataclass(frozen=True)
class Operator:
    name: str


@dataclass(frozen=True)
class Ignored:
    """Checked, kept in the JSON, and without a meaning for the kernel: types, relax annotations."""


@dataclass(frozen=True)
class PointerType(Ignored):
    scope: str


@dataclass(frozen=True)
class Attributes:
    values: dict[str, Any]


# Plain values


def integer(low: int, high: int) -> Field:
    def read(raw: Any, nodes: Nodes) -> int:
        if type(raw) is not int or not low <= raw <= high:
            raise CapsuleError(f"holds {shown(raw)} where a whole number from {low} to {high} belongs")
        return raw

    return Field(read, refers=False)


def boolean(raw: Any) -> bool:
    if type(raw) is not bool:
        raise CapsuleError(f"holds {shown(raw)} where true or false belongs")
    return raw


def number(raw: Any) -> float:
    # TVM writes infinities and NaN as the bare words Infinity and NaN, which Python's json accepts.
    if type(raw) not in (int, float):
        raise CapsuleError(f"holds {shown(raw)} where a number belongs")
    try:
        return float(raw)
    except OverflowError:
        raise CapsuleError("holds a number too large for a float") from None


def text(raw: Any) -> str:
    if type(raw) is not str or len(raw) > MAX_STRING:
        raise CapsuleError("does not hold a text of reasonable length")
    try:
        raw.encode()
    except UnicodeEncodeError:
        raise CapsuleError("holds a text that is not Unicode") from None
    return raw


def _dtype(raw: Any) -> str:
    if type(raw) is not str or not _DTYPE.fullmatch(raw):
        raise CapsuleError(f"holds {shown(raw)} where a dtype belongs")
    return raw


# An empty dtype is how TVM writes `void`, the type of a call that gives nothing.
_DTYPE = re.compile(r"(|void|handle|bool|(u?int|float|bfloat)\d{1,3}|float\d_e\d+m\d+\w{0,12})(x\d{1,4})?")

DTYPE = Field(lambda raw, nodes: _dtype(raw), refers=False)
NUMBER = Field(lambda raw, nodes: number(raw), refers=False)
BOOLEAN = Field(lambda raw, nodes: boolean(raw), refers=False)
INT64 = integer(-(2**63), 2**63 - 1)
LOOP_KIND = Field(lambda raw, nodes: ir.LoopKind(integer(0, 4).read(raw, nodes)), refers=False)


# References


def ref(kind: type, *, optional: bool = False) -> Field:
    """The index of a node that was read as a `kind`; with `optional`, None is as good."""

    def read(raw: Any, nodes: Nodes) -> Any:
        value = nodes.at(raw)
        if value is None and optional:
            return None
        if not isinstance(value, kind):
            raise CapsuleError(f"holds {_kind_of(value)} where {kind.__name__} belongs")
        return value

    return Field(read, refers=True)


def list_of(kind: type) -> Field:
    def read(raw: Any, nodes: Nodes) -> list[Any]:
        value = nodes.at(raw)
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise CapsuleError(f"does not hold a list of {kind.__name__}")
        return value

    return Field(read, refers=True)


def map_of(key: type, item: type) -> Field:
    def read(raw: Any, nodes: Nodes) -> dict[Any, Any]:
        value = nodes.at(raw)
        if not isinstance(value, dict) or not all(isinstance(k, key) and isinstance(v, item) for k, v in value.items()):
            raise CapsuleError(f"does not hold a map from {key.__name__} to {item.__name__}")
        return value

    return Field(read, refers=True)


def _line(raw: Any, nodes: Nodes) -> int | None:
    span = ref(Span, optional=True).read(raw, nodes)
    return None if span is None else span.line


def _operator(raw: Any, nodes: Nodes) -> str:
    return ref(Operator).read(raw, nodes).name  # type: ignore[no-any-return]


def _name(raw: Any, nodes: Nodes) -> str:
    # Names reach the generated source and the learner's terminal, so they must be names.
    value = nodes.at(raw)
    if type(value) is not str or len(value) > MAX_NAME or not (value.replace(".", "_").isidentifier() or not value):
        raise CapsuleError("does not hold a name")
    return value


def _attributes(raw: Any, nodes: Nodes) -> dict[str, Any]:
    return ref(Attributes).read(raw, nodes).values  # type: ignore[no-any-return]


def _no_annotations(raw: Any, nodes: Nodes) -> None:
    if nodes.at(raw) != {}:
        raise CapsuleError("asks for a way of rounding (T.cast with round=, sat= or rbits=) that is not supported")


def _absent(raw: Any, nodes: Nodes) -> None:
    if nodes.at(raw) is not None:
        raise CapsuleError("uses a feature of the IR that no kernel of this course has")


EXPR = ref(ir.Expr)
STMT = ref(ir.Stmt)
VAR = ref(ir.Var)
BUFFER = ref(ir.Buffer)
EXPRS = list_of(ir.Expr)
ANNOTATIONS = map_of(str, object)
STRING = ref(str)
IGNORED = ref(Ignored, optional=True)
ANYTHING = Field(lambda raw, nodes: nodes.at(raw), refers=True)
LINE = Field(_line, refers=True)
OPERATOR = Field(_operator, refers=True)
NAME = Field(_name, refers=True)
ATTRIBUTES = Field(_attributes, refers=True)
ABSENT = Field(_absent, refers=True)
NO_ANNOTATIONS = Field(_no_annotations, refers=True)


def shown(value: object) -> str:
    """A value of the text for a message: short, and without characters that a terminal would obey."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > 128:
        return "a very large number"
    return ascii(value[:40] if isinstance(value, str) else value)[:60]


def _kind_of(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
