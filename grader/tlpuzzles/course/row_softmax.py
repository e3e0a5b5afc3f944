"""Exercise 5: softmax of each row, in one pass over memory. Maximum and sum are reductions across threads."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from tlpuzzles.course.baselines import COPY, TORCH_SOFTMAX
from tlpuzzles.course.inputs import equal_rows, normal, offset, one_finite
from tlpuzzles.course.timings import fixed, shifted
from tlpuzzles.course.vocabulary import (
    Case,
    Compute,
    Exercise,
    Mistake,
    Runs,
    Sizes,
    Tensors,
    TensorSpec,
    Timing,
    Tolerance,
)
from tlpuzzles.kernel.requirements import no_global_intermediate, one_launch, rounds_once, sums_in

if TYPE_CHECKING:
    import torch

Rows: TypeAlias = "Callable[[torch.Tensor], torch.Tensor]"

USUAL_HEIGHTS = (4, 2, 8)
"""What learners choose for block_M: a mistake whose output depends on it is computed for each."""
SIGNS = (-1, 1, 1, -1, 1, -1, -1, 1, *[-1] * 8)
"""Of the rows' offsets. Which rows come out as NaN tells what was subtracted in the maximum's place: the first row's
maximum, the tile's (half of the tiles are negative throughout), zero."""
LONGEST = 8192


def _ragged(rng: random.Random) -> Sizes:
    # The first case is the one that is lowered. TileLang refuses these lengths in a tile of just so many columns, and
    # in one rounded up to whole threads: to 5 or 7 times 128, an odd multiple (with one row a block it takes that, and
    # rightly). Odd lengths would not do: rounded up to any multiple of 128, most lower. The next multiple is 20 columns
    # away or more, the next power of two 148.
    return {"M": 2 * rng.randint(18, 30) + 1, "N": 128 * rng.choice((4, 6)) + 4 * rng.randint(5, 27)}


def _short(rng: random.Random) -> Sizes:
    return {"M": 2 * rng.randint(128, 165) + 1, "N": 2 * rng.randint(2, 15) + 1}


def _whole_tiles(rng: random.Random) -> Sizes:
    return {"M": 16 * rng.choice((2, 3)), "N": rng.choice((512, 1024))}


def _one_column(rng: random.Random) -> Sizes:
    return {"M": 2 * rng.randint(2, 7) + 1, "N": 1}


def _one_row(rng: random.Random) -> Sizes:
    # A tile of LONGEST columns, and no multiple of a shorter one that a kernel may take the row in.
    return {"M": 1, "N": 2 * rng.randint(LONGEST // 4 + 50, LONGEST // 2 - 100) + 1}


def _named(rng: random.Random) -> Sizes:
    # One more than a warp, three warps, and the most: what lies between the other cases, and at the end of the range.
    return {"M": 2 * rng.randint(2, 7) + 1, "N": rng.choice((33, LONGEST, 96))}


def _many_blocks(rng: random.Random) -> Sizes:
    return {"M": 2 * rng.randint(4000, 4999) + 1, "N": rng.choice((1000, 1003, 2040))}


def _softmax(rows: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.softmax(rows, dim=-1)


def _reference(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return _softmax(tensors["X"])


def _flops(sizes: Sizes, _flags: Mapping[str, bool]) -> int:
    """Five for each element: comparing, subtracting, the exponential, adding up, dividing."""
    return 5 * sizes["M"] * sizes["N"]


# Mistakes


def _instead(function: Rows) -> Compute:
    """Another function of the rows; None where a row of one element makes most of them right."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        return function(tensors["X"]) if sizes["N"] > 1 else None

    return compute


def _relative_to(largest: Rows) -> Rows:
    """Softmax with `largest(rows)` subtracted where the row's maximum belongs, in float32 as a kernel computes it.

    Any number gives the same quotient in exact arithmetic; in float32, exponentials overflow or all become zero.
    """

    def function(rows: torch.Tensor) -> torch.Tensor:
        import torch

        powers = (rows - largest(rows)).float().exp()
        quotient = (powers / powers.sum(-1, keepdim=True)).double()
        # Exact where nothing overflows, so that mistakes that come to the same thing are equal, too.
        return torch.where(quotient.isfinite() & (quotient > 0), _softmax(rows), quotient)

    return function


def _exceeding(rows: torch.Tensor) -> torch.Tensor:
    """What each element exceeds its row's maximum by."""
    return rows - rows.amax(-1, keepdim=True)


def _with_zeros(width: Callable[[int], int]) -> Compute:
    """Softmax of rows that zeros make as long as the tile is wide, where they should be minus infinity."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        N = sizes["N"]
        past = width(N) - N
        return _softmax(torch.nn.functional.pad(tensors["X"], (0, past)))[:, :N] if past else None

    return compute


def _zeros_in_maximum(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
    """The maximum is never below zero, the sum is right."""
    if _power_of_two(sizes["N"]) == sizes["N"]:
        return None
    return _relative_to(lambda rows: rows.amax(-1, keepdim=True).clamp(min=0.0))(tensors["X"])


def _power_of_two(count: int) -> int:
    return 1 << (count - 1).bit_length()


def _whole_warps(count: int) -> int:
    return -(-count // 128) * 128


def _by_tiles(height: int, function: Rows) -> Compute:
    """`function` of tiles of shape (tiles, height, N); rows past the end are zero, as copies deliver them."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        M, N = sizes["M"], sizes["N"]
        if N == 1 or M == 1:
            return None
        tiles = torch.nn.functional.pad(tensors["X"], (0, 0, 0, -M % height)).reshape(-1, height, N)
        return function(tiles).reshape(-1, N)[:M]

    return compute


def _over_the_tile(tiles: torch.Tensor) -> torch.Tensor:
    return _softmax(tiles.flatten(1)).view(tiles.shape)


def _along_columns(tiles: torch.Tensor) -> torch.Tensor:
    import torch

    return torch.softmax(tiles, dim=1)


def _first_maximum(tiles: torch.Tensor) -> torch.Tensor:
    return _relative_to(lambda rows: rows[:, :1].amax(-1, keepdim=True))(tiles)


def _largest_of_the_tile(tiles: torch.Tensor) -> torch.Tensor:
    return _relative_to(lambda rows: rows.amax((-1, -2), keepdim=True))(tiles)


_MISTAKES = (
    Mistake(
        "no-maximum",
        "exp(x) / sum of exp(x) without the maximum subtracted: exp of a large x is infinite, of a small one 0",
        _instead(_relative_to(lambda rows: rows.new_zeros(()))),
    ),
    *(
        Mistake(
            f"zeros-take-part{name}",
            "softmax of rows to which zeros were added: columns past the end of X are read as 0, and each adds exp(0)",
            _with_zeros(width),
            hint=2,
        )
        for name, width in (("", _power_of_two), ("-128", _whole_warps))
    ),
    Mistake(
        "zeros-in-maximum",
        "what comes out if the zeros past the end of X count as elements when the maximum is looked for",
        _zeros_in_maximum,
    ),
    Mistake(
        "not-divided",
        "the exponentials alone: the division by their sum is missing",
        _instead(lambda rows: _exceeding(rows).exp()),
    ),
    Mistake(
        "sum-before-exp",
        "exponentials divided by the sum of the elements themselves: the sum was taken before exp",
        _instead(lambda rows: _exceeding(rows).exp() / rows.sum(-1, keepdim=True)),
        hint=3,
    ),
    Mistake(
        "sum-of-differences",
        "exponentials divided by the sum of what they were taken of: the sum was taken before exp",
        _instead(lambda rows: _exceeding(rows).exp() / _exceeding(rows).sum(-1, keepdim=True)),
        hint=3,
    ),
    Mistake(
        "log-softmax",
        "the logarithm of softmax: x minus the maximum, minus the logarithm of the sum",
        _instead(lambda rows: rows.log_softmax(-1)),
    ),
    Mistake(
        "base-two",
        "softmax with powers of 2 in place of powers of e: before T.exp2, the factor log2(e) is missing",
        _instead(lambda rows: _softmax(math.log(2) * rows)),
        hint=3,
    ),
    Mistake(
        "base-two-twice",
        "softmax with the factor log2(e) and powers of e all the same: T.exp needs no such factor",
        _instead(lambda rows: _softmax(rows / math.log(2))),
        hint=3,
    ),
    *(
        Mistake(
            f"{what}-{height}",
            f"{says} (block_M = {height})",
            _by_tiles(height, function),
            hint=3,
        )
        for height in USUAL_HEIGHTS
        for what, says, function in (
            ("over-the-tile", "softmax over all rows of a tile together instead of each row by itself", _over_the_tile),
            (
                "along-columns",
                "softmax down the columns of a tile: the reductions go along the wrong axis",
                _along_columns,
            ),
            (
                "first-maximum",
                "softmax with the first row's maximum subtracted from every row of a tile",
                _first_maximum,
            ),
            (
                "largest-of-the-tile",
                "softmax with the maximum of the whole tile subtracted instead of each row's own",
                _largest_of_the_tile,
            ),
        )
    ),
)


def _timing(M: int, N: int) -> Timing:
    case = Case(f"speed-{N}", f"{M} rows of {N}", fixed(M=M, N=N))
    # The probe is shifted so far that exp overflows unless each row's maximum is subtracted.
    return Timing(case, against=(COPY,), beside=(TORCH_SOFTMAX,), spread=3, probes=(shifted("X", 200),))


EXERCISE = Exercise(
    number=5,
    slug="row_softmax",
    title="Row softmax",
    summary="Reductions across threads: softmax of rows of any length, held in registers.",
    factory="make_softmax",
    inputs=(TensorSpec("X", ("M", "N")),),
    output=TensorSpec("Y", ("M", "N")),
    cases=(
        Case("ragged", "rows of a length that no number of threads divides, and a ragged last block", _ragged),
        Case(
            "offsets",
            "rows around 200 and around -200, where exp alone overflows or gives 0",
            _ragged,
            draw=offset(signs=SIGNS),
        ),
        Case("one-finite", "rows of minus infinity but for one element", _ragged, draw=one_finite(signs=SIGNS)),
        Case("all-equal", "rows whose elements are all equal", _ragged, draw=equal_rows()),
        Case("short-rows", "rows shorter than a warp has threads", _short),
        Case("whole-tiles", "sizes that are powers of two, or multiples of them", _whole_tiles),
        Case("one-column", "rows of a single element", _one_column),
        Case("one-row", "a single row of thousands, a length that nothing divides", _one_row),
        Case("other-lengths", "rows just longer than a warp, or the longest there are", _named),
        Case("many-blocks", "more blocks than a GPU runs at once", _many_blocks, runs=Runs.ON_CUDA),
    ),
    draw=normal(),
    reference=_reference,
    library=_reference,
    # Rounding to float16 costs 2.1e-4, up to 4.9e-4 in a row that one element dominates. Exponentials and sums kept in
    # float16 err by 4e-4 to 1e-3: where they pass, the requirement does not.
    tolerance={"float16": Tolerance(frobenius=5e-4, row=1e-3, element=2e-3)},
    flops=_flops,
    mistakes=_MISTAKES,
    row_name="row",
    requirements=(one_launch(), sums_in("float32"), rounds_once("T.exp"), no_global_intermediate()),
    collecting_hint=2,
    speed_hint=3,
    timings=(_timing(16384, 4096), _timing(65536, 1024)),
)
