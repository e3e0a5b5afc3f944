"""Exercise 3: the schedules of a matrix product: what they cost, which are worth trying, and which is fastest."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from tlpuzzles.course import candidates, sweeps, tiled_gemm
from tlpuzzles.course.baselines import CUBLAS
from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, FunctionMistake, same, shown
from tlpuzzles.course.legality import smem_bytes
from tlpuzzles.course.schedules import ChosenBy, Proposed
from tlpuzzles.course.timings import fixed
from tlpuzzles.course.vocabulary import Case, Exercise, Sizes, Timing

Count = Callable[[int, int, int, int, int], float]
"""(block_M, block_N, block_K, num_stages, itemsize) -> what someone takes for the bytes."""


def _ragged(rng: random.Random) -> Sizes:
    # N and K are multiples of 8 but of no tile: rows of a multiple of 16 bytes are what Hopper's TMA copies, so the
    # kernel is of the kind that is measured. M and N give no square grid for tiles with sides of 64, 128 and 256.
    return {
        "M": 2 * rng.randint(98, 125) + 1,
        "N": 8 * (2 * rng.randint(40, 46) + 1),
        "K": 8 * (2 * rng.randint(8, 11) + 1),
    }


def _staged(rng: random.Random) -> Sequence[Call]:
    """One stage and more, different tiles and widths; no two of a tile's sides are equal."""
    widths = (None, 2, 4, 1, None, rng.choice((2, 4, 8)))
    calls = []
    for place, itemsize in enumerate(widths):
        block_M, block_N, block_K = rng.sample((16, 32, 48, 64, 96, 128, 192, 256), 3)
        arguments = {
            "block_M": block_M,
            "block_N": block_N,
            "block_K": block_K,
            "num_stages": 1 if place == 0 else rng.randint(2, 5),
        }
        calls.append(Call("smem_bytes", arguments if itemsize is None else {**arguments, "itemsize": itemsize}))
    return calls


def _unstaged(rng: random.Random) -> Sequence[Call]:
    return [Call(call.function, {**call.arguments, "num_stages": 0}) for call in _staged(rng)]


def _counts(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        arguments: dict[str, Any] = dict(call.arguments)
        expected = smem_bytes(**arguments)
        if not same(expected, answer.value):
            return Fault(f"{shown(call)} gives {answer.value!r}; the tiles take {expected} bytes.", hint=2)
    return None


def _mistake(id_: str, says: str, count: Count) -> FunctionMistake:
    def compute(block_M: int, block_N: int, block_K: int, num_stages: int, itemsize: int = 2) -> float:
        return count(block_M, block_N, block_K, num_stages, itemsize)

    return FunctionMistake(id_, says, compute)


_MISTAKES = (
    _mistake("b-forgotten", "This leaves out the tile of B.", lambda m, n, k, s, w: m * k * w * max(s, 1)),
    _mistake("a-forgotten", "This leaves out the tile of A.", lambda m, n, k, s, w: k * n * w * max(s, 1)),
    _mistake(
        "c-counted",
        "This counts the tile of C, too: the sums are a fragment and lie in registers.",
        lambda m, n, k, s, w: (m * k + k * n + m * n) * w * max(s, 1),
    ),
    _mistake(
        "c-alone",
        "This counts the tile of C, which lies in registers, instead of those of A and B.",
        lambda m, n, k, s, w: m * n * w * max(s, 1),
    ),
    _mistake(
        "sides-multiplied",
        "This multiplies all three sides: add the tile of A, block_M x block_K, and that of B, block_K x block_N.",
        lambda m, n, k, s, w: m * n * k * w * max(s, 1),
    ),
    _mistake(
        "elements-for-bytes",
        "This counts elements: each of them has itemsize bytes.",
        lambda m, n, k, s, w: (m * k + k * n) * max(s, 1),
    ),
    _mistake(
        "bits-for-bytes",
        "This counts bits: itemsize is in bytes already.",
        lambda m, n, k, s, w: (m * k + k * n) * w * 8 * max(s, 1),
    ),
    # Rounded down first: where nothing is cut off, both give the same.
    _mistake(
        "whole-kib-for-bytes",
        "This counts KiB: count bytes.",
        lambda m, n, k, s, w: (m * k + k * n) * w * max(s, 1) // 1024,
    ),
    _mistake(
        "kib-for-bytes",
        "This counts KiB: count bytes.",
        lambda m, n, k, s, w: (m * k + k * n) * w * max(s, 1) / 1024,
    ),
    _mistake(
        "itemsize-ignored",
        "This takes every element for 2 bytes, whatever itemsize is.",
        lambda m, n, k, s, w: (m * k + k * n) * 2 * max(s, 1),
    ),
    _mistake(
        "stages-ignored",
        "This counts one stage: each has tiles of its own.",
        lambda m, n, k, s, w: (m * k + k * n) * w,
    ),
    _mistake(
        "one-stage-too-many",
        "This counts one stage too many.",
        lambda m, n, k, s, w: (m * k + k * n) * w * (s + 1),
    ),
    _mistake(
        "only-a-staged",
        "This multiplies the tile of A alone by the stages: mind the parentheses.",
        lambda m, n, k, s, w: m * k * w * max(s, 1) + k * n * w,
    ),
    _mistake(
        "only-b-staged",
        "This multiplies the tile of B alone by the stages and the itemsize: mind the parentheses.",
        lambda m, n, k, s, w: m * k + k * n * w * max(s, 1),
    ),
)

_UNSTAGED_MISTAKES = (
    _mistake(
        "no-stages-no-bytes",
        "A loop without a pipeline still needs one set of tiles.",
        lambda m, n, k, s, w: (m * k + k * n) * w * s,
    ),
    *(mistake for mistake in _MISTAKES if mistake.id not in ("stages-ignored", "only-a-staged", "one-stage-too-many")),
)

EXERCISE = Exercise(
    number=3,
    slug="schedule_sweep",
    title="Schedule sweep",
    summary="Six numbers decide how fast the same kernel is: find the best.",
    factory="make_matmul",
    inputs=tiled_gemm.EXERCISE.inputs,
    output=tiled_gemm.EXERCISE.output,
    cases=(Case("ragged", "a product of sizes that no tile divides", _ragged),),
    draw=tiled_gemm.EXERCISE.draw,
    reference=tiled_gemm.EXERCISE.reference,
    library=tiled_gemm.EXERCISE.library,
    tolerance=tiled_gemm.EXERCISE.tolerance,
    flops=tiled_gemm.EXERCISE.flops,
    requirements=tiled_gemm.EXERCISE.requirements,
    speed_hint=4,
    timings=(
        Timing(Case("speed", "the winner at 4096 x 4096 x 4096", fixed(M=4096, N=4096, K=4096)), against=(CUBLAS,)),
    ),
    functions=(
        FunctionCheck(
            "smem-bytes", "smem_bytes counts one tile of A and one of B a stage", _staged, _counts, _MISTAKES
        ),
        FunctionCheck(
            "smem-no-stages", "smem_bytes counts one set of tiles for 0 stages", _unstaged, _counts, _UNSTAGED_MISTAKES
        ),
        *candidates.CHECKS,
        *sweeps.CHECKS,
    ),
    proposed=Proposed(
        case="ragged",
        ask=candidates.ask,
        read=candidates.read,
        sample=2,
        least=8,
        chosen_by=ChosenBy.FUNCTION,
        tuned_sizes={"M": 4096, "N": 4096, "K": 4096},
        choose=sweeps.choose,
        chosen=sweeps.chosen,
    ),
)
