"""How wrong a cell of an error map is, in steps, and the words around a map: the same in every report."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from tlpuzzles.verdict.error_map import Cell, CellState, ErrorMap, MapAxis

MOSTLY = 0.8
"""A cell of which so much is wrong counts as wrong altogether: the rest may be right by chance."""


class Severity(Enum):
    """What is told apart at a glance, in the order of a legend."""

    RIGHT = "right"
    SLIGHT = "less than 1 % off"
    SOME = "less than 10 % off"
    MUCH = "less than 100 % off"
    ALL = "100 % off or more"
    INFINITE = "infinite"
    NAN = "NaN"
    UNWRITTEN = "never written"


_STEPS = ((0.01, Severity.SLIGHT), (0.1, Severity.SOME), (1.0, Severity.MUCH))
_OF_STATE = {
    CellState.RIGHT: Severity.RIGHT,
    CellState.UNWRITTEN: Severity.UNWRITTEN,
    CellState.NAN: Severity.NAN,
    CellState.INFINITE: Severity.INFINITE,
}


def severity(cell: Cell) -> Severity:
    """What a cell counts as. An error without a number is one that no number says: a finite element that must be
    infinite."""
    if cell.state is not CellState.WRONG:
        return _OF_STATE[cell.state]
    return _by_error(cell.error)


def others(cell: Cell) -> list[Severity]:
    """What else is in a cell."""
    return [_by_error(cell.error) if state is CellState.WRONG else _OF_STATE[state] for state in cell.also]


def _by_error(error: float | None) -> Severity:
    return next((step for limit, step in _STEPS if error is not None and error < limit), Severity.ALL)


def occurring(shown: ErrorMap) -> list[Severity]:
    """What occurs in a map: its legend."""
    found = {one for row in shown.cells for cell in row for one in (severity(cell), *others(cell))}
    return [one for one in Severity if one in found]


def span(first: int, last: int) -> str:
    """Indices from one to another."""
    return f"{first}" if first == last else f"{first}-{last}"


def scale(shown: ErrorMap) -> str:
    """What a cell is, and what the kernel stores at a time."""
    cells = [axis.cell for axis in shown.axes]
    cell = f"a cell is {_product(cells)}"
    if all(axis.block is None for axis in shown.axes):
        return cell
    blocks = [axis.block or axis.size for axis in shown.axes]
    return f"{cell}: a block" if blocks == cells else f"{cell}, a block {_product(blocks)}"


def _product(extents: Sequence[int]) -> str:
    if len(extents) > 1:
        return " x ".join(map(str, extents))
    return f"{extents[0]} elements" if extents[0] > 1 else "one element"


def where(shown: ErrorMap) -> str:
    """Completes "Where ...": the tensor, and which slice of it is shown where it has more axes than a map."""
    place = ", ".join(f"{name} {index}" for name, index in shown.fixed.items())
    return f"{shown.tensor} is wrong, at {place}" if place else f"{shown.tensor} is wrong"


def slices(shown: ErrorMap) -> str:
    """How many slices there are to show, and how many are wrong; nothing where there is but one."""
    if shown.slices == 1:
        return ""
    if shown.wrong_slices == 1:
        return f"the only wrong slice of {shown.slices}"
    return f"{'all' if shown.wrong_slices == shown.slices else f'{shown.wrong_slices} of'} {shown.slices} slices are"


def first_row(shown: ErrorMap) -> str | None:
    """The first row that is wrong, in words, where a row is computed as one."""
    row = shown.first_row
    if row is None:
        return None
    much = "all of it is" if row.wrong == row.length else f"{row.wrong} of its {row.length} elements are"
    if row.index == 0:
        return f"{row.name} 0, the very first: {much} wrong"
    return f"{row.name} {row.index}{_in_block(row.index, shown.axes[0])}: {much} wrong; all before it are right"


def _in_block(index: int, axis: MapAxis) -> str:
    if axis.block is None or axis.block == 1:
        return ""
    block, inside = divmod(index, axis.block)
    if inside in (0, axis.block - 1):
        return f", the {'first' if inside == 0 else 'last'} of block {block}"
    return f", in block {block}"
