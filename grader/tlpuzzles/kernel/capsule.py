"""From the JSON text of a traced kernel to `tile_ir`, trusting nothing in it.

`tvm.ir.load_json` reads natively and ends the process on a bad index, a cycle or a wrong node type. `read` accepts only
what a kernel of this course can contain: known node types, each field of its own kind, references to earlier nodes
alone, and operands whose dtypes fit together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tlpuzzles.kernel import digest as _digest
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.fields import (
    CapsuleError,
    Field,
    Nodes,
    Operator,
    Source,
    Span,
    boolean,
    integer,
    number,
    shown,
    text,
)
from tlpuzzles.kernel.schema import SCHEMAS, Schema
from tlpuzzles.kernel.wellformed import check_function, check_node
from tlpuzzles.kernel.whereabouts import line_near

__all__ = ["LIBRARY_SOURCE", "NEUTRAL_SOURCE", "Capsule", "CapsuleError", "Document", "digest", "read"]

MAX_TEXT = 8 << 20
MAX_TREE = 500_000
"""Nodes of the tree, shared ones counted each time a visitor meets them. Attention has 1,700."""
MAX_DEPTH = 200
"""The deepest of 150 kernels tried reaches 28."""

NEUTRAL_SOURCE = "<kernel>"
"""What the learner's path is replaced by: TileLang opens the file that a span names to quote it in an error."""
LIBRARY_SOURCE = "<library>"
"""The same for every other source: a line in it is no line of the learner's file."""


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
        """The checked document for `tvm.ir.load_json`; no path of this machine is in it."""
        return json.dumps(self.json)


def read(capsule: Capsule) -> Document:
    """Checks and reads the capsule's text. Raises CapsuleError, and nothing else, on a text that is not a kernel's."""
    document = _parse(capsule.ir)
    nodes = Nodes([], capsule.path)
    measured: list[tuple[int, int]] = []
    for index, node in enumerate(document["nodes"]):
        try:
            nodes.values.append(_read_node(node, nodes))
            measured.append(_measure(node, measured))
        except CapsuleError as error:
            kind = node.get("type") if isinstance(node, dict) else None
            line = line_near(document["nodes"], index, (capsule.path, NEUTRAL_SOURCE))
            raise CapsuleError(f"node {index} ({shown(kind)}) {error}", line) from None
    root = document.get("root_index")
    if type(root) is not int or root != len(nodes.values) - 1 or not isinstance(nodes.values[root], ir.PrimFunc):
        raise CapsuleError("the field root_index does not name a PrimFunc at the end of the kernel's IR")
    check_function(nodes.values[root])
    return Document(document, nodes.values[root])


def digest(document: Document) -> str:
    """SHA-256, in hex, of what the kernel does: names, comments and the place of the file do not change it."""
    return _digest.of_nodes(document.json["nodes"], document.json["root_index"])


def _parse(source: str) -> dict[str, Any]:
    if not isinstance(source, str):
        raise CapsuleError("the kernel's IR is not a text")
    if len(source) > MAX_TEXT:
        raise CapsuleError(f"the kernel's IR is {len(source) >> 20} MiB long; at most {MAX_TEXT >> 20} MiB is read")
    try:
        document = json.loads(source, object_pairs_hook=_object, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise CapsuleError(f"the kernel's IR is not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("nodes"), list):
        raise CapsuleError("the kernel's IR has no list of nodes")
    if set(document) - {"root_index", "nodes", "metadata"}:
        raise CapsuleError("the kernel's IR has sections that TileLang does not write")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Readers differ in which of two values they take for a repeated key.
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key appears twice")
    return result


def _integer(digits: str) -> int:
    # A number of a million digits would take Python minutes.
    if len(digits) > 40:
        raise ValueError("a number has too many digits")
    return int(digits)


def _read_node(node: Any, nodes: Nodes) -> Any:
    if not isinstance(node, dict) or set(node) - {"type", "data"} or type(node.get("type")) is not str:
        raise CapsuleError("is not a node")
    kind, data = node["type"], node.get("data")
    schema = SCHEMAS.get(kind)
    if schema is not None:
        return _build(schema, data, nodes)
    plain: Callable[[dict[str, Any], Nodes], Any] | None = _PLAIN.get(kind)
    if plain is None:
        raise CapsuleError("is of a type that no kernel of this course contains")
    return plain(node, nodes)


def _build(schema: Schema, data: Any, nodes: Nodes) -> Any:
    if not isinstance(data, dict) or data.keys() != schema.fields.keys():
        raise CapsuleError(f"does not have exactly the fields {', '.join(sorted(schema.fields))}")
    for name, kind in schema.check.items():
        _field(name, kind, data[name], nodes)
    values = {name: _field(name, kind, data[name], nodes) for name, kind in schema.read.items()}
    if "span" in values:
        values["line"] = values.pop("span")
    built = schema.build(**values)
    if isinstance(built, ir.Node):
        check_node(built)
    return built


def _field(name: str, kind: Field, raw: Any, nodes: Nodes) -> Any:
    try:
        return kind.read(raw, nodes)
    except CapsuleError as error:
        raise CapsuleError(f"field {name}: {error}") from None


# Node types that are no records.


def _none(node: dict[str, Any], nodes: Nodes) -> None:
    if node.get("data") is not None:
        raise CapsuleError("holds data and should not")


def _string(node: dict[str, Any], nodes: Nodes) -> str:
    value = text(node.get("data"))
    node["data"] = value = _LOCATION.sub(lambda match: _location(match, nodes.path), value)
    return value


# `T.device_assert` ends its message with the place it stands at, as TileLang's get_stack_str writes it.
_LOCATION = re.compile(r"^  at (?P<path>.+):(?P<line>\d{1,9}) in (?P<name>\S+)$", re.MULTILINE)


def _location(match: re.Match[str], path: str) -> str:
    source = NEUTRAL_SOURCE if match["path"] == path else LIBRARY_SOURCE
    return f"  at {source}:{match['line']} in {match['name']}"


def _source(node: dict[str, Any], nodes: Nodes) -> Source:
    is_learners = text(node.get("data")) == nodes.path
    node["data"] = NEUTRAL_SOURCE if is_learners else LIBRARY_SOURCE
    return Source(is_learners)


def _span(node: dict[str, Any], nodes: Nodes) -> Span:
    data = node.get("data")
    if not isinstance(data, dict) or set(data) != {"source_name", *_SPAN_NUMBERS}:
        raise CapsuleError("is not a span")
    source = nodes.at(data["source_name"])
    if not isinstance(source, Source):
        raise CapsuleError("field source_name: names no source")
    for name in _SPAN_NUMBERS:
        _field(name, _LINE_NUMBER, data[name], nodes)
    return Span(data["line"] if source.is_learners else None)


_SPAN_NUMBERS = ("line", "column", "end_line", "end_column")
_LINE_NUMBER = integer(0, 2**31 - 1)


def _operator(node: dict[str, Any], nodes: Nodes) -> Operator:
    name = text(node.get("data"))
    if not _OPERATOR.fullmatch(name):
        raise CapsuleError(f"is called {shown(name)}, which is no name of an operator")
    return Operator(name)


_OPERATOR = re.compile(r"(tirx|tl)(\.\w{1,64}){1,3}", re.ASCII)


def _array(node: dict[str, Any], nodes: Nodes) -> list[Any]:
    return [nodes.at(index) for index in _indices(node)]


def _map(node: dict[str, Any], nodes: Nodes) -> dict[Any, Any]:
    indices = _indices(node)
    if len(indices) % 2:
        raise CapsuleError("has a key without a value")
    result: dict[Any, Any] = {}
    for key_index, value_index in zip(indices[::2], indices[1::2], strict=True):
        key = nodes.at(key_index)
        if not isinstance(key, (str, ir.Var)):
            raise CapsuleError("has a key that is neither a name nor a variable")
        if key in result:
            raise CapsuleError("has a key twice")
        result[key] = nodes.at(value_index)
    return result


def _indices(node: dict[str, Any]) -> list[Any]:
    data = node.get("data")
    if not isinstance(data, list):
        raise CapsuleError("does not hold a list")
    return data


_PLAIN = {
    "None": _none,
    "ffi.Array": _array,
    "ffi.Map": _map,
    "ffi.String": _string,
    "ir.SourceName": _source,
    "ir.Span": _span,
    "ir.Op": _operator,
    "int": lambda node, nodes: integer(-(2**63), 2**63 - 1).read(node.get("data"), nodes),
    "float": lambda node, nodes: number(node.get("data")),
    "bool": lambda node, nodes: boolean(node.get("data")),
}


def _measure(node: dict[str, Any], measured: list[tuple[int, int]]) -> tuple[int, int]:
    """Size and depth of the tree below a node: a shared node counts each time, as a visitor would meet it."""
    size, depth = 1, 1
    for index in _digest.references(node):
        below_size, below_depth = measured[index]
        size += below_size
        depth = max(depth, below_depth + 1)
    if size > MAX_TREE or depth > MAX_DEPTH:
        raise CapsuleError("makes the kernel too large or too deeply nested to read")
    return size, depth
