"""From a checked capsule to the TVM function that TileLang lowers.

TVM reads JSON natively, so this runs where a crash is survived, and only on text that `kernel.capsule.read` accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import tvm_ffi
from tilelang import ir as tl_ir
from tilelang import tvm
from tilelang.layout import Fragment, Layout, PartialFragment
from tvm import tirx

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.capsule import Document

SYMBOL = "kernel"
"""Name of the loaded function; the CUDA kernel made from it is `kernel_kernel`."""

_OUT_IDX = "tilelang_out_idx"
_NAMED = {"tirx.Var": "name", "tirx.SizeVar": "name", "tirx.Buffer": "name"}
_MAX_NAME = 100
_MAX_RANK = 16
_PLACEHOLDERS = frozenset({"_rep", *(f"_{chr(ord('i') + axis)}" for axis in range(_MAX_RANK))})
"""What TileLang calls a layout's index variables, after the alphabet, and the one that counts copies."""


class LoadError(Exception):
    """The kernel cannot be rebuilt from its capsule; the message says, for the learner, what stands in the way."""


def load(document: Document) -> Any:
    """The `tvm.tirx.PrimFunc` of a kernel.

    It takes its outputs as arguments like its inputs, whatever `out_idx` the learner declared: they are ours to poison.
    Raises LoadError where something in the kernel does not survive the journey through JSON.
    """
    has_layouts = _check_layouts(document.func)
    func = tvm.ir.load_json(_text(document))
    if func.attrs is not None and _OUT_IDX in func.attrs:
        func = func.without_attr(_OUT_IDX)
    func = func.with_attr("global_symbol", SYMBOL)
    return _with_layouts(func) if has_layouts else func


def _check_layouts(func: ir.PrimFunc) -> bool:
    """Whether the kernel has layouts. Raises LoadError for one in other variables than its own indices."""
    layouts = [node for node in ir.walk(func) if isinstance(node, ir.Layout)]
    for node in (node for layout in layouts for node in ir.walk(layout)):
        if isinstance(node, ir.Var) and node.name not in _PLACEHOLDERS:
            raise LoadError(
                f"T.annotate_layout or loop_layout with a layout that depends on {node.name!r}; "
                "a layout may depend on its own indices and on numbers only"
            )
    return bool(layouts)


def _text(document: Document) -> str:
    """The document for `tvm.ir.load_json`, with names of variables and buffers made of letters, digits, dots and `_`.

    Names are copied into the CUDA and C++ sources: whatever else a forged capsule puts there would be compiled.
    """
    nodes = list(document.json["nodes"])
    for node in document.json["nodes"]:
        field = _NAMED.get(node["type"])
        if field is not None:
            index = node["data"][field]
            nodes[index] = {**nodes[index], "data": _plain(nodes[index]["data"])}
    return json.dumps({**document.json, "nodes": nodes})


def _plain(name: str) -> str:
    letters = re.sub(r"[^A-Za-z0-9_.]", "_", name[:_MAX_NAME])
    return f"_{letters}" if letters[:1].isdigit() else letters


def _with_layouts(func: Any) -> Any:
    """`func` with its layouts in TileLang's own index variables.

    A layout is written in placeholder variables that exist once in a process. Those read from JSON are others of the
    same names, and TileLang then refuses the layout: "injectivity could not be proven".
    """
    placeholders = _placeholders()

    def revise(stmt: Any) -> Any:
        call = stmt.value if isinstance(stmt, tirx.Evaluate) else None
        annotations = stmt.annotations if call is None else getattr(call, "annotations", None)
        if not _has_layout(annotations):
            return None
        rebuilt = _rebuilt(annotations, placeholders)
        if call is not None:
            new = tirx.Evaluate(tirx.Call(call.dtype, call.op, call.args, rebuilt))
        elif isinstance(stmt, tirx.For):
            new = tirx.For(
                *(stmt.loop_var, stmt.min, stmt.extent, stmt.kind, stmt.body, stmt.thread_binding, rebuilt, stmt.step)
            )
        else:
            new = tirx.SBlock(
                *(stmt.iter_vars, stmt.reads, stmt.writes, stmt.name_hint, stmt.body, stmt.init),
                *(stmt.alloc_buffers, stmt.match_buffers, rebuilt),
            )
        tl_ir.stamp_stmt_spans(new, tl_ir.get_stmt_span(stmt))
        return new

    holders = ["tirx.SBlock", "tirx.For", "tirx.Evaluate"]
    return func.with_body(tirx.stmt_functor.ir_transform(func.body, None, revise, holders))


def _placeholders() -> dict[str, Any]:
    indices = Layout([1] * _MAX_RANK, lambda *variables: list(variables)).get_forward_vars()
    copies = Fragment([1], forward_thread_fn=lambda i, copy: copy, replicate=2, forward_index_fn=lambda i: i)
    return {var.name: var for var in (*indices, *copies.get_forward_vars())}


def _has_layout(value: Any) -> bool:
    if isinstance(value, Layout):
        return True
    return isinstance(value, tvm_ffi.Map) and any(_has_layout(item) for item in value.values())


def _rebuilt(value: Any, placeholders: Mapping[str, Any]) -> Any:
    if isinstance(value, tvm_ffi.Map):
        return {key: _rebuilt(item, placeholders) for key, item in value.items()}
    if isinstance(value, Layout):
        return _rebuilt_layout(value, placeholders)
    return value


def _variables(expr: Any) -> list[Any]:
    found: dict[Any, None] = {}

    def visit(node: Any) -> None:
        if isinstance(node, tirx.Var):
            found[node] = None

    tirx.stmt_functor.post_order_visit(expr, visit)
    return list(found)


def _rebuilt_layout(layout: Any, placeholders: Mapping[str, Any]) -> Any:
    """The layout made from its fields: its constructor would simplify expressions that are simplified already."""

    def tied(expr: Any) -> Any:
        return tirx.stmt_functor.substitute(expr, {var: placeholders[var.name] for var in _variables(expr)})

    fields = {"input_size": layout.input_size, "forward_index": [tied(index) for index in layout.forward_index]}
    kind = "tl.Layout"
    if isinstance(layout, Fragment):
        kind = "tl.Fragment"
        fields |= {
            "forward_thread": tied(layout.forward_thread),
            "replicate_size": layout.replicate_size,
            "thread_range": layout.thread_range,
        }
    if isinstance(layout, PartialFragment):
        kind = "tl.PartialFragment"
        fields["combine_size"] = layout.combine_size
    return tvm.ir.make_node(kind, **fields)
