"""Exercise 1: vector add. One block adds a stretch of the vectors; the last stretch may be ragged."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.baselines import COPY, TORCH_ADD
from tlpuzzles.course.inputs import normal
from tlpuzzles.course.sharing import shared_among_threads
from tlpuzzles.course.timings import fixed
from tlpuzzles.course.unwritten import NEVER_WRITTEN
from tlpuzzles.course.vocabulary import (
    Case,
    Compute,
    Exercise,
    Mistake,
    Sizes,
    Tensors,
    TensorSpec,
    Timing,
    Tolerance,
)
from tlpuzzles.kernel.requirements import many_blocks, no_global_intermediate, one_launch

if TYPE_CHECKING:
    import torch


USUAL_BLOCKS = (1024, 256, 512, 128, 2048)
"""What learners choose for block_N: a mistake whose output depends on it is computed for each."""


def _whole_blocks(rng: random.Random) -> Sizes:
    return {"N": 4096 * rng.randint(2, 5)}


def _ragged(rng: random.Random) -> Sizes:
    return {"N": 2 * rng.randint(2600, 9000) + 1}


def _short(rng: random.Random) -> Sizes:
    return {"N": 2 * rng.randint(1, 15) + 1}


def _one(_rng: random.Random) -> Sizes:
    return {"N": 1}


def _many_blocks(rng: random.Random) -> Sizes:
    # 1100 blocks of 1024 elements: more than the 1056 that an H100 holds at once with 256 threads each.
    return {"N": 2 * rng.randint(600_000, 900_000) + 1}


def _sum(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return tensors["A"] + tensors["B"]


def _flops(sizes: Sizes, _flags: Mapping[str, bool]) -> int:
    return sizes["N"]


def _difference(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return tensors["A"] - tensors["B"]


def _product(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return tensors["A"] * tensors["B"]


def _a_twice(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return 2 * tensors["A"]


def _b_twice(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return 2 * tensors["B"]


def _only_a(tensors: Tensors, _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    return tensors["A"]


def _first_block_everywhere(block: int, *stuck: str) -> Compute:
    """What comes out if `stuck` inputs are indexed by the position inside the block alone."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        if sizes["N"] <= block:
            return None
        inside = torch.arange(sizes["N"]) % block
        a, b = (tensors[name][inside] if name in stuck else tensors[name] for name in ("A", "B"))
        return a + b

    return compute


def _whole_blocks_only(block: int) -> Compute:
    """What a grid that is rounded down leaves: the elements past the last whole block are never written."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        whole = sizes["N"] // block * block
        return None if whole in (0, sizes["N"]) else _cut_off(tensors, whole)

    return compute


def _first_block_only(block: int) -> Compute:
    """What a single block leaves: nothing past its own elements is written."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        # As many blocks as elements in one: C[bx] would leave the same.
        return None if sizes["N"] <= block or _blocks(sizes, block) == block else _cut_off(tensors, block)

    return compute


def _overlapping_blocks(block: int) -> Compute:
    """What bx + i leaves, in reads and in the write: each block starts one element after the one before."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        end = _blocks(sizes, block) + block - 1
        return None if sizes["N"] <= block or end >= sizes["N"] else _cut_off(tensors, end)

    return compute


def _overlapping_reads(block: int) -> Compute:
    """What comes out if A and B are read at bx + i and C is written where it should be."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        import torch

        if sizes["N"] <= block:
            return None
        place = torch.arange(sizes["N"])
        read = place // block + place % block
        return tensors["A"][read] + tensors["B"][read]

    return compute


def _one_element_a_block(block: int) -> Compute:
    """What C[bx] leaves with a grid of whole blocks."""

    def compute(tensors: Tensors, sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor | None:
        blocks = _blocks(sizes, block)
        # As many blocks as elements in one would leave the same as a single block.
        return None if sizes["N"] <= block or blocks in USUAL_BLOCKS else _cut_off(tensors, blocks)

    return compute


def _blocks(sizes: Sizes, block: int) -> int:
    return -(-sizes["N"] // block)


def _cut_off(tensors: Tensors, end: int) -> torch.Tensor:
    total = tensors["A"] + tensors["B"]
    total[end:] = NEVER_WRITTEN
    return total


EXERCISE = Exercise(
    number=1,
    slug="vector_add",
    title="Vector add",
    summary="Blocks, threads and the ragged end: C = A + B.",
    factory="make_vector_add",
    inputs=(TensorSpec("A", ("N",)), TensorSpec("B", ("N",))),
    output=TensorSpec("C", ("N",)),
    cases=(
        Case("ragged-end", "a last block that is only partly filled", _ragged, "float32"),
        Case("whole-blocks", "a length that block sizes divide", _whole_blocks, "float32"),
        Case("one-element", "a single element", _one, "float32"),
        Case("half-precision", "float16, with a ragged end", _ragged, "float16"),
        Case("short", "fewer elements than a block has threads, in float16", _short, "float16"),
        Case("many-blocks", "more blocks than a GPU runs at once", _many_blocks, "float32"),
    ),
    draw=normal(),
    reference=_sum,
    library=_sum,
    tolerance={
        # A float32 sum is rounded once: 3e-8 of its value. Sums computed in float16 err by 2e-4.
        "float32": Tolerance(frobenius=1e-6, row=1e-6, element=1e-6),
        "float16": Tolerance(frobenius=5e-4, row=1e-3, element=2e-3),
    },
    flops=_flops,
    mistakes=(
        Mistake("difference", "A - B instead of A + B", _difference, hint=1),
        Mistake("product", "A * B instead of A + B", _product, hint=1),
        Mistake("a-twice", "A + A: B is never read", _a_twice, hint=1),
        Mistake("b-twice", "B + B: A is never read", _b_twice, hint=1),
        Mistake("only-a", "A alone: B is never added", _only_a),
        *(
            Mistake(
                f"first-block-everywhere-{block}",
                f"what comes out if every block reads the first {block} elements of A and B instead of its own",
                _first_block_everywhere(block, "A", "B"),
            )
            for block in USUAL_BLOCKS
        ),
        *(
            Mistake(
                f"first-block-of-{name.lower()}-{block}",
                f"what comes out if every block reads the first {block} elements of {name} instead of its own",
                _first_block_everywhere(block, name),
            )
            for name in ("A", "B")
            for block in USUAL_BLOCKS
        ),
        *(
            Mistake(
                f"first-block-only-{block}",
                f"what comes out if every block writes the first {block} elements: the index lacks bx * block_N, or "
                "the grid has a single block",
                _first_block_only(block),
            )
            for block in USUAL_BLOCKS
        ),
        *(
            Mistake(f"{what}-{block}", f"{says} (block_N = {block})", compute(block))
            for block in USUAL_BLOCKS
            for what, says, compute in (
                (
                    "bx-plus-i",
                    "what comes out if block bx starts at element bx: the index is bx + i where it must be "
                    "bx * block_N + i",
                    _overlapping_blocks,
                ),
                (
                    "reads-at-bx-plus-i",
                    "what comes out if block bx reads from element bx on: A and B are read at bx + i where it must be "
                    "bx * block_N + i",
                    _overlapping_reads,
                ),
                (
                    "one-element-a-block",
                    "what comes out if each block writes one element, C[bx]: the index must be bx * block_N + i, for "
                    "every i of a T.Parallel loop over block_N",
                    _one_element_a_block,
                ),
            )
        ),
        *(
            Mistake(
                f"ragged-block-missing-{block}",
                "A + B in whole blocks only, without the ragged one at the end: the number of blocks was rounded down "
                "(//) where it must be rounded up (T.ceildiv)",
                _whole_blocks_only(block),
            )
            for block in USUAL_BLOCKS
        ),
    ),
    requirements=(
        one_launch(),
        many_blocks(elements=1_000_000, blocks=40),
        shared_among_threads(),
        no_global_intermediate(),
    ),
    tiled=False,
    speed_hint=4,
    timings=(
        Timing(
            Case("speed", "67 million elements", fixed(N=1 << 26), dtype="float32"),
            against=(COPY,),
            beside=(TORCH_ADD,),
        ),
    ),
)
