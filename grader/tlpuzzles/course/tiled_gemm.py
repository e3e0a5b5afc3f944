"""Exercise 2: a tiled matrix product on the tensor cores, pipelined along K."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.gemm_mistakes import MISTAKES
from tlpuzzles.course.inputs import normal, zero_one
from tlpuzzles.course.vocabulary import Case, Exercise, Runs, Sizes, Tensors, TensorSpec, Tolerance
from tlpuzzles.kernel.requirements import accumulates_in, one_launch, uses_gemm

if TYPE_CHECKING:
    import torch


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
    mistakes=MISTAKES,
    requirements=(one_launch(), uses_gemm(), accumulates_in("float32")),
)
