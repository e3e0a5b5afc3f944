"""The line of a node that cannot be read. Nothing in the document has been checked: it may hold anything."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import Any

MAX_NODES = 1000


def line_near(nodes: list[Any], index: int, sources: Collection[str]) -> int | None:
    """The line in the learner's file, one of `sources`, of a node, or of the statement that it is part of.

    Expressions have no lines of their own; what contains them comes after them.
    """
    for node in islice(nodes, index, index + MAX_NODES):
        line = _line(nodes, _data(node).get("span"), sources)
        if line is not None:
            return line
    return None


def _line(nodes: list[Any], index: object, sources: Collection[str]) -> int | None:
    span = _data(_at(nodes, index))
    source = _at(nodes, span.get("source_name"))
    line = span.get("line")
    is_learners = isinstance(source, dict) and isinstance(source.get("data"), str) and source["data"] in sources
    return line if is_learners and type(line) is int and 0 < line < 1 << 31 else None


def _at(nodes: list[Any], index: object) -> Any:
    return nodes[index] if type(index) is int and 0 <= index < len(nodes) else None


def _data(node: object) -> dict[str, Any]:
    data = node.get("data") if isinstance(node, dict) else None
    return data if isinstance(data, dict) else {}
