"""Draws the map of a wrong output: which cells, and what each of them is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from tlpuzzles.verdict.error_map import LARGEST_ERROR, BrokenRow, Cell, CellState, ErrorMap, MapAxis

if TYPE_CHECKING:
    import torch

    from tlpuzzles.course.vocabulary import TensorSpec

ROWS, COLUMNS = 8, 24
"""Cells of a map at most: it is a part of a report."""
WRAP = 16
"""Cells of a row of a vector whose blocks are unknown."""


@dataclass(frozen=True)
class Seen:
    """What is known of each element of an output: tensors of its shape."""

    wrong: torch.Tensor
    """bool; so is the next."""
    unwritten: torch.Tensor
    found: torch.Tensor
    error: torch.Tensor
    """Relative to the size of what the element's row must be; finite where `found` is."""

    def at(self, index: tuple[int | slice, ...]) -> Seen:
        return Seen(self.wrong[index], self.unwritten[index], self.found[index], self.error[index])


def error_map(
    output: TensorSpec, seen: Seen, first: Sequence[int], tile: Sequence[int] | None = None, row_name: str = ""
) -> ErrorMap | None:
    """The map of an output whose first wrong element has this index; None for an output of one element.

    `tile`: what the kernel stores at a time. `row_name`: what a row is called, where a row is computed as one.
    """
    sizes, names = tuple(seen.wrong.shape), output.shape
    if prod(sizes) == 1:
        return None
    known = tile is not None and len(tile) == len(sizes)
    blocks = [_block(*pair) for pair in zip(sizes, tile, strict=True)] if tile and known else [None] * len(sizes)
    state = _cell(seen.at(tuple(slice(index, index + 1) for index in first))).state
    if len(sizes) == 1:
        axis, width = _strip(names[0], sizes[0], blocks[0])
        cells = tuple(_wrapped([_cell(seen.at((part,))) for part in _parts(axis)], width))
        return ErrorMap(tensor=output.name, axes=(axis,), cells=cells, first=state)
    shown = _shown(sizes)
    fixed = [d for d in range(len(sizes)) if d not in shown]
    part = seen.at(tuple(first[d] if d in fixed else slice(None) for d in range(len(sizes))))
    down, across = (_axis(names[d], sizes[d], blocks[d], most) for d, most in zip(shown, (ROWS, COLUMNS), strict=True))
    return ErrorMap(
        tensor=output.name,
        axes=(down, across),
        cells=tuple(tuple(_cell(part.at((r, c))) for c in _parts(across)) for r in _parts(down)),
        first=state,
        fixed={names[d]: first[d] for d in fixed},
        slices=prod(sizes[d] for d in fixed),
        wrong_slices=int(seen.wrong.any(dim=shown[1]).any(dim=shown[0]).sum()),
        first_row=_first_row(row_name, first[shown[0]], part) if row_name else None,
    )


def _block(size: int, block: int) -> int | None:
    """None where it is all of the axis, and divides nothing."""
    return block if 0 < block < size else None


def _shown(shape: Sequence[int]) -> tuple[int, int]:
    """The axes to show as rows and columns: the last one, and the longest of the others."""
    last = len(shape) - 1
    return max(range(last), key=lambda d: shape[d]), last


def _axis(name: str, size: int, block: int | None, most: int) -> MapAxis:
    if block is None:
        cell = _power(size, most)
    elif _count(size, block) > most:
        cell = block * _count(_count(size, block), most)
    else:
        cell = _divided(block, lambda cell: _count(size, cell) <= most)
    return MapAxis(name=name, size=size, cell=cell, block=block)


def _strip(name: str, size: int, block: int | None) -> tuple[MapAxis, int]:
    """The axis of a vector, and how many cells a row of the map has: those of whole blocks, where they are known."""
    if block is None:
        cell = _power(size, ROWS * WRAP)
        count = _count(size, cell)
        return MapAxis(name=name, size=size, cell=cell), count if count <= COLUMNS else WRAP
    row = block * _count(_count(size, block), ROWS)
    if _count(row, block) > COLUMNS:
        cell = block * _count(_count(row, block), COLUMNS)
    else:
        cell = _divided(block, lambda cell: _count(row, cell) <= COLUMNS)
    return MapAxis(name=name, size=size, cell=cell, block=block), _count(row, cell)


def _power(size: int, most: int) -> int:
    """The smallest power of two of which at most so many make up `size`."""
    cell = 1
    while _count(size, cell) > most:
        cell *= 2
    return cell


def _divided(block: int, fits: Callable[[int], bool]) -> int:
    """The smallest half, quarter, ... of a block that fits."""
    while block % 2 == 0 and fits(block // 2):
        block //= 2
    return block


def _count(size: int, part: int) -> int:
    return -(-size // part)


def _parts(axis: MapAxis) -> Iterator[slice]:
    for start in range(0, axis.size, axis.cell):
        yield slice(start, start + axis.cell)


def _wrapped(cells: Sequence[Cell], width: int) -> Iterator[tuple[Cell, ...]]:
    for start in range(0, len(cells), width):
        yield tuple(cells[start : start + width])


def _cell(seen: Seen) -> Cell:
    wrong = seen.wrong
    total = int(wrong.sum())
    if not total:
        return Cell(state=CellState.RIGHT)
    written = wrong & ~seen.unwritten
    finite = written & seen.found.isfinite()
    counts = {
        CellState.UNWRITTEN: total - int(written.sum()),
        CellState.NAN: int((written & seen.found.isnan()).sum()),
        CellState.INFINITE: int((written & seen.found.isinf()).sum()),
        CellState.WRONG: int(finite.sum()),
    }
    error = float(seen.error[finite].max()) if counts[CellState.WRONG] else 0.0
    state, *also = sorted((one for one in counts if counts[one]), key=lambda one: -counts[one])
    return Cell(
        state=state,
        also=tuple(also),
        part=_two_digits(total / wrong.numel()),
        error=_two_digits(min(error, LARGEST_ERROR)) or None,
    )


def _two_digits(value: float) -> float:
    # Enough to see, and too little to tell what was expected.
    return float(f"{value:.1e}")


def _first_row(name: str, index: int, seen: Seen) -> BrokenRow:
    row = seen.wrong[index]
    return BrokenRow(name=name, index=index, wrong=int(row.sum()), length=row.numel())
