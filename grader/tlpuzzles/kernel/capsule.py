"""From the JSON text of a traced kernel to `tile_ir`, trusting nothing in it.

`tvm.ir.load_json` reads natively and ends the process on a bad index, a cycle or a wrong node type. `read` accepts only
what a kernel of this course can contain: known node types, each field of its own kind, and references to earlier nodes
alone (TVM writes children first, so this one rule excludes cycles and indices out of range).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tlpuzzles.kernel import tile_ir as ir

MAX_TEXT = 8 << 20
MAX_TREE = 2_000_000
MAX_DEPTH = 300
NEUTRAL_SOURCE = "<kernel>"
"""What every source name is replaced by: TileLang opens the file that a span names to quote it in an error."""


class CapsuleError(Exception):
    """The text is not the IR of a kernel; the message says what is wrong with it."""


@dataclass(frozen=True)
class Capsule:
    """What leaves the process that traced a learner's file: one kernel, as text."""

    ir: str
    """The PrimFunc as written by `tvm.ir.save_json`."""
    out_idx: tuple[int, ...] | None
    """Positions of the outputs among the parameters as the learner declared them; None if not declared."""
    pass_configs: Mapping[str, object] = field(default_factory=dict)
    path: str = ""
    """The learner's file, as its spans name it."""


@dataclass(frozen=True)
class Document:
    """A capsule's text after the check: the parsed JSON with neutral source names, and the IR read from it."""

    json: dict[str, Any]
    func: ir.PrimFunc

    def text(self) -> str:
        """The checked document for `tvm.ir.load_json`."""
        return json.dumps(self.json)


# Field kinds. A reader takes the raw JSON value and the nodes read so far, and returns the field's Python value.
Reader = Callable[[Any, "_Nodes"], Any]


class _Nodes:
    def __init__(self, path: str) -> None:
        self.values: list[Any] = []
        self.path = path

    def at(self, index: Any) -> Any:
        if type(index) is not int or not 0 <= index < len(self.values):
            raise CapsuleError(f"refers to node {index!r}, and only earlier nodes may be referred to")
        return self.values[index]


def _ref(*types: type, optional: bool = False) -> Reader:
    def read(raw: Any, nodes: _Nodes) -> Any:
        value = nodes.at(raw)
        if value is None and optional:
            return None
        if not isinstance(value, types):
            wanted = " or ".join(t.__name__ for t in types)
            raise CapsuleError(f"holds {type(value).__name__} where {wanted} belongs")
        return value

    return read


def _list(of: type) -> Reader:
    def read(raw: Any, nodes: _Nodes) -> Any:
        value = nodes.at(raw)
        if not isinstance(value, list) or not all(isinstance(item, of) for item in value):
            raise CapsuleError(f"does not hold a list of {of.__name__}")
        return value

    return read


def _exact(kind: type, low: int | None = None, high: int | None = None) -> Reader:
    def read(raw: Any, nodes: _Nodes) -> Any:
        if type(raw) is not kind or (low is not None and raw < low) or (high is not None and raw > high):
            raise CapsuleError(f"holds {str(raw)[:40]!r} where a {kind.__name__} in range belongs")
        return raw

    return read


def _number(raw: Any, nodes: _Nodes) -> float:
    # TVM writes infinities and NaN as the bare words Infinity and NaN, which Python's json accepts.
    if type(raw) not in (int, float):
        raise CapsuleError(f"holds {str(raw)[:40]!r} where a number belongs")
    try:
        return float(raw)
    except OverflowError:
        raise CapsuleError("holds a number too large for a float") from None


def _dtype(raw: Any, nodes: _Nodes) -> str:
    if type(raw) is not str or not _DTYPE.fullmatch(raw):
        raise CapsuleError(f"holds {str(raw)[:40]!r} where a dtype belongs")
    return raw


def _anything(raw: Any, nodes: _Nodes) -> Any:
    return nodes.at(raw)


def _string(raw: Any, nodes: _Nodes) -> str:
    value = nodes.at(raw)
    if type(value) is not str or len(value) > 4096:
        raise CapsuleError("does not hold a name")
    return value


def _string_map(raw: Any, nodes: _Nodes) -> dict[str, Any]:
    value = nodes.at(raw)
    if not isinstance(value, dict) or not all(type(key) is str for key in value):
        raise CapsuleError("does not hold a map with names as keys")
    return value


@dataclass(frozen=True)
class _Span:
    line: int | None


@dataclass(frozen=True)
class _Ignored:
    """A node that is checked and kept in the JSON but says nothing about the kernel (types, relax annotations)."""


@dataclass(frozen=True)
class _Operator:
    name: str


_DTYPE = re.compile(r"(|void|handle|bool|(u?int|float|bfloat|float\d+_e\d+m\d+\w*)\d*)(x\d{1,3})?")
_EXPR = _ref(ir.Expr)
_STMT = _ref(ir.Stmt)
_VAR = _ref(ir.Var)
_IGNORED = _ref(_Ignored, optional=True)
_INT32 = (-(2**31), 2**31 - 1)


def _line(raw: Any, nodes: _Nodes) -> int | None:
    value = nodes.at(raw)
    if value is None:
        return None
    if not isinstance(value, _Span):
        raise CapsuleError(f"holds {type(value).__name__} where a span belongs")
    return value.line


def _op(raw: Any, nodes: _Nodes) -> str:
    value = nodes.at(raw)
    if not isinstance(value, _Operator):
        raise CapsuleError(f"calls {type(value).__name__}, which is no operator")
    return value.name


@dataclass(frozen=True)
class _Schema:
    """How a TVM node type is read: every field the text must have, and which of them `build` receives."""

    build: Callable[..., Any]
    read: Mapping[str, Reader]
    check: Mapping[str, Reader] = field(default_factory=dict)


def _binary(kind: type[ir.Binary]) -> _Schema:
    return _Schema(kind, {"dtype": _dtype, "a": _EXPR, "b": _EXPR}, {"span": _line})


def _ignored(**fields: Reader) -> _Schema:
    return _Schema(lambda: _Ignored(), {}, fields)


def _pointer_scope(element_type: Any, storage_scope: str) -> _PointerType:
    return _PointerType(storage_scope)


@dataclass(frozen=True)
class _PointerType(_Ignored):
    scope: str


def _var(dtype: str, name: str, type_annotation: _Ignored | None) -> ir.Var:
    return ir.Var(dtype, name, type_annotation.scope if isinstance(type_annotation, _PointerType) else "")


def _absent(raw: Any, nodes: _Nodes) -> None:
    if nodes.at(raw) is not None:
        raise CapsuleError("uses a feature of the IR that no kernel of this course has")


def _buffer_map(raw: Any, nodes: _Nodes) -> dict[ir.Var, ir.Buffer]:
    value = nodes.at(raw)
    if not isinstance(value, dict) or not all(
        isinstance(k, ir.Var) and isinstance(v, ir.Buffer) for k, v in value.items()
    ):
        raise CapsuleError("does not map parameters to buffers")
    return value


def _layout(kind: str) -> Callable[..., ir.Layout]:
    return lambda **fields: ir.Layout(kind, fields)


def _axis_type(raw: Any, nodes: _Nodes) -> None:
    _exact(int, 0, 8)(raw, nodes)


_STATEMENT: dict[str, Reader] = {"span": _line}
_SPAN: dict[str, Reader] = {"span": _line}

SCHEMAS: dict[str, _Schema] = {
    **{
        f"tirx.{kind.__name__}": _binary(kind)
        for kind in (
            *(ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Mod, ir.FloorDiv, ir.FloorMod, ir.Min, ir.Max),
            *(ir.EQ, ir.NE, ir.LT, ir.LE, ir.GT, ir.GE, ir.And, ir.Or),
        )
    },
    "ir.IntImm": _Schema(ir.IntImm, {"dtype": _dtype, "value": _exact(int, -(2**63), 2**63 - 1)}, _SPAN),
    "ir.FloatImm": _Schema(ir.FloatImm, {"dtype": _dtype, "value": _number}, _SPAN),
    "tirx.StringImm": _Schema(ir.StringImm, {"dtype": _dtype, "value": _string}, _SPAN),
    "tirx.Var": _Schema(
        _var, {"dtype": _dtype, "name": _string, "type_annotation": _ref(_Ignored, optional=True)}, _SPAN
    ),
    "tirx.SizeVar": _Schema(
        _var, {"dtype": _dtype, "name": _string, "type_annotation": _ref(_Ignored, optional=True)}, _SPAN
    ),
    "tirx.Cast": _Schema(ir.Cast, {"dtype": _dtype, "value": _EXPR}, {**_SPAN, "annotations": _string_map}),
    "tirx.Not": _Schema(ir.Not, {"dtype": _dtype, "a": _EXPR}, _SPAN),
    "tirx.Select": _Schema(
        ir.Select, {"dtype": _dtype, "condition": _EXPR, "true_value": _EXPR, "false_value": _EXPR}, _SPAN
    ),
    "tirx.Let": _Schema(ir.Let, {"dtype": _dtype, "var": _VAR, "value": _EXPR, "body": _EXPR}, _SPAN),
    "tirx.Ramp": _Schema(ir.Ramp, {"dtype": _dtype, "base": _EXPR, "stride": _EXPR, "lanes": _EXPR}, _SPAN),
    "tirx.Broadcast": _Schema(ir.Broadcast, {"dtype": _dtype, "value": _EXPR, "lanes": _EXPR}, _SPAN),
    "tirx.BufferLoad": _Schema(
        ir.BufferLoad,
        {"dtype": _dtype, "buffer": _ref(ir.Buffer), "indices": _list(ir.Expr)},
        {**_SPAN, "predicate": _absent},
    ),
    "tirx.Call": _Schema(
        ir.Call, {"dtype": _dtype, "op": _op, "args": _list(ir.Expr), "annotations": _string_map}, _SPAN
    ),
    "tirx.Buffer": _Schema(
        ir.Buffer,
        {
            "data": _VAR,
            "dtype": _dtype,
            "shape": _list(ir.Expr),
            "strides": _list(ir.Expr),
            "elem_offset": _ref(ir.Expr, optional=True),
            "name": _string,
            "line": _line,
        },
        {
            "axis_separators": _list(ir.IntImm),
            "data_alignment": _exact(int, 0, 4096),
            "offset_factor": _exact(int, 0, 4096),
            "buffer_type": _exact(int, 0, 2),
        },
    ),
    "ir.Range": _Schema(ir.Range, {"min": _EXPR, "extent": _EXPR}, _SPAN),
    "tirx.IterVar": _Schema(
        ir.IterVar,
        {"var": _VAR, "thread_tag": _string},
        {"dom": _ref(ir.Range, optional=True), "iter_type": _axis_type},
    ),
    "tirx.BufferRegion": _Schema(ir.BufferRegion, {"buffer": _ref(ir.Buffer), "region": _list(ir.Range)}),
    "tirx.MatchBufferRegion": _Schema(
        ir.MatchBufferRegion, {"buffer": _ref(ir.Buffer), "source": _ref(ir.BufferRegion)}
    ),
    "tirx.BufferStore": _Schema(
        ir.BufferStore,
        {"line": _line, "buffer": _ref(ir.Buffer), "value": _EXPR, "indices": _list(ir.Expr)},
        {"predicate": _absent},
    ),
    "tirx.Bind": _Schema(ir.Bind, {"line": _line, "var": _VAR, "value": _EXPR}),
    "tirx.Evaluate": _Schema(ir.Evaluate, {"line": _line, "value": _EXPR}),
    "tirx.SeqStmt": _Schema(ir.SeqStmt, {"line": _line, "seq": _list(ir.Stmt)}),
    "tirx.For": _Schema(
        ir.For,
        {
            "line": _line,
            "loop_var": _VAR,
            "min": _EXPR,
            "extent": _EXPR,
            "kind": lambda raw, nodes: ir.LoopKind(_exact(int, 0, 4)(raw, nodes)),
            "body": _STMT,
            "thread_binding": _ref(ir.IterVar, optional=True),
            "annotations": _string_map,
            "step": _ref(ir.Expr, optional=True),
        },
    ),
    "tirx.While": _Schema(ir.While, {"line": _line, "condition": _EXPR, "body": _STMT}),
    "tirx.IfThenElse": _Schema(
        ir.IfThenElse,
        {"line": _line, "condition": _EXPR, "then_case": _STMT, "else_case": _ref(ir.Stmt, optional=True)},
    ),
    "tirx.AssertStmt": _Schema(
        ir.AssertStmt, {"line": _line, "condition": _EXPR}, {"error_kind": _anything, "message_parts": _anything}
    ),
    "tirx.AttrStmt": _Schema(
        ir.AttrStmt,
        {
            "line": _line,
            "node": _anything,
            "attr_key": _string,
            "value": _EXPR,
            "body": _ref(ir.Stmt, optional=True),
        },
    ),
    "tirx.AllocBuffer": _Schema(
        ir.AllocBuffer, {"line": _line, "buffer": _ref(ir.Buffer), "annotations": _string_map}
    ),
    "tirx.DeclBuffer": _Schema(ir.DeclBuffer, {"line": _line, "buffer": _ref(ir.Buffer)}),
    "tirx.SBlock": _Schema(
        ir.SBlock,
        {
            "line": _line,
            "name_hint": _string,
            "alloc_buffers": _list(ir.Buffer),
            "match_buffers": _list(ir.MatchBufferRegion),
            "annotations": _string_map,
            "init": _ref(ir.Stmt, optional=True),
            "body": _STMT,
        },
        {"iter_vars": _list(ir.IterVar), "reads": _list(ir.BufferRegion), "writes": _list(ir.BufferRegion)},
    ),
    "tirx.SBlockRealize": _Schema(
        ir.SBlockRealize,
        {"line": _line, "predicate": _EXPR, "block": _ref(ir.SBlock)},
        {"iter_values": _list(ir.Expr)},
    ),
    "tirx.PrimFunc": _Schema(
        ir.PrimFunc,
        {
            "params": _list(ir.Var),
            "buffer_map": _buffer_map,
            "attrs": lambda raw, nodes: _attributes(nodes.at(raw)),
            "body": _STMT,
            "line": _line,
        },
        {"struct_info_": _IGNORED, "ret_type": _IGNORED},
    ),
    "ir.DictAttrs": _Schema(lambda attrs: _Attributes(attrs), {"attrs": _string_map}),
    "ir.PrimType": _ignored(span=_line, dtype=_dtype),
    "ir.TupleType": _ignored(span=_line, fields=_list(_Ignored)),
    "ir.PointerType": _Schema(
        _pointer_scope, {"element_type": _IGNORED, "storage_scope": _string}, {"span": _line}
    ),
    "relax.ShapeStructInfo": _ignored(span=_line, values=_anything, ndim=_exact(int, -1, 16)),
    "relax.expr.ShapeExpr": _ignored(span=_line, struct_info_=_IGNORED, values=_list(ir.Expr)),
    "relax.TensorStructInfo": _ignored(
        span=_line, shape=_IGNORED, dtype=_dtype, vdevice=_absent, ndim=_exact(int, -1, 16)
    ),
    "relax.PrimStructInfo": _ignored(span=_line, value=_anything, dtype=_dtype),
    "relax.ObjectStructInfo": _ignored(span=_line),
    "relax.TupleStructInfo": _ignored(span=_line, fields=_list(_Ignored)),
    "relax.FuncStructInfo": _ignored(
        span=_line,
        params=_list(_Ignored),
        ret=_IGNORED,
        derive_func=_absent,
        purity=_exact(bool),
    ),
    "tl.Layout": _Schema(
        _layout("Layout"), {"input_size": _list(ir.Expr), "forward_index": _list(ir.Expr)}
    ),
}

# Fields whose Python name differs from the JSON's.
_JSON_NAME = {"line": "span", "attrs": "__dict__"}


@dataclass(frozen=True)
class _Attributes:
    values: dict[str, Any]


def _attributes(value: Any) -> dict[str, Any]:
    if not isinstance(value, _Attributes):
        raise CapsuleError("has no attributes")
    return value.values


def _json_name(type_key: str, name: str) -> str:
    if name == "attrs" and type_key != "ir.DictAttrs":
        return "attrs"
    return _JSON_NAME.get(name, name)


def read(capsule: Capsule) -> Document:
    """Checks and reads the capsule's text. Raises CapsuleError, and nothing else, on a text that is not a kernel's."""
    if len(capsule.ir) > MAX_TEXT:
        raise CapsuleError(f"the kernel's IR is {len(capsule.ir) >> 20} MiB long; at most {MAX_TEXT >> 20} MiB is read")
    try:
        document = json.loads(capsule.ir)
    except (ValueError, RecursionError) as error:
        raise CapsuleError(f"the kernel's IR is not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("nodes"), list):
        raise CapsuleError("the kernel's IR has no list of nodes")
    if set(document) - {"root_index", "nodes", "metadata"}:
        raise CapsuleError("the kernel's IR has sections that TileLang does not write")
    nodes = _Nodes(capsule.path)
    measured: list[tuple[int, int]] = []
    for number, node in enumerate(document["nodes"]):
        try:
            nodes.values.append(_read_node(node, nodes))
            measured.append(_measure(node, measured))
        except CapsuleError as error:
            kind = node.get("type") if isinstance(node, dict) else None
            raise CapsuleError(f"node {number} ({str(kind)[:40]}) {error}") from None
    root = document.get("root_index")
    if type(root) is not int or root != len(nodes.values) - 1 or not isinstance(nodes.values[root], ir.PrimFunc):
        raise CapsuleError("the kernel's IR does not end in one PrimFunc")
    return Document(document, nodes.values[root])


def _read_node(node: Any, nodes: _Nodes) -> Any:
    if not isinstance(node, dict) or set(node) - {"type", "data"} or type(node.get("type")) is not str:
        raise CapsuleError("is not a node")
    kind, data = node["type"], node.get("data")
    if kind == "None":
        if data is not None:
            raise CapsuleError("holds data and should not")
        return None
    if kind == "ffi.Array":
        return [nodes.at(index) for index in _sequence(data)]
    if kind == "ffi.Map":
        return _read_map(_sequence(data), nodes)
    if kind == "ffi.String":
        return _text(data)
    if kind == "ir.SourceName":
        is_learners = _text(data) == nodes.path
        node["data"] = NEUTRAL_SOURCE
        return _Source(is_learners)
    if kind == "ir.Span":
        return _read_span(data, nodes)
    if kind == "ir.Op":
        return _Operator(_text(data))
    if kind in ("int", "float", "bool"):
        return _scalar(kind, data)
    schema = SCHEMAS.get(kind)
    if schema is None:
        raise CapsuleError("is of a type that no kernel of this course contains")
    return _build(kind, schema, data, nodes)


@dataclass(frozen=True)
class _Source:
    is_learners: bool


def _build(kind: str, schema: _Schema, data: Any, nodes: _Nodes) -> Any:
    expected = {_json_name(kind, name) for name in (*schema.read, *schema.check)}
    if not isinstance(data, dict) or set(data) != expected:
        raise CapsuleError(f"does not have exactly the fields {', '.join(sorted(expected))}")
    for name, reader in schema.check.items():
        _field(name, reader, data, nodes)
    return schema.build(**{name: _field(_json_name(kind, name), reader, data, nodes) for name, reader in schema.read.items()})


def _field(name: str, reader: Reader, data: dict[str, Any], nodes: _Nodes) -> Any:
    try:
        return reader(data[name], nodes)
    except CapsuleError as error:
        raise CapsuleError(f"field {name}: {error}") from None


def _sequence(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise CapsuleError("does not hold a list")
    return data


def _text(data: Any) -> str:
    if type(data) is not str:
        raise CapsuleError("does not hold text")
    return data


def _scalar(kind: str, data: Any) -> int | float | bool:
    if kind == "float":
        return _number(data, _Nodes(""))
    if type(data) is not {"int": int, "bool": bool}[kind]:
        raise CapsuleError(f"does not hold a {kind}")
    return data  # type: ignore[no-any-return]


def _read_map(data: list[Any], nodes: _Nodes) -> dict[Any, Any]:
    if len(data) % 2:
        raise CapsuleError("has a key without a value")
    result: dict[Any, Any] = {}
    for key_index, value_index in zip(data[::2], data[1::2], strict=True):
        key = nodes.at(key_index)
        if not isinstance(key, (str, ir.Var, ir.Buffer)):
            raise CapsuleError("has a key that is neither a name nor a variable")
        result[key] = nodes.at(value_index)
    return result


def _read_span(data: Any, nodes: _Nodes) -> _Span:
    wanted = {"source_name", "line", "column", "end_line", "end_column"}
    if not isinstance(data, dict) or set(data) != wanted:
        raise CapsuleError("is not a span")
    source = nodes.at(data["source_name"])
    if not isinstance(source, _Source):
        raise CapsuleError("names no source")
    for name in wanted - {"source_name"}:
        _exact(int, 0, 2**31 - 1)(data[name], nodes)
    return _Span(data["line"] if source.is_learners else None)


def _measure(node: dict[str, Any], measured: list[tuple[int, int]]) -> tuple[int, int]:
    """Size and depth of the tree below a node: a shared node counts each time, as a visitor would meet it."""
    size, depth = 1, 1
    for index in _references(node):
        below_size, below_depth = measured[index]
        size += below_size
        depth = max(depth, below_depth + 1)
    if size > MAX_TREE or depth > MAX_DEPTH:
        raise CapsuleError("makes the kernel too large or too deeply nested to read")
    return size, depth


def _references(node: dict[str, Any]) -> list[int]:
    kind, data = node["type"], node.get("data")
    if kind in ("ffi.Array", "ffi.Map"):
        return list(data)
    if kind in SCHEMAS:
        return [data[name] for name in _reference_fields(kind, data)]
    return []


_PLAIN_FIELDS = {"span", "ndim", "kind", "iter_type", "data_alignment", "offset_factor", "buffer_type"}


def digest(document: Document) -> str:
    """SHA-256 of what the kernel does: names, spans and the position of a node in the text do not change it."""
    order: dict[int, int] = {}
    nodes = document.json["nodes"]

    def visit(index: int) -> object:
        if index in order:
            return order[index]
        node = nodes[index]
        kind, data = node["type"], node.get("data")
        if kind in ("ffi.Array", "ffi.Map"):
            content: object = [visit(i) for i in data]
        elif kind in SCHEMAS:
            references = set(_reference_fields(kind, data))
            content = [
                [name, visit(value) if name in references else _plain(value)]
                for name, value in sorted(data.items())
                if name not in _NAMING_FIELDS.get(kind, ()) and name != "span"
            ]
        else:
            content = _plain(data)
        # Interned values (numbers, names) are one node or many depending on how the text was written, so only
        # nodes with an identity of their own are numbered.
        if kind in _IDENTITY:
            order[index] = len(order)
        return [kind, content]

    text = json.dumps(visit(document.json["root_index"]))
    return hashlib.sha256(text.encode()).hexdigest()


_IDENTITY = {"tirx.Var", "tirx.SizeVar", "tirx.Buffer"}
_NAMING_FIELDS = {
    "tirx.Var": {"name"},
    "tirx.SizeVar": {"name"},
    "tirx.Buffer": {"name"},
    "tirx.SBlock": {"name_hint"},
    "tirx.PrimFunc": {"attrs", "struct_info_"},
}


def _plain(value: object) -> object:
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _reference_fields(kind: str, data: dict[str, Any]) -> list[str]:
    plain = _PLAIN_FIELDS | ({"value"} if kind in ("ir.IntImm", "ir.FloatImm") else set())
    return [name for name, value in data.items() if name not in plain and type(value) is int]
