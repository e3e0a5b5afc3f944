"""What TVM's own constructors promise about a node, and `tvm.ir.load_json` does not check.

Whatever reads the tile IR afterwards may rely on it: as many indices as a buffer has dimensions, operands of one dtype,
whole numbers as indices, no variable that nothing defines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.fields import CapsuleError

MAX_RANK = 16


def check_node(node: ir.Node) -> None:
    """Raises CapsuleError if TVM could not have built this node."""
    check = _CHECKS.get(ir.Binary if isinstance(node, ir.Binary) else type(node))
    if check is not None:
        check(node)


def check_function(func: ir.PrimFunc) -> None:
    """Raises CapsuleError if a parameter or variable of the kernel does not fit the rest."""
    params = set(func.params)
    if len(params) != len(func.params) or not params.issuperset(func.buffer_map):
        raise CapsuleError("the fields params and buffer_map of the PrimFunc do not fit together")
    defined = set(_defined(func))
    for node in _outside_layouts(func):
        if isinstance(node, ir.Var) and node not in defined:
            raise CapsuleError(f"the variable {node.name!r} is used and never defined")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise CapsuleError(message)


def is_integer(dtype: str) -> bool:
    """Whether values of this dtype are whole numbers (bool is not counted)."""
    return _INTEGER.fullmatch(dtype) is not None


_INTEGER = re.compile(r"(u?int)(\d+)(x\d+)?")
_LANES = re.compile(r"x\d+$")


def scalar(dtype: str) -> str:
    """The dtype of one element of a vector."""
    return _LANES.sub("", dtype)


def _binary(node: ir.Binary) -> None:
    _require(node.a.dtype == node.b.dtype, f"combines {node.a.dtype} with {node.b.dtype}")
    if isinstance(node, (ir.And, ir.Or)):
        _require(scalar(node.a.dtype) == "bool", "combines values that are not bool")
    expected = node.a.dtype if not isinstance(node, _LOGICAL) else "bool"
    _require(scalar(node.dtype) == scalar(expected), f"is {node.dtype} and should be {expected}")


_LOGICAL = (ir.EQ, ir.NE, ir.LT, ir.LE, ir.GT, ir.GE, ir.And, ir.Or)


def _int_imm(node: ir.IntImm) -> None:
    match = _INTEGER.fullmatch(node.dtype)
    if match is None:
        _require(node.dtype == "bool" and node.value in (0, 1), f"is a whole number of dtype {node.dtype}")
        return
    bits, unsigned = int(match[2]), match[1] == "uint"
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    _require(low <= node.value <= high, f"holds a number that is no {node.dtype}")


def _float_imm(node: ir.FloatImm) -> None:
    _require(node.dtype.startswith(("float", "bfloat")), f"is a floating-point number of dtype {node.dtype}")


def _select(node: ir.Select) -> None:
    _require(scalar(node.condition.dtype) == "bool", "chooses by a value that is not bool")
    _require(node.true_value.dtype == node.false_value.dtype == node.dtype, "chooses between values of two dtypes")


def _let(node: ir.Let | ir.Bind) -> None:
    _require(node.var.dtype == node.value.dtype, f"gives a {node.value.dtype} to a variable of dtype {node.var.dtype}")


def _indices(buffer: ir.Buffer, indices: list[ir.Expr]) -> None:
    _require(len(indices) == len(buffer.shape), f"has {len(indices)} indices for {len(buffer.shape)} dimensions")
    for index in indices:
        _require(is_integer(index.dtype), f"has an index of dtype {index.dtype}")


def _load(node: ir.BufferLoad) -> None:
    _indices(node.buffer, node.indices)
    fits = scalar(node.dtype) == scalar(node.buffer.dtype)
    _require(fits, f"loads {node.dtype} from a buffer of {node.buffer.dtype}")


def _store(node: ir.BufferStore) -> None:
    _indices(node.buffer, node.indices)
    fits = scalar(node.value.dtype) == scalar(node.buffer.dtype)
    _require(fits, f"stores {node.value.dtype} into a buffer of {node.buffer.dtype}")


def _buffer(node: ir.Buffer) -> None:
    _require(node.data.dtype == "handle", f"has a pointer of dtype {node.data.dtype}")
    _require(scalar(node.dtype) not in ("", "void", "handle"), f"is of dtype {node.dtype!r}")
    _require(len(node.shape) <= MAX_RANK, f"has {len(node.shape)} dimensions")
    _require(len(node.strides) in (0, len(node.shape)), "has more or fewer strides than dimensions")
    for extent in (*node.shape, *node.strides):
        _require(is_integer(extent.dtype), f"has a size of dtype {extent.dtype}")
        _require(not isinstance(extent, ir.IntImm) or extent.value >= 0, "has a negative size")


def _loop(node: ir.For) -> None:
    for expr in (node.loop_var, node.min, node.extent, *([] if node.step is None else [node.step])):
        _require(is_integer(expr.dtype), f"counts in {expr.dtype}")
    bound = node.kind is ir.LoopKind.THREAD_BINDING
    _require(bound == (node.thread_binding is not None), "has a kind and a thread binding that do not fit together")


def _condition(node: ir.IfThenElse | ir.While | ir.AssertStmt) -> None:
    _require(node.condition.dtype == "bool", f"has a condition of dtype {node.condition.dtype}")


def _not(node: ir.Not) -> None:
    _require(scalar(node.a.dtype) == "bool", "negates a value that is not bool")


def _realize(node: ir.SBlockRealize) -> None:
    true = isinstance(node.predicate, ir.IntImm) and node.predicate.value == 1
    _require(true, "runs its block under a condition, as no kernel of this course does")


_CHECKS: dict[type[ir.Node], Callable[[Any], None]] = {
    ir.Binary: _binary,
    ir.IntImm: _int_imm,
    ir.FloatImm: _float_imm,
    ir.Not: _not,
    ir.Select: _select,
    ir.Let: _let,
    ir.Bind: _let,
    ir.BufferLoad: _load,
    ir.BufferStore: _store,
    ir.Buffer: _buffer,
    ir.For: _loop,
    ir.IfThenElse: _condition,
    ir.While: _condition,
    ir.AssertStmt: _condition,
    ir.SBlockRealize: _realize,
}


def _defined(func: ir.PrimFunc) -> Iterator[ir.Var]:
    yield from func.params
    for buffer in func.buffer_map.values():
        yield buffer.data
        # The caller's tensors give the sizes that the kernel leaves open.
        for expr in chain(buffer.shape, buffer.strides, [buffer.elem_offset]):
            if isinstance(expr, ir.Var):
                yield expr
    for node in ir.walk(func):
        if isinstance(node, ir.For):
            yield node.loop_var
        elif isinstance(node, (ir.Bind, ir.Let, ir.IterVar)):
            yield node.var
        elif isinstance(node, ir.AllocBuffer):
            yield node.buffer.data
        elif isinstance(node, ir.SBlock):
            yield from (buffer.data for buffer in node.alloc_buffers)
            yield from (match.buffer.data for match in node.match_buffers)


def _outside_layouts(func: ir.PrimFunc) -> Iterator[ir.Node]:
    """Every node but those in layouts, whose index variables are their own."""
    seen: set[int] = set()
    stack: list[ir.Node] = [func]
    while stack:
        node = stack.pop()
        if id(node) in seen or isinstance(node, ir.Layout):
            continue
        seen.add(id(node))
        yield node
        stack.extend(ir.children(node))
