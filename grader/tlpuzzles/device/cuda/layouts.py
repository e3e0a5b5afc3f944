"""Where TileLang put each element of a kernel's tiles, read from the layouts that its LayoutInference pass left.

A layout is a formula; here it is worked out for a whole tile at once, with numpy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilelang import tvm
from tilelang.layout import Fragment as TileLangFragment
from tvm import tirx

from tlpuzzles.device.limits import WARP
from tlpuzzles.seeing.model import BANK_BYTES, BANKS, Band, Fragment, Shared, Tile, WarpMap

ROWS, COLUMNS = 16, 32
"""Of the corner that is worked out element by element."""
BANDS = 16
"""The most parts of a map of warps along one side."""
CHUNK_BYTES = 16
"""What ldmatrix and cp.async move as one."""
_LAYOUTS = "layout_map"
_TILE_SCOPES = ("shared", "local.fragment")
_NO_TILES = ("shared.barrier", "shared.cluster_barrier")

Numbers = NDArray[np.int64]


def tiles(func: Any, shapes: Mapping[str, Sequence[int]], source: str, first_thread: int) -> Iterator[Tile]:
    """The tiles of a TVM function after LayoutInference. `shapes`: as the learner wrote them, by name: what is longer
    now has the copies of a pipeline before it. `first_thread`: the first that computes."""
    layouts, buffers = _found(func)
    for buffer in buffers:
        shape = tuple(int(extent) for extent in buffer.shape)
        own = tuple(shapes.get(buffer.name, shape))
        stages = shape[0] if len(shape) == len(own) + 1 else 1
        layout = next((found for other, found in layouts if other.data.same_as(buffer.data)), None)
        bits = int(tvm.DataType(buffer.dtype).bits)
        held: Fragment | Shared | None
        if buffer.scope() == "local.fragment":
            held = _fragment(layout, bits, first_thread) if isinstance(layout, TileLangFragment) else None
        else:
            held = _shared(layout, shape, stages, bits, _base(source, buffer.name))
        if held is not None:
            shown = shape[1:] if stages > 1 else own if len(own) == len(shape) else shape
            yield Tile(name=buffer.name, dtype=str(buffer.dtype), shape=shown, bytes=prod(shown) * bits // 8, held=held)


def _found(func: Any) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Layouts with their buffers, and the buffers of tiles, each once."""
    layouts: list[tuple[Any, Any]] = []
    buffers: list[Any] = []

    def visit(node: Any) -> None:
        if not isinstance(node, tirx.SBlock):
            return
        if not layouts and _LAYOUTS in node.annotations:
            layouts.extend(node.annotations[_LAYOUTS].items())
        for buffer in node.alloc_buffers:
            scope = str(buffer.scope())
            known = any(other.data.same_as(buffer.data) for other in buffers)
            if scope.startswith(_TILE_SCOPES) and scope not in _NO_TILES and not known:
                buffers.append(buffer)

    tirx.stmt_functor.post_order_visit(func.body, visit)
    return layouts, buffers


def _fragment(layout: Any, bits: int, first_thread: int) -> Fragment:
    shape = [int(extent) for extent in layout.get_input_shape()]
    indices = _indices(shape)
    copies = int(layout.replicate_size)
    threads = np.broadcast_to(_worked_out(layout.thread, {**indices, "_rep": np.zeros(1, np.int64)}), _flat(shape))
    place_shape = [int(extent) for extent in layout.get_output_shape()]
    places = np.broadcast_to(_linear([_worked_out(e, indices) for e in layout.index], place_shape), _flat(shape))
    return Fragment(
        threads=int(layout.get_thread_size()),
        first_thread=first_thread,
        copies=copies,
        places=prod(place_shape),
        registers=-(-prod(place_shape) * bits // 32),
        thread_grid=_corner(threads + first_thread),
        place_grid=_corner(places),
        thread_formula=(f"{first_thread} + " if first_thread else "") + _formula(layout.thread),
        place_formula=", ".join(_formula(index) for index in layout.index),
        warps=_warps((threads + first_thread) // WARP),
    )


def _shared(layout: Any, shape: tuple[int, ...], stages: int, bits: int, base: int | None) -> Shared:
    indices = _indices(list(shape))
    plain = np.broadcast_to(_linear([indices[name] for name in indices], list(shape)), _flat(list(shape)))
    numbers, formula = plain, "row by row"
    if layout is not None:
        output = [int(extent) for extent in layout.get_output_shape()]
        numbers = np.broadcast_to(_linear([_worked_out(e, indices) for e in layout.index], output), _flat(list(shape)))
        formula = _formula(layout.get_linearized_forward_index(), staged=stages > 1)
    width = max(bits // 8, 1)
    chunk = _chunk(numbers, CHUNK_BYTES // width)
    return Shared(
        swizzled=bool((numbers != plain).any()),
        stages=stages,
        base=base,
        chunk=chunk,
        offset_grid=_corner(numbers[:, ::chunk] * width),
        conflict=_conflict(numbers, width),
        plain_conflict=_conflict(plain, width),
        offset_formula=formula,
    )


def _indices(shape: list[int]) -> dict[str, Numbers]:
    """By TileLang's names the indices of all elements of the last two axes, and 0 for those before them."""
    names = [f"_{chr(ord('i') + axis)}" for axis in range(len(shape))]
    indices = {name: np.zeros((1, 1), np.int64) for name in names}
    indices[names[-1]] = np.arange(shape[-1])[None, :]
    if len(shape) > 1:
        indices[names[-2]] = np.arange(shape[-2])[:, None]
    return indices


def _flat(shape: list[int]) -> tuple[int, int]:
    return (shape[-2] if len(shape) > 1 else 1, shape[-1])


def _linear(indices: Sequence[Numbers], shape: Sequence[int]) -> Numbers:
    total = np.zeros((1, 1), np.int64)
    for index, extent in zip(indices, shape, strict=True):
        total = total * extent + index
    return total


_OPERATIONS = {
    tirx.Add: np.add,
    tirx.Sub: np.subtract,
    tirx.Mul: np.multiply,
    tirx.FloorDiv: np.floor_divide,
    tirx.FloorMod: np.mod,
    tirx.Div: np.floor_divide,
    tirx.Mod: np.mod,
    tirx.Min: np.minimum,
    tirx.Max: np.maximum,
    tirx.LT: np.less,
    tirx.LE: np.less_equal,
    tirx.GT: np.greater,
    tirx.GE: np.greater_equal,
    tirx.EQ: np.equal,
    tirx.NE: np.not_equal,
}
_BITWISE = {
    "tirx.bitwise_xor": np.bitwise_xor,
    "tirx.bitwise_and": np.bitwise_and,
    "tirx.bitwise_or": np.bitwise_or,
    "tirx.shift_left": np.left_shift,
    "tirx.shift_right": np.right_shift,
}


def _worked_out(expr: Any, values: Mapping[str, Numbers]) -> Numbers:
    """The value of a layout's formula for all elements. Raises ValueError for what no layout tried has."""
    if isinstance(expr, int):
        return np.full((1, 1), expr, np.int64)
    if isinstance(expr, tirx.IntImm):
        return np.full((1, 1), int(expr.value), np.int64)
    if isinstance(expr, tirx.Var):
        return values[str(expr.name)]
    if isinstance(expr, tirx.Cast):
        return _worked_out(expr.value, values)
    operation = next((found for kind, found in _OPERATIONS.items() if isinstance(expr, kind)), None)
    if operation is not None:
        result: Numbers = operation(_worked_out(expr.a, values), _worked_out(expr.b, values))
        return result
    if isinstance(expr, tirx.Select):
        return np.where(*(_worked_out(part, values) for part in (expr.condition, expr.true_value, expr.false_value)))
    if isinstance(expr, tirx.Call):
        arguments = [_worked_out(argument, values) for argument in expr.args]
        if expr.op.name == "tirx.if_then_else":
            return np.where(*arguments)
        if expr.op.name in _BITWISE:
            result = _BITWISE[expr.op.name](*arguments)
            return result
    raise ValueError(f"a layout with {type(expr).__name__}")


def _corner(numbers: Numbers) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(number) for number in row) for row in numbers[:ROWS, :COLUMNS])


def _formula(expr: Any, *, staged: bool = False) -> str:
    """As TVM prints it, with plain names of the indices: i and j, "copy" for the threads that hold the same, and
    "stage" for the copies of a pipeline, which TileLang counts as the first index."""
    shown = {"_rep": "copy", "_i": "stage", "_j": "i", "_k": "j", "_l": "k"} if staged else {"_rep": "copy"}
    return re.sub(r"\b_([i-x]|rep)\b", lambda match: shown.get(match[0], match[1]), str(expr))


def _warps(owners: Numbers) -> WarpMap | None:
    rows, columns = _bands(owners), _bands(owners.T)
    if len(rows) > BANDS or len(columns) > BANDS:
        return None
    return WarpMap(
        rows=rows,
        columns=columns,
        warps=tuple(tuple(int(owners[row.first, column.first]) for column in columns) for row in rows),
    )


def _bands(owners: Numbers) -> tuple[Band, ...]:
    """Neighbouring rows that are alike, put together."""
    starts = [0, *(int(row) + 1 for row in np.flatnonzero((owners[1:] != owners[:-1]).any(axis=1)))]
    ends = [*(start - 1 for start in starts[1:]), len(owners) - 1]
    return tuple(Band(first=first, last=last) for first, last in zip(starts, ends, strict=True))


def _chunk(numbers: Numbers, most: int) -> int:
    """How many neighbours of a row always stay neighbours in memory."""
    size = 1
    while 2 * size <= most and numbers.shape[1] % (2 * size) == 0:
        parts = numbers.reshape(numbers.shape[0], -1, 2 * size)
        if (np.diff(parts, axis=2) != 1).any():
            break
        size *= 2
    return size


def _conflict(numbers: Numbers, width: int) -> int | None:
    """The most of eight rows' 16 bytes below each other that share banks: tiles begin at a multiple of 128 bytes."""
    chunk = CHUNK_BYTES // width
    if numbers.shape[0] < 8 or numbers.shape[1] % chunk or _chunk(numbers, chunk) != chunk:
        return None
    groups = numbers[: numbers.shape[0] // 8 * 8, ::chunk] * width // CHUNK_BYTES % (BANKS * BANK_BYTES // CHUNK_BYTES)
    eights = groups.reshape(-1, 8, groups.shape[1])
    return int(max((eights == group).sum(axis=1).max() for group in range(BANKS * BANK_BYTES // CHUNK_BYTES)))


def _base(source: str, name: str) -> int | None:
    found = re.search(rf"void\* {re.escape(name)} = \(\(void\*\)\(\(char\*\)buf_dyn_shmem \+ (\d+)\)\);", source)
    return int(found[1]) if found else None
