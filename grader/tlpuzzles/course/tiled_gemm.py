"""Exercise 2: a tiled matrix product on the tensor cores, pipelined along K."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.inputs import normal, zero_one
from tlpuzzles.course.vocabulary import Case, Exercise, Mistake, Runs, Sizes, Tensors, TensorSpec, Tolerance
from tlpuzzles.kernel.requirements import accumulates_in, one_launch, uses_gemm

if TYPE_CHECKING:
    import torch

Compute = Callable[[Tensors, Sizes, Mapping[str, bool]], "torch.Tensor | None"]

USUAL_DEPTHS = (32, 64)
"""What learners choose for block_K: a mistake whose output depends on it is computed for each."""


# Tiles with sides of 64, 128 or 256 never form a square grid on these sizes: on a square grid, a kernel that exchanges
# bx and by is right.


def _whole_tiles(rng: random.Random) -> Sizes:
    M, N = rng.choice(((256, 768), (768, 256), (512, 768), (768, 512)))
    return {"M": M, "N": N, "K": 64 * rng.choice((3, 5))}


def _ragged_rows(rng: random.Random) -> Sizes:
    # Sums of more than 2048 terms: there the error of float16 sums is three times what is allowed.
    return {"M": _odd(rng, 195, 251), "N": 768, "K": 2048 + 64 * rng.randint(1, 4)}


def _ragged_columns(rng: random.Random) -> Sizes:
    # Two trips of 32 or one of 64: fewer than the pipeline has stages.
    return {"M": 256, "N": _odd(rng, 645, 765), "K": 64}


def _ragged(rng: random.Random) -> Sizes:
    return {"M": _odd(rng, 195, 251), "N": _odd(rng, 645, 765), "K": _odd(rng, 259, 383)}


def _one(_rng: random.Random) -> Sizes:
    return {"M": 1, "N": 1, "K": 1}


def _many_blocks(rng: random.Random) -> Sizes:
    # At the least 11 x 15 = 165 tiles of 128 x 256: more than the 132 multiprocessors of an H200.
    return {"M": _odd(rng, 1301, 1407), "N": _odd(rng, 3601, 3839), "K": _odd(rng, 301, 399)}


def _odd(rng: random.Random, low: int, high: int) -> int:
    return 2 * rng.randint(low // 2, (high - 1) // 2) + 1


def _product(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return tensors["A"] @ tensors["B"]


def _flops(sizes: Sizes, _flags: Mapping[str, bool]) -> int:
    return 2 * sizes["M"] * sizes["N"] * sizes["K"]


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


def _trips(depth: int, chosen: Callable[[int], list[tuple[int, int]]]) -> Compute:
    """The sum of products of slices of A and B, each `depth` long along K.

    `chosen(trips)` lists which slice of A meets which slice of B, where a right kernel has (0, 0), (1, 1), ...
    """

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        M, N, K = sizes["M"], sizes["N"], sizes["K"]
        trips = -(-K // depth)
        if trips == 1:
            return None
        a, b = _cropped(tensors["A"], M, trips * depth), _cropped(tensors["B"], trips * depth, N)
        pairs = chosen(trips)
        left = a.reshape(M, trips, depth)[:, [i for i, _ in pairs]].reshape(M, -1)
        right = b.reshape(trips, depth, N)[[j for _, j in pairs]].reshape(-1, N)
        return left @ right

    return compute


def _mistaken_trips(depth: int) -> tuple[Mistake, ...]:
    return (
        Mistake(
            f"last-trip-missing-{depth}",
            f"A @ B without the last trip along K, for a block_K of {depth}: the loop ends too early",
            _trips(depth, lambda trips: [(k, k) for k in range(trips - 1)]),
        ),
        Mistake(
            f"last-trip-only-{depth}",
            f"the product of the last trip alone, for a block_K of {depth}: the sums start anew in every trip",
            _trips(depth, lambda trips: [(trips - 1, trips - 1)]),
        ),
        Mistake(
            f"first-trip-repeated-{depth}",
            f"the product of the first trip, once for every trip (block_K = {depth}): A and B are read at one place "
            "each time",
            _trips(depth, lambda trips: [(0, 0)] * trips),
        ),
        Mistake(
            f"a-stands-still-{depth}",
            f"what comes out if every trip reads the first {depth} columns of A instead of its own",
            _trips(depth, lambda trips: [(0, k) for k in range(trips)]),
        ),
        Mistake(
            f"b-stands-still-{depth}",
            f"what comes out if every trip reads the first {depth} rows of B instead of its own",
            _trips(depth, lambda trips: [(k, 0) for k in range(trips)]),
        ),
    )


EXERCISE = Exercise(
    number=2,
    slug="tiled_gemm",
    title="Tiled GEMM on tensor cores",
    summary="Shared memory, tensor cores and a pipeline: C = A @ B.",
    factory="make_matmul",
    inputs=(TensorSpec("A", ("M", "K")), TensorSpec("B", ("K", "N"))),
    output=TensorSpec("C", ("M", "N")),
    cases=(
        Case("ragged", "M, N and K all ragged, and more trips than stages", _ragged),
        Case("ones-and-zeros", "ones and zeros, whose product must be exact", _ragged, draw=zero_one()),
        Case("whole-tiles", "sizes that tiles divide, on a grid that is not square", _whole_tiles),
        Case("ragged-rows", "a ragged last row of tiles, and sums of over 2000 terms", _ragged_rows),
        Case("ragged-columns", "a ragged last column of tiles, and fewer trips than stages", _ragged_columns),
        Case("one-element", "matrices of a single element", _one),
        Case("many-blocks", "more blocks than a GPU runs at once", _many_blocks, runs=Runs.ON_CUDA),
    ),
    draw=normal(),
    reference=_product,
    library=_product,
    # Rounding right sums to float16 costs 2.1e-4; sums kept in float16 err by 1.6e-3 at K = 2048.
    tolerance={"float16": Tolerance(frobenius=5e-4, row=1e-3, element=2e-3)},
    flops=_flops,
    mistakes=(
        Mistake("a-transposed", "the product with A read as if it were transposed", _a_transposed),
        Mistake("b-transposed", "the product with B read as if it were transposed", _b_transposed),
        *(mistake for depth in USUAL_DEPTHS for mistake in _mistaken_trips(depth)),
    ),
    requirements=(one_launch(), uses_gemm(), accumulates_in("float32")),
)
