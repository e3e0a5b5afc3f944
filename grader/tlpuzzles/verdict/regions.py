"""Where an output is wrong, in words: whole rows, the ragged end, one head, above the diagonal, every other tile.

The mask of wrong elements is reduced along its axes, so that a few elements that are right by chance inside a wrong
region do not hide it. Outside of a region there must be no wrong element at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from tlpuzzles.verdict.spans import Axis, Spans, axes

if TYPE_CHECKING:
    import torch

DENSE = 0.8
"""A region is wrong as a whole if this part of its elements is; the rest may be right by chance."""

SOLID = 0.97
"""... and no finer pattern is sought in it if this part is."""

THIN = 8
"""With fewer wrong elements than that at an index, there may be indices that are right only by chance."""

MANY = 4
"""Elements that an index must have on average for it to tell anything."""

BLOCKS = (8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256)
"""Tile sizes that a pattern of tiles is sought in: multiples of the first."""
SMALLEST = 16
"""Elements of the smallest tile: fewer wrong neighbours are no tile."""

LISTED_TILES = 4

ALIKE = 4
"""A diagonal means something where neither of two axes is more than so many times as long as the other."""


class Shape(Enum):
    """What kind of region it is."""

    EVERYTHING = "everything"
    ONE_ELEMENT = "one element"
    SPANS = "spans"
    """All elements whose indices lie in given spans of each axis: rows, columns, a block, a head."""
    DIAGONAL = "diagonal"
    TILES = "tiles"
    SPREAD = "spread"
    """Many elements, but not all, within spans."""
    SCATTERED = "scattered"


@dataclass(frozen=True)
class Region:
    """A part of an output. `words` completes "wrong in ..."."""

    shape: Shape
    words: str
    elements: int
    total: int
    ragged: bool = False
    """Whether it is what full tiles leave over at the end of an axis."""
    first: bool = False
    """Whether it is everything but the beginning of an axis: what comes after the first block or step."""
    second: bool = False
    """Whether it is the second of two tiles, ragged: what is wrong there need not be about the ragged end."""


def region(mask: torch.Tensor, names: Sequence[str], tile: Sequence[int] | None = None) -> Region | None:
    """Finds words for the elements that are True in a mask; None if none is.

    `names` are the axes of the output as in the exercise's contract, one for each dimension of the mask. `tile`: what
    the kernel stores at a time, as extents along them; tiles of other sizes are then spoken of only where those do not
    fit.
    """
    total = mask.numel()
    elements = int(mask.sum())
    if elements == 0:
        return None
    shape = tuple(mask.shape)
    kept = [d for d, size in enumerate(shape) if size > 1]
    if not kept:
        return Region(Shape.EVERYTHING, "the only element", elements, total)
    if elements == 1:
        index = mask.nonzero()[0].tolist()
        place = f"element {index[0]}" if len(shape) == 1 else f"index {index}"
        return Region(Shape.ONE_ELEMENT, f"one element ({place})", elements, total)
    named = axes(names, shape)
    known = [tile[d] for d in kept] if tile is not None and len(tile) == len(shape) else None
    finder = _Finder(mask.reshape([shape[d] for d in kept]), [named[d] for d in kept], elements, total, known)
    return finder.find()


class _Finder:
    """A mask without axes of size 1."""

    def __init__(
        self, mask: torch.Tensor, axes: Sequence[Axis], elements: int, total: int, tile: Sequence[int] | None
    ) -> None:
        self.mask = mask
        self.axes = axes
        self.elements = elements
        self.total = total
        self.tile = tile
        self.spans = [self._touched(d) for d in range(mask.dim())]

    def find(self) -> Region:
        return (
            self._whole(SOLID)
            or self._diagonal(SOLID)
            or self._tiles()
            or self._diagonal(DENSE)
            or self._whole(DENSE)
            or self._spread()
            or self._scattered()
        )

    def _region(
        self, shape: Shape, words: str, *, ragged: bool = False, first: bool = False, second: bool = False
    ) -> Region:
        return Region(shape, words, self.elements, self.total, ragged, first, second)

    def _touched(self, dim: int) -> Spans:
        others = [d for d in range(self.mask.dim()) if d != dim]
        touched = self.mask.any(dim=others) if others else self.mask
        spans = Spans(self.axes[dim], touched.numpy())
        if self.elements < THIN * spans.count and not spans.is_periodic:
            spans = spans.filled()
        return Spans(spans.axis, spans.touched | True) if spans.is_nearly_all else spans

    @property
    def box(self) -> int:
        """Elements of the smallest product of spans that holds all of the mask."""
        return prod(spans.count for spans in self.spans)

    def _whole(self, share: float) -> Region | None:
        if self.elements < share * self.box:
            return None
        # Any few scattered elements fill the "rows" that they are in, so an odd choice of rows needs many of them.
        if not all(spans.is_regular or self.elements >= MANY * spans.count for spans in self.spans):
            return None
        words = [words for spans in self.spans if (words := spans.words())]
        if not words:
            return self._region(Shape.EVERYTHING, "the whole output")
        ragged = [d for d in range(len(self.spans)) if self._is_ragged(d)]
        return self._region(
            Shape.SPANS,
            ", ".join(words),
            ragged=bool(ragged),
            first=_is_later(self.spans),
            second=any(self.tile is not None and self.spans[d].first == self.tile[d] for d in ragged),
        )

    def _is_ragged(self, dim: int) -> bool:
        spans = self.spans[dim]
        return spans.is_ragged_end and (
            self.tile is None or (spans.first % self.tile[dim] == 0 and spans.count < self.tile[dim])
        )

    def _over(self, rows: int, columns: int) -> torch.Tensor:
        """How many elements are wrong for each pair of indices along two axes, as a part of them."""
        others = [d for d in range(self.mask.dim()) if d not in (rows, columns)]
        return self.mask.float().mean(dim=others) if others else self.mask.float()

    def _diagonal(self, share: float) -> Region | None:
        import torch

        for rows, columns in combinations(range(self.mask.dim()), 2):
            density = self._over(rows, columns)
            if not _has_diagonal(*density.shape):
                continue
            below = torch.arange(density.shape[0])[:, None] - torch.arange(density.shape[1])
            for words, inside in (
                ("on the diagonal", below == 0),
                ("above the diagonal", below < 0),
                ("on and above the diagonal", below <= 0),
                ("below the diagonal", below > 0),
                ("on and below the diagonal", below >= 0),
            ):
                count = int(inside.sum())
                if not count or bool((density > 0).logical_and_(~inside).any()):
                    continue
                if float(density.sum()) >= share * count:
                    return self._region(Shape.DIAGONAL, f"everything {words}{self._of(rows, columns)}")
        return None

    def _of(self, rows: int, columns: int) -> str:
        if len(self.axes) == 2 and self.axes[0].singular == "row":
            return ""
        return f" of {self.axes[rows].name} and {self.axes[columns].name}"

    def _tiles(self) -> Region | None:
        if self.mask.dim() == 1:
            return self._blocks()
        for rows, columns in combinations(range(self.mask.dim()), 2):
            own = None if self.tile is None else (self.tile[rows], self.tile[columns])
            grid = _Grid(self._over(rows, columns), own)
            if (tiles := grid.tiles()) is not None:
                height, width, wrong = tiles
                if _is_box(wrong) and (whole := self._whole(DENSE)) is not None:
                    return whole
                diagonal = _has_diagonal(grid.rows, grid.columns)
                words = _tiles_in_words(wrong, height, width, diagonal=diagonal) + self._of(rows, columns)
                return self._region(Shape.TILES, words)
        return None

    def _blocks(self) -> Region | None:
        """Tiles along the only axis."""
        own = None if self.tile is None else (self.tile[0], 1)
        if (tiles := _Grid(self.mask.float()[:, None], own).tiles()) is None:
            return None
        height, _, wrong = tiles
        blocks = Axis("block", wrong.numel(), f"block of {height}", f"blocks of {height}")
        return self._region(Shape.TILES, Spans(blocks, wrong.flatten().numpy()).words())

    def _spread(self) -> Region | None:
        telling = [
            spans
            for spans in self.spans
            if spans.count <= 0.9 * spans.axis.size and self.elements >= MANY * spans.count and spans.is_regular
        ]
        if telling:
            words = ", ".join(spans.words() for spans in telling)
            inside = prod(spans.count if spans in telling else spans.axis.size for spans in self.spans)
            return self._region(Shape.SPREAD, f"{_part(self.elements, inside)} of the elements in {words}")
        if self.elements >= 0.3 * self.total:
            return self._region(
                Shape.SPREAD, f"{_part(self.elements, self.total)} of all elements, all over the output"
            )
        return None

    def _scattered(self) -> Region:
        return self._region(Shape.SCATTERED, f"{self.elements} of {self.total} elements, scattered")


def _is_box(wrong: torch.Tensor) -> bool:
    """Whether it is all of some rows and columns."""
    return bool((wrong == (wrong.any(dim=1)[:, None] & wrong.any(dim=0))).all())


def _is_later(spans: Sequence[Spans]) -> bool:
    some = [span for span in spans if not span.is_all]
    return len(some) == 1 and some[0].is_all_but_the_first and some[0].first >= BLOCKS[0]


def _part(some: int, all_: int) -> str:
    percent = 100 * some / all_
    return f"{percent:.0f} %" if percent >= 1 else f"{some}"


def _has_diagonal(rows: int, columns: int) -> bool:
    """Whether the sizes of two axes are alike, and neither is so short that a few elements make a diagonal."""
    return min(rows, columns) >= BLOCKS[0] and max(rows, columns) <= ALIKE * min(rows, columns)


class _Grid:
    """Wrong elements over two axes, in which tiles of every usual size are tried."""

    def __init__(self, density: torch.Tensor, own: tuple[int, int] | None) -> None:
        """`own`: the tile that the kernel stores, if it is known."""
        self.rows, self.columns = density.shape
        self.heights, self.widths = _blocks(self.rows), _blocks(self.columns)
        self.cell = (self.heights[0], self.widths[0])
        """Divides every size of a tile."""
        self.density = self._pooled(density, self.cell)
        self.own = own

    def tiles(self) -> tuple[int, int, torch.Tensor] | None:
        """The largest tiles that are each wrong as a whole or not at all: (height, width, which are wrong)."""
        if bool(((self.density > 0) & (self.density < DENSE / 2)).any()):
            return None
        for height, width in (*self._own(), *self._usual()):
            part = self._pooled(self.density, (-(-height // self.cell[0]), -(-width // self.cell[1])))
            wrong = part >= DENSE
            if bool(wrong.any()) and not bool(wrong.all()) and not bool(((part > 0) & ~wrong).any()):
                return height, width, wrong
        return None

    def _usual(self) -> list[tuple[int, int]]:
        """The largest first."""
        sizes = [(h, w) for h in self.heights for w in self.widths if h * w >= SMALLEST]
        return sorted(sizes, key=lambda size: (-size[0] * size[1], abs(size[0] - size[1])))

    def _own(self) -> Iterator[tuple[int, int]]:
        """The kernel's tile, if it is made of cells."""
        if self.own is None:
            return
        extents = ((self.own[0], self.rows, self.cell[0]), (self.own[1], self.columns, self.cell[1]))
        sizes = [min(own, axis) for own, axis, cell in extents if own >= axis or own % cell == 0]
        if len(sizes) == 2:
            yield sizes[0], sizes[1]

    def _pooled(self, density: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
        """Means over groups of `size`, those at the ends perhaps smaller."""
        from torch.nn.functional import avg_pool2d

        pooled: torch.Tensor = avg_pool2d(density[None, None], size, ceil_mode=True, count_include_pad=False)[0, 0]
        return pooled


def _blocks(extent: int) -> list[int]:
    """Sizes of tiles to try along an axis, ascending: those that come twice at least, and the whole axis."""
    return [block for block in BLOCKS if 2 * block <= extent] + [extent]


def _tiles_in_words(wrong: torch.Tensor, height: int, width: int, *, diagonal: bool) -> str:
    import torch

    size = f"{height} x {width}"
    rows, columns = wrong.shape
    parity = (torch.arange(rows)[:, None] + torch.arange(columns)) % 2
    if bool((wrong == parity.bool()).all()) or bool((wrong == ~parity.bool()).all()):
        return f"every other tile of {size}, like the fields of a chessboard"
    below = torch.arange(rows)[:, None] - torch.arange(columns)
    for words, inside in (("on", below == 0), ("above", below < 0), ("below", below > 0)):
        if diagonal and min(rows, columns) > 1 and bool((wrong == inside).all()):
            return f"the tiles of {size} {words} the diagonal"
    places = wrong.nonzero().tolist()
    listed = ", ".join(f"({row}, {column})" for row, column in places[:LISTED_TILES])
    more = ", ..." if len(places) > LISTED_TILES else ""
    return f"{len(places)} of {wrong.numel()} tiles of {size}: {listed}{more}"
