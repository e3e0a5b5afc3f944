"""The node types a kernel's JSON may contain, and the fields of each.

Written down from what TileLang 0.1.15 serialises: a text with another type, or with a field more or less, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.fields import (
    ABSENT,
    ANNOTATIONS,
    ANYTHING,
    ATTRIBUTES,
    BOOLEAN,
    BUFFER,
    DTYPE,
    EXPR,
    EXPRS,
    IGNORED,
    INT64,
    LINE,
    LOOP_KIND,
    NAME,
    NO_ANNOTATIONS,
    NUMBER,
    OPERATOR,
    STMT,
    STRING,
    VAR,
    Attributes,
    Field,
    Ignored,
    PointerType,
    integer,
    list_of,
    map_of,
    ref,
)


@dataclass(frozen=True)
class Schema:
    """How a node type is read."""

    build: Callable[..., Any]
    """Makes the node from the fields in `read`; `span` arrives as `line`."""
    read: Mapping[str, Field]
    check: Mapping[str, Field] = field(default_factory=dict)
    """Fields that must be right and say nothing that the grader needs."""

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        return {**self.read, **self.check}

    @cached_property
    def references(self) -> tuple[str, ...]:
        """The fields that name other nodes."""
        return tuple(name for name, kind in self.fields.items() if kind.refers)


_SPAN = {"span": LINE}
_NDIM = integer(-1, 16)


def _binary(kind: type[ir.Binary]) -> Schema:
    return Schema(kind, {"dtype": DTYPE, "a": EXPR, "b": EXPR}, _SPAN)


def _var(dtype: str, name: str, type_annotation: Ignored | None) -> ir.Var:
    return ir.Var(dtype, name, type_annotation.scope if isinstance(type_annotation, PointerType) else "")


def _ignored(**fields: Field) -> Schema:
    return Schema(Ignored, {}, {**_SPAN, **fields})


def _layout(kind: str, fields: Mapping[str, Field]) -> Schema:
    return Schema(lambda **values: ir.Layout(kind, values), fields)


_VARIABLE = Schema(_var, {"dtype": DTYPE, "name": NAME, "type_annotation": IGNORED}, _SPAN)
_LAYOUT = {"input_size": EXPRS, "forward_index": EXPRS}
_FRAGMENT = {
    **_LAYOUT,
    "forward_thread": EXPR,
    "replicate_size": EXPR,
    "thread_range": ref(ir.Range, optional=True),
}

_BINARIES = (
    *(ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Mod, ir.FloorDiv, ir.FloorMod, ir.Min, ir.Max),
    *(ir.EQ, ir.NE, ir.LT, ir.LE, ir.GT, ir.GE, ir.And, ir.Or),
)

_EXPRESSIONS: dict[str, Schema] = {
    **{f"tirx.{kind.__name__}": _binary(kind) for kind in _BINARIES},
    "ir.IntImm": Schema(ir.IntImm, {"dtype": DTYPE, "value": INT64}, _SPAN),
    "ir.FloatImm": Schema(ir.FloatImm, {"dtype": DTYPE, "value": NUMBER}, _SPAN),
    "tirx.StringImm": Schema(ir.StringImm, {"dtype": DTYPE, "value": STRING}, _SPAN),
    "tirx.Var": _VARIABLE,
    "tirx.SizeVar": _VARIABLE,
    "tirx.Cast": Schema(ir.Cast, {"dtype": DTYPE, "value": EXPR}, {**_SPAN, "annotations": NO_ANNOTATIONS}),
    "tirx.Not": Schema(ir.Not, {"dtype": DTYPE, "a": EXPR}, _SPAN),
    "tirx.Select": Schema(
        ir.Select, {"dtype": DTYPE, "condition": EXPR, "true_value": EXPR, "false_value": EXPR}, _SPAN
    ),
    "tirx.Let": Schema(ir.Let, {"dtype": DTYPE, "var": VAR, "value": EXPR, "body": EXPR}, _SPAN),
    "tirx.Ramp": Schema(ir.Ramp, {"dtype": DTYPE, "base": EXPR, "stride": EXPR, "lanes": EXPR}, _SPAN),
    "tirx.Broadcast": Schema(ir.Broadcast, {"dtype": DTYPE, "value": EXPR, "lanes": EXPR}, _SPAN),
    "tirx.BufferLoad": Schema(
        ir.BufferLoad, {"dtype": DTYPE, "buffer": BUFFER, "indices": EXPRS}, {**_SPAN, "predicate": ABSENT}
    ),
    "tirx.Call": Schema(ir.Call, {"dtype": DTYPE, "op": OPERATOR, "args": EXPRS, "annotations": ANNOTATIONS}, _SPAN),
}

_BUFFERS: dict[str, Schema] = {
    "tirx.Buffer": Schema(
        ir.Buffer,
        {
            "data": VAR,
            "dtype": DTYPE,
            "shape": EXPRS,
            "strides": EXPRS,
            "elem_offset": ref(ir.Expr, optional=True),
            "name": NAME,
            "span": LINE,
        },
        {
            "axis_separators": list_of(ir.IntImm),
            "data_alignment": integer(0, 4096),
            "offset_factor": integer(0, 4096),
            "buffer_type": integer(1, 2),
        },
    ),
    "ir.Range": Schema(ir.Range, {"min": EXPR, "extent": EXPR}, _SPAN),
    "tirx.IterVar": Schema(
        ir.IterVar,
        {"var": VAR, "thread_tag": NAME},
        {"dom": ref(ir.Range, optional=True), "iter_type": integer(0, 8)},
    ),
    "tirx.BufferRegion": Schema(ir.BufferRegion, {"buffer": BUFFER, "region": list_of(ir.Range)}),
    "tirx.MatchBufferRegion": Schema(ir.MatchBufferRegion, {"buffer": BUFFER, "source": ref(ir.BufferRegion)}),
    "tl.Layout": _layout("Layout", _LAYOUT),
    "tl.Fragment": _layout("Fragment", _FRAGMENT),
    "tl.PartialFragment": _layout("PartialFragment", {**_FRAGMENT, "combine_size": EXPR}),
}

_STATEMENTS: dict[str, Schema] = {
    "tirx.BufferStore": Schema(
        ir.BufferStore, {**_SPAN, "buffer": BUFFER, "value": EXPR, "indices": EXPRS}, {"predicate": ABSENT}
    ),
    "tirx.Bind": Schema(ir.Bind, {**_SPAN, "var": VAR, "value": EXPR}),
    "tirx.Evaluate": Schema(ir.Evaluate, {**_SPAN, "value": EXPR}),
    "tirx.SeqStmt": Schema(ir.SeqStmt, {**_SPAN, "seq": list_of(ir.Stmt)}),
    "tirx.For": Schema(
        ir.For,
        {
            **_SPAN,
            "loop_var": VAR,
            "min": EXPR,
            "extent": EXPR,
            "kind": LOOP_KIND,
            "body": STMT,
            "thread_binding": ref(ir.IterVar, optional=True),
            "annotations": ANNOTATIONS,
            "step": ref(ir.Expr, optional=True),
        },
    ),
    "tirx.While": Schema(ir.While, {**_SPAN, "condition": EXPR, "body": STMT}),
    "tirx.IfThenElse": Schema(
        ir.IfThenElse,
        {**_SPAN, "condition": EXPR, "then_case": STMT, "else_case": ref(ir.Stmt, optional=True)},
    ),
    "tirx.AssertStmt": Schema(
        ir.AssertStmt, {**_SPAN, "condition": EXPR}, {"error_kind": ANYTHING, "message_parts": ANYTHING}
    ),
    "tirx.AttrStmt": Schema(
        ir.AttrStmt,
        {**_SPAN, "node": ANYTHING, "attr_key": NAME, "value": EXPR, "body": ref(ir.Stmt, optional=True)},
    ),
    "tirx.AllocBuffer": Schema(ir.AllocBuffer, {**_SPAN, "buffer": BUFFER, "annotations": ANNOTATIONS}),
    "tirx.DeclBuffer": Schema(ir.DeclBuffer, {**_SPAN, "buffer": BUFFER}),
    "tirx.SBlock": Schema(
        ir.SBlock,
        {
            **_SPAN,
            "name_hint": NAME,
            "alloc_buffers": list_of(ir.Buffer),
            "match_buffers": list_of(ir.MatchBufferRegion),
            "annotations": ANNOTATIONS,
            "init": ref(ir.Stmt, optional=True),
            "body": STMT,
        },
        {"iter_vars": list_of(ir.IterVar), "reads": list_of(ir.BufferRegion), "writes": list_of(ir.BufferRegion)},
    ),
    "tirx.SBlockRealize": Schema(
        ir.SBlockRealize, {**_SPAN, "predicate": EXPR, "block": ref(ir.SBlock)}, {"iter_values": EXPRS}
    ),
    "tirx.PrimFunc": Schema(
        ir.PrimFunc,
        {
            **_SPAN,
            "params": list_of(ir.Var),
            "buffer_map": map_of(ir.Var, ir.Buffer),
            "attrs": ATTRIBUTES,
            "body": STMT,
        },
        {"struct_info_": IGNORED, "ret_type": IGNORED},
    ),
}

_TYPES: dict[str, Schema] = {
    "ir.DictAttrs": Schema(lambda **fields: Attributes(fields["__dict__"]), {"__dict__": ANNOTATIONS}),
    "ir.PrimType": _ignored(dtype=DTYPE),
    "ir.TupleType": _ignored(fields=list_of(Ignored)),
    "ir.PointerType": Schema(
        lambda storage_scope: PointerType(storage_scope), {"storage_scope": NAME}, {**_SPAN, "element_type": IGNORED}
    ),
    "relax.ShapeStructInfo": _ignored(values=ANYTHING, ndim=_NDIM),
    "relax.expr.ShapeExpr": _ignored(struct_info_=IGNORED, values=EXPRS),
    "relax.TensorStructInfo": _ignored(shape=IGNORED, dtype=DTYPE, vdevice=ABSENT, ndim=_NDIM),
    "relax.PrimStructInfo": _ignored(value=ANYTHING, dtype=DTYPE),
    "relax.ObjectStructInfo": _ignored(),
    "relax.TupleStructInfo": _ignored(fields=list_of(Ignored)),
    "relax.FuncStructInfo": _ignored(params=list_of(Ignored), ret=IGNORED, derive_func=ABSENT, purity=BOOLEAN),
}

SCHEMAS: dict[str, Schema] = {**_EXPRESSIONS, **_BUFFERS, **_STATEMENTS, **_TYPES}
"""By TVM's name of the type."""
