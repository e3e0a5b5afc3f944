"""Exercise 8: look into a kernel: print from one thread, read generated sources, and judge a speed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course import landmarks, printed, shared_sizes, speeds
from tlpuzzles.course.inputs import normal
from tlpuzzles.course.recorded import copy_kernel
from tlpuzzles.course.vocabulary import (
    Case,
    Compute,
    Exercise,
    Mistake,
    Printing,
    Profiling,
    Sizes,
    Tensors,
    TensorSpec,
    Tolerance,
)
from tlpuzzles.kernel.requirements import one_launch

if TYPE_CHECKING:
    import torch


BLOCK = 128
"""What one block of the skeleton doubles. Lengths are multiples of it: TileLang 0.1.15 finds no layout for a fragment
of another length that is printed from every thread, and that is a mistake worth naming."""


def _one_block(_rng: random.Random) -> Sizes:
    return {"N": BLOCK}


def _several_blocks(rng: random.Random) -> Sizes:
    # An unguarded print of up to 12 blocks of 32 threads stays below the 400 lines that the CPU device shows.
    return {"N": BLOCK * rng.randint(5, 12)}


def _half_precision(rng: random.Random) -> Sizes:
    return {"N": BLOCK * rng.randint(13, 40)}


def _doubled(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return 2 * tensors["A"]


def _flops(sizes: Sizes, _flags: Mapping[str, bool]) -> int:
    return sizes["N"]


def _of(factor: float) -> Compute:
    return lambda tensors, _sizes, _flags: factor * tensors["A"]


def _plus_two(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return tensors["A"] + 2


def _squared(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return tensors["A"] ** 2


def _first_block_alone(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
    if sizes["N"] == BLOCK:
        return None
    wrong = tensors["A"].clone()
    wrong[:BLOCK] *= 2
    return wrong


def _first_element_alone(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    wrong = tensors["A"].clone()
    wrong[0] *= 2
    return wrong


def _first_block_everywhere(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
    if sizes["N"] == BLOCK:
        return None
    return 2 * tensors["A"][:BLOCK].repeat(sizes["N"] // BLOCK)


EXERCISE = Exercise(
    number=8,
    slug="introspection",
    title="Introspection",
    summary="Print from a kernel, read its source, measure it: what holds it up?",
    factory="make_print_demo",
    inputs=(TensorSpec("A", ("N",)),),
    output=TensorSpec("B", ("N",)),
    cases=(
        Case("several-blocks", "a vector of several blocks", _several_blocks, "float32"),
        Case("one-block", "a vector of a single block", _one_block, "float32"),
        Case("half-precision", "several blocks in float16", _half_precision, "float16"),
    ),
    draw=normal(),
    reference=_doubled,
    library=_doubled,
    tolerance={
        # Doubling is exact in both types, so what is right is right to the last bit.
        "float32": Tolerance(frobenius=1e-7, row=1e-7, element=1e-7),
        "float16": Tolerance(frobenius=1e-4, row=1e-4, element=1e-4),
    },
    flops=_flops,
    mistakes=(
        Mistake("not-doubled", "A itself: nothing is doubled", _of(1), hint=1),
        Mistake("doubled-twice", "4 A: every element is doubled twice", _of(4), hint=1),
        Mistake("plus-two", "A + 2 instead of 2 A", _plus_two, hint=1),
        Mistake("squared", "A * A instead of 2 A", _squared, hint=1),
        Mistake(
            "first-block-alone", "2 A in the first block and A elsewhere: block 0 alone doubles", _first_block_alone
        ),
        Mistake(
            "first-element-alone", "A with its first element doubled: the loop covers one element", _first_element_alone
        ),
        Mistake(
            "first-block-everywhere",
            f"what comes out if every block reads the first {BLOCK} elements of A instead of its own",
            _first_block_everywhere,
        ),
    ),
    requirements=(one_launch(),),
    functions=(*landmarks.CHECKS, *shared_sizes.CHECKS, *speeds.CHECKS),
    printing=Printing(
        "prints-once", "prints the first doubled element, once, with a message", "several-blocks", printed.judge
    ),
    profiling=Profiling(
        "profile-on-gpu",
        "profile agrees with the grader's own measurement",
        "profile",
        copy_kernel,
        "make_copy",
        # 1 GiB is moved: 0.25 ms on an H200, against which what a launch costs is little.
        {"N": 1 << 27},
        within=1.5,
    ),
)
