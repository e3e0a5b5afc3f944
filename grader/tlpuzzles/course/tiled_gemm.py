"""Exercise 2: a tiled matrix product on the tensor cores, pipelined along K."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.advice import has_stages, writes_once
from tlpuzzles.course.baselines import CUBLAS
from tlpuzzles.course.gemm_mistakes import MISTAKES
from tlpuzzles.course.inputs import normal, zero_one
from tlpuzzles.course.products import flops, many_blocks, odd, one_element, ragged
from tlpuzzles.course.timings import fixed
from tlpuzzles.course.vocabulary import Case, Exercise, Runs, Sizes, Tensors, TensorSpec, Timing, Tolerance
from tlpuzzles.kernel.requirements import (
    accumulates_in,
    no_global_intermediate,
    no_needless_trips,
    one_launch,
    uses_gemm,
)

if TYPE_CHECKING:
    import torch


def _whole_tiles(rng: random.Random) -> Sizes:
    M, N = rng.choice(((256, 768), (768, 256), (512, 768), (768, 512)))
    return {"M": M, "N": N, "K": 64 * rng.choice((3, 5))}


def _ragged_rows(rng: random.Random) -> Sizes:
    # Sums of more than 2048 terms: there the error of float16 sums is three times what is allowed.
    return {"M": odd(rng, 195, 251), "N": 768, "K": 2048 + 64 * rng.randint(1, 4)}


def _ragged_columns(rng: random.Random) -> Sizes:
    # Two trips of 32 or one of 64: fewer than the pipeline has stages.
    return {"M": 256, "N": odd(rng, 645, 765), "K": 64}


def _product(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return tensors["A"] @ tensors["B"]


EXERCISE = Exercise(
    number=2,
    slug="tiled_gemm",
    title="Tiled GEMM on tensor cores",
    summary="Shared memory, tensor cores and a pipeline: C = A @ B.",
    factory="make_matmul",
    inputs=(TensorSpec("A", ("M", "K")), TensorSpec("B", ("K", "N"))),
    output=TensorSpec("C", ("M", "N")),
    cases=(
        Case("ragged", "M, N and K all ragged, and more trips than stages", ragged),
        Case("ones-and-zeros", "ones and zeros, whose product must be exact", ragged, draw=zero_one()),
        Case("whole-tiles", "sizes that tiles divide, on a grid that is not square", _whole_tiles),
        Case("ragged-rows", "a ragged last row of tiles, and sums of over 2000 terms", _ragged_rows),
        Case("ragged-columns", "a ragged last column of tiles, and fewer trips than stages", _ragged_columns),
        Case("one-element", "matrices of a single element", one_element),
        Case("many-blocks", "more blocks than a GPU runs at once", many_blocks, runs=Runs.ON_CUDA),
    ),
    draw=normal(),
    reference=_product,
    library=_product,
    # Rounding right sums to float16 costs 2.1e-4; sums kept in float16 err by 1.6e-3 at K = 2048.
    tolerance={"float16": Tolerance(frobenius=5e-4, row=1e-3, element=2e-3)},
    flops=flops,
    mistakes=MISTAKES,
    # Global memory of a kernel's own outlives its launch: what one has computed there, the next would find.
    requirements=(one_launch(), uses_gemm(), accumulates_in("float32"), no_needless_trips(), no_global_intermediate()),
    advice=(has_stages(), writes_once()),
    speed_hint=4,
    timings=(
        Timing(Case("speed-4096", "4096 x 4096 x 4096", fixed(M=4096, N=4096, K=4096)), against=(CUBLAS,)),
        Timing(Case("speed-8192", "8192 x 8192 x 8192", fixed(M=8192, N=8192, K=8192)), against=(CUBLAS,)),
    ),
)
