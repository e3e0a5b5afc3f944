"""A hash of what a kernel does, for caches and for finding a file handed in twice.

It leaves out what a learner can change without changing the kernel: names, comments, the place of the file, and with
them the line numbers. Nodes are hashed from the leaves up, so a text whose tree is huge costs no more than its length.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from tlpuzzles.kernel.schema import SCHEMAS

_WITH_IDENTITY = {"tirx.Var", "tirx.SizeVar", "tirx.Buffer"}
"""Two of these are two even if they look alike; every other node is what it looks like."""
_LEFT_OUT = {
    "tirx.Var": {"name"},
    "tirx.SizeVar": {"name"},
    "tirx.Buffer": {"name"},
    "tirx.SBlock": {"name_hint"},
    "tirx.PrimFunc": {"struct_info_"},
}
_NAME_OF_FUNCTION = "global_symbol"
_LOCATION = re.compile(r"^  at .+$\n?", re.MULTILINE)
"""The place that `T.device_assert` writes into its message."""


def references(node: dict[str, Any]) -> list[int]:
    """Indices of the nodes that a checked node refers to."""
    kind, data = node["type"], _data(node)
    if kind in ("ffi.Array", "ffi.Map"):
        return list(data)
    schema = SCHEMAS.get(kind)
    return [] if schema is None else [data[name] for name in schema.references]


def of_nodes(nodes: list[dict[str, Any]], root: int) -> str:
    """SHA-256, in hex, of the kernel in a checked document.

    Variables and buffers are told apart by the order in which TVM writes them, which follows the structure alone.
    """
    hashes: list[str] = []
    identities = 0
    for node in nodes:
        content = [node["type"], _content(node, nodes, hashes)]
        if node["type"] in _WITH_IDENTITY:
            content.append(identities)
            identities += 1
        hashes.append(hashlib.sha256(json.dumps(content).encode()).hexdigest())
    return hashes[root]


def _content(node: dict[str, Any], nodes: list[dict[str, Any]], hashes: list[str]) -> object:
    kind, data = node["type"], _data(node)
    schema = SCHEMAS.get(kind)
    if schema is not None:
        left_out = _LEFT_OUT.get(kind, set()) | {"span"}
        return {
            name: hashes[data[name]] if field.refers else data[name]
            for name, field in sorted(schema.fields.items())
            if name not in left_out
        }
    if kind == "ffi.Map":
        # In the order of the keys' hashes: TVM promises none.
        pairs = zip(data[::2], data[1::2], strict=True)
        return sorted([hashes[key], hashes[item]] for key, item in pairs if _data(nodes[key]) != _NAME_OF_FUNCTION)
    if kind == "ffi.Array":
        return [hashes[index] for index in data]
    if kind == "ffi.String":
        return _LOCATION.sub("", data)
    if kind in ("ir.Span", "ir.SourceName"):
        return None
    return data


def _data(node: dict[str, Any]) -> Any:
    return node.get("data")
