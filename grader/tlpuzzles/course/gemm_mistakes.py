"""Typical errors in a tiled matrix product, as the outputs that they give.

What an error gives depends on the tiles that a learner chose, so it is computed for the usual ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from tlpuzzles.course.unwritten import NEVER_WRITTEN
from tlpuzzles.course.vocabulary import Compute, Mistake, Sizes, Tensors

if TYPE_CHECKING:
    import torch


USUAL_DEPTHS = (32, 64)
"""What learners choose for block_K."""

USUAL_HEIGHTS = (128, 64)
USUAL_WIDTHS = (128, 64, 256)
"""What they choose for block_M and block_N."""

USUAL_TILES = ((128, 128), (128, 256), (64, 64), (64, 128), (128, 64))
"""(block_M, block_N) for errors that depend on both."""

USUAL_SIDES = ((128, 32), (128, 64), (64, 32), (64, 64))
"""(block_M or block_N, block_K)."""


def _a_transposed(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
    """C[i, j] = sum over k of A[k, i] * B[k, j]; elements outside A count as zero, as copies deliver them."""
    M, K = sizes["M"], sizes["K"]
    if M == K == 1:
        return None
    return _cropped(tensors["A"].T, M, K) @ tensors["B"]


def _b_transposed(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
    N, K = sizes["N"], sizes["K"]
    if N == K == 1:
        return None
    return tensors["A"] @ _cropped(tensors["B"].T, K, N)


def _cropped(matrix: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """The upper left rows x columns of a matrix, zeros where it is smaller."""
    cropped = matrix.new_zeros(rows, columns)
    part = matrix[:rows, :columns]
    cropped[: part.shape[0], : part.shape[1]] = part
    return cropped


Slices = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]


def _trips(depth: int, combined: Slices) -> Compute:
    """What is made of slices of A and B, each `depth` long along K; a right kernel sums the products of their pairs.

    `combined` is given A as (trips, M, depth) and B as (trips, depth, N).
    """

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        trips = -(-K // depth)
        if trips == 1:
            return None
        a, b = _cropped(tensors["A"], M, trips * depth), _cropped(tensors["B"], trips * depth, N)
        return combined(a.reshape(M, trips, depth).transpose(0, 1), b.reshape(trips, depth, N))

    return compute


def _last_trip_missing(depth: int) -> Compute:
    last = _trips(depth, lambda a, b: a[-1] @ b[-1])

    def compute(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor | None:
        missing = last(tensors, sizes, flags)
        return None if missing is None else _product(tensors) - missing

    return compute


def _trips_by_one(depth: int) -> Compute:
    """Trip ko reads from column ko of A and row ko of B on: each of them belongs to as many trips as reach it."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        trips = -(-sizes["K"] // depth)
        if trips == 1:
            return None
        at = torch.arange(sizes["K"])
        times = (at.clamp(max=trips - 1) - (at - depth + 1).clamp(min=0) + 1).clamp(min=0)
        return (tensors["A"] * times) @ tensors["B"]

    return compute


def _mistaken_trips(depth: int) -> tuple[Mistake, ...]:
    return (
        Mistake(
            f"last-trip-missing-{depth}",
            f"A @ B without the last trip along K, for a block_K of {depth}: the loop ends too early",
            _last_trip_missing(depth),
        ),
        Mistake(
            f"last-trip-only-{depth}",
            f"the product of the last trip alone, for a block_K of {depth}: the sums start anew in every trip",
            _trips(depth, lambda a, b: a[-1] @ b[-1]),
        ),
        Mistake(
            f"first-trip-repeated-{depth}",
            f"the product of the first trip, once for every trip (block_K = {depth}): A and B are read at one place "
            "each time",
            _trips(depth, lambda a, b: len(a) * (a[0] @ b[0])),
        ),
        Mistake(
            f"trips-by-one-{depth}",
            f"what comes out if trip ko begins at column ko of A and row ko of B: it is ko * block_K (= {depth})",
            _trips_by_one(depth),
        ),
        Mistake(
            f"a-stands-still-{depth}",
            f"what comes out if every trip reads the first {depth} columns of A instead of its own",
            _trips(depth, lambda a, b: a[0] @ b.sum(0)),
        ),
        Mistake(
            f"b-stands-still-{depth}",
            f"what comes out if every trip reads the first {depth} rows of B instead of its own",
            _trips(depth, lambda a, b: a.sum(0) @ b[0]),
        ),
    )


def _product(tensors: Tensors) -> torch.Tensor:
    """A @ B, for the caller to change."""
    return _last_product(tensors["A"], tensors["B"]).clone()


@lru_cache(maxsize=1)  # dozens of mistakes are made of the same product
def _last_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


def _repeated(rows: int | None = None, columns: int | None = None) -> Compute:
    """Every block reads the first `rows` rows of A, or the first `columns` columns of B, instead of its own."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        if (rows is None or sizes["M"] <= rows) and (columns is None or sizes["N"] <= columns):
            return None
        of_a = torch.arange(sizes["M"]) % (rows or sizes["M"])
        of_b = torch.arange(sizes["N"]) % (columns or sizes["N"])
        return _product(tensors)[of_a][:, of_b]

    return compute


def _written_over(rows: int | None = None, columns: int | None = None) -> Compute:
    """Every block writes to the first `rows` rows of C, or the first `columns` columns; what the last wrote stays."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        M, N = sizes["M"], sizes["N"]
        if (rows is None or rows >= M) and (columns is None or columns >= N):
            return None
        height, width = rows or M, columns or N
        top, left = (M - 1) // height * height, (N - 1) // width * width
        result = _product(tensors).new_full((M, N), NEVER_WRITTEN)
        result[:height, :width] = _cropped(_product(tensors)[top:, left:], min(height, M), min(width, N))
        return result

    return compute


def _grid_rounded_down(height: int | None = None, width: int | None = None) -> Compute:
    """The ragged tiles at the end of the rows, of the columns or of both have no block."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        M, N = sizes["M"], sizes["N"]
        rows, columns = M // (height or M) * (height or M), N // (width or N) * (width or N)
        if rows == 0 or columns == 0 or (rows, columns) == (M, N):
            return None
        result = _product(tensors)
        result[rows:], result[:, columns:] = NEVER_WRITTEN, NEVER_WRITTEN
        return result

    return compute


def _grid_exchanged(height: int, width: int) -> Compute:
    """Numbers of blocks along M and N exchanged: as many rows of tiles as there should be columns, and conversely."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        down, across = -(-sizes["M"] // height), -(-sizes["N"] // width)
        if down == across:
            return None
        result = _product(tensors)
        result[across * height :], result[:, down * width :] = NEVER_WRITTEN, NEVER_WRITTEN
        return result

    return compute


def _tiles_exchanged(height: int, width: int, *, reading: bool) -> Compute:
    """bx and by exchanged where tiles are read, or where they are written."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        M, N = sizes["M"], sizes["N"]
        down, across = -(-M // height), -(-N // width)
        if down == across == 1:
            return None
        side = max(down, across)
        # What lies past the ends of A and B is read as zeros.
        tiles = _cropped(_product(tensors), side * height, side * width).reshape(side, height, side, width)
        if not reading:
            tiles[down:], tiles[:, :, across:] = NEVER_WRITTEN, NEVER_WRITTEN  # no block computes these
        exchanged = tiles.permute(2, 1, 0, 3)
        return exchanged.reshape(side * height, side * width)[:M, :N].contiguous()

    return compute


def _indices_exchanged(which: str, side: int, depth: int) -> Compute:
    """A's tile is read at [trip, block] instead of [block, trip], or B's the other way; `side`: of the block's tile."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        blocks, trips = -(-(M if which == "A" else N) // side), -(-K // depth)
        if blocks == trips == 1:
            return None
        length = max(blocks, trips) * max(side, depth)
        wrong = _cropped(tensors[which], length, length)
        read = wrong.new_zeros((blocks * side, trips * depth) if which == "A" else (trips * depth, blocks * side))
        for block in range(blocks):
            for trip in range(trips):
                if which == "A":
                    tile = wrong[trip * depth : trip * depth + side, block * side : block * side + depth]
                    read[block * side : (block + 1) * side, trip * depth : (trip + 1) * depth] = tile
                else:
                    tile = wrong[block * side : block * side + depth, trip * depth : trip * depth + side]
                    read[trip * depth : (trip + 1) * depth, block * side : (block + 1) * side] = tile
        if which == "A":
            return read[:M] @ _cropped(tensors["B"], trips * depth, N)
        return _cropped(tensors["A"], M, trips * depth) @ read[:, :N]

    return compute


def _mistaken_blocks() -> Iterator[Mistake]:
    for height in USUAL_HEIGHTS:
        yield Mistake(
            f"a-first-rows-{height}",
            f"what comes out if every block reads the first {height} rows of A: by * block_M is missing from A's index",
            _repeated(rows=height),
        )
        yield Mistake(
            f"c-first-rows-{height}",
            f"what comes out if every block writes to the first {height} rows of C: by * block_M is missing from C's "
            "index",
            _written_over(rows=height),
        )
        yield Mistake(f"rows-rounded-down-{height}", f"A @ B {_ROUNDED} (the one of by)", _grid_rounded_down(height))
    for width in USUAL_WIDTHS:
        yield Mistake(
            f"b-first-columns-{width}",
            f"what comes out if every block reads the first {width} columns of B: bx * block_N is missing from B's "
            "index",
            _repeated(columns=width),
        )
        yield Mistake(
            f"c-first-columns-{width}",
            f"what comes out if every block writes to the first {width} columns of C: bx * block_N is missing from C's "
            "index",
            _written_over(columns=width),
        )
        yield Mistake(
            f"columns-rounded-down-{width}",
            f"A @ B {_ROUNDED} (the one of bx)",
            _grid_rounded_down(width=width),
        )
    for height, width in USUAL_TILES:
        size = f"{height}x{width}"
        yield Mistake(f"grid-rounded-down-{size}", f"A @ B {_ROUNDED} (both)", _grid_rounded_down(height, width))
        yield Mistake(
            f"grid-exchanged-{size}",
            "A @ B on a grid that is exchanged with its indices: what T.Kernel is given first is what `as (bx, by)` "
            "counts first. With the tiles along N first, bx goes with block_N, and by with block_M",
            _grid_exchanged(height, width),
        )
        yield Mistake(
            f"tiles-read-exchanged-{size}",
            "what comes out if bx and by are exchanged where A and B are read: by chooses rows of A, bx columns of B",
            _tiles_exchanged(height, width, reading=True),
        )
        yield Mistake(
            f"tiles-written-exchanged-{size}",
            "what comes out if bx and by are exchanged where C is written: by chooses its rows, bx its columns",
            _tiles_exchanged(height, width, reading=False),
        )
    for side, depth in USUAL_SIDES:
        for which, right in (("A", "by, then ko"), ("B", "ko, then bx")):
            yield Mistake(
                f"{which.lower()}-indices-exchanged-{side}x{depth}",
                f"what comes out if the two indices of {which} are exchanged: it wants {right}",
                _indices_exchanged(which, side, depth),
            )


_ROUNDED = "without the ragged tiles: a number of blocks was rounded down (//) where it must be rounded up (T.ceildiv)"

MISTAKES = (
    Mistake("a-transposed", "the product with A read as if it were transposed", _a_transposed),
    Mistake("b-transposed", "the product with B read as if it were transposed", _b_transposed),
    *(mistake for depth in USUAL_DEPTHS for mistake in _mistaken_trips(depth)),
    *_mistaken_blocks(),
)
