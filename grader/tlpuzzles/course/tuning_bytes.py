"""Exercise 7: what is asked of the function that counts the shared memory of a configuration."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, FunctionMistake, same, shown
from tlpuzzles.course.legality import smem_bytes as tiles

Count = Callable[[int, int, int, int], float]
"""(block_M, block_N, block_K, num_stages) -> what someone takes for the bytes."""

FUNCTION = "smem_bytes"
SIDES = (32, 48, 64, 96, 128, 192, 256)
FLOAT16 = 2


def smem_bytes(block_M: int, block_N: int, block_K: int, num_stages: int) -> int:
    """Bytes of shared memory of a block: the tile of C takes the place of those of A and B when they are done with."""
    return max(tiles(block_M, block_N, block_K, num_stages), block_M * block_N * FLOAT16)


def _call(block_M: int, block_N: int, block_K: int, num_stages: int) -> Call:
    return Call(FUNCTION, {"block_M": block_M, "block_N": block_N, "block_K": block_K, "num_stages": num_stages})


def _drawn(rng: random.Random, stages: Sequence[int], *, larger_c: bool) -> list[Call]:
    """A call for each number of stages, of three different sides. Either C is well above all stages of A and B, or
    well below those of A alone and of B alone: only then does each error give a value of its own."""
    calls: list[Call] = []
    while len(calls) < len(stages):
        count = stages[len(calls)]
        block_M, block_N, block_K = (*rng.sample(SIDES, 2), rng.choice((16, 32, 64, 128, 256)))
        c, depth = block_M * block_N * FLOAT16, block_K * max(count, 1)
        fits = c > 1.2 * tiles(block_M, block_N, block_K, count) if larger_c else depth > 1.2 * max(block_M, block_N)
        if fits and block_K not in (block_M, block_N):
            calls.append(_call(block_M, block_N, block_K, count))
    return calls


def _staged(rng: random.Random) -> Sequence[Call]:
    return _drawn(rng, (1, 2, 3, rng.randint(4, 6)), larger_c=False)


def _unstaged(rng: random.Random) -> Sequence[Call]:
    return _drawn(rng, (0, 0, 0), larger_c=False)


def _larger_c(rng: random.Random) -> Sequence[Call]:
    return _drawn(rng, (0, 1, 2, 3), larger_c=True)


def _counts(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        arguments: dict[str, Any] = dict(call.arguments)
        expected = smem_bytes(**arguments)
        if not same(expected, answer.value):
            c = arguments["block_M"] * arguments["block_N"] * FLOAT16
            return Fault(
                f"{shown(call)} gives {answer.value!r}; right is {expected}. The tiles of A and B take "
                f"{tiles(**arguments)} bytes, that of C takes {c}, and the larger counts.",
                hint=2,
            )
    return None


def _mistake(id_: str, says: str, count: Count) -> FunctionMistake:
    def compute(block_M: int, block_N: int, block_K: int, num_stages: int) -> float:
        return count(block_M, block_N, block_K, num_stages)

    return FunctionMistake(id_, says, compute)


def _with_c(a_and_b: Count) -> Count:
    """The error is in the tiles of A and B, whether that of C is looked at or not."""
    return lambda m, n, k, s: max(a_and_b(m, n, k, s), m * n * FLOAT16)


_NOTHING = _mistake(
    "bytes-not-counted", "This says 0 whatever the tiles are: TODO 1 is still to do.", lambda m, n, k, s: 0
)
_ELEMENTS = "This counts elements: a float16 takes 2 bytes."

_TILES = (
    _NOTHING,
    _mistake("a-forgotten", "This leaves out the tile of A.", _with_c(lambda m, n, k, s: k * n * 2 * max(s, 1))),
    _mistake("a-forgotten", "This leaves out the tile of A.", lambda m, n, k, s: k * n * 2 * max(s, 1)),
    _mistake("b-forgotten", "This leaves out the tile of B.", _with_c(lambda m, n, k, s: m * k * 2 * max(s, 1))),
    _mistake("b-forgotten", "This leaves out the tile of B.", lambda m, n, k, s: m * k * 2 * max(s, 1)),
    _mistake("elements-for-bytes", _ELEMENTS, _with_c(lambda m, n, k, s: (m + n) * k * max(s, 1))),
    _mistake("elements-for-bytes", _ELEMENTS, lambda m, n, k, s: max((m + n) * k * max(s, 1), m * n)),
    _mistake("elements-for-bytes", _ELEMENTS, lambda m, n, k, s: (m + n) * k * max(s, 1)),
    _mistake(
        "c-added",
        "This adds the tile of C: it takes the place of A and B when those are done with, so only the larger counts.",
        lambda m, n, k, s: tiles(m, n, k, s) + m * n * 2,
    ),
    _mistake(
        "c-in-every-stage",
        "This counts a tile of C in every stage: it takes the place of A and B when all trips are over.",
        lambda m, n, k, s: (m * k + k * n + m * n) * 2 * max(s, 1),
    ),
    _mistake(
        "c-as-float32",
        "This takes 4 bytes for an element of C: its sums are float32 in registers, and leave as float16.",
        lambda m, n, k, s: max(tiles(m, n, k, s), m * n * 4),
    ),
    _mistake("c-alone", "This counts the tile of C and not those of A and B.", lambda m, n, k, s: m * n * 2),
    _mistake(
        "sides-multiplied",
        "This multiplies all three sides: add the tile of A, block_M x block_K, and that of B, block_K x block_N.",
        lambda m, n, k, s: m * n * k * 2 * max(s, 1),
    ),
    _mistake("kib-for-bytes", "This counts KiB: count bytes.", lambda m, n, k, s: smem_bytes(m, n, k, s) / 1024),
    _mistake("kib-for-bytes", "This counts KiB: count bytes.", lambda m, n, k, s: smem_bytes(m, n, k, s) // 1024),
)

_STAGES = (
    _mistake(
        "stages-ignored",
        "This counts one stage: each has tiles of its own.",
        _with_c(lambda m, n, k, s: tiles(m, n, k, 1)),
    ),
    _mistake(
        "stages-ignored", "This counts one stage: each has tiles of its own.", lambda m, n, k, s: tiles(m, n, k, 1)
    ),
    _mistake(
        "one-stage-too-many", "This counts one stage too many.", _with_c(lambda m, n, k, s: tiles(m, n, k, s + 1))
    ),
    _mistake("one-stage-too-many", "This counts one stage too many.", lambda m, n, k, s: tiles(m, n, k, s + 1)),
    _mistake(
        "only-b-staged",
        "This multiplies the tile of B alone by the stages: mind the parentheses.",
        _with_c(lambda m, n, k, s: m * k + k * n * 2 * max(s, 1)),
    ),
)

_NO_PIPELINE = "A loop without a pipeline still needs one set of tiles."

CHECKS = (
    FunctionCheck(
        "smem-bytes",
        "smem_bytes counts one tile of A and one of B a stage",
        _staged,
        _counts,
        (*_TILES, *_STAGES),
    ),
    FunctionCheck(
        "smem-no-stages",
        "smem_bytes counts one set of tiles for 0 stages",
        _unstaged,
        _counts,
        (
            _mistake("no-stages-no-bytes", _NO_PIPELINE, lambda m, n, k, s: tiles(m, n, k, 1) * s),
            _mistake("no-stages-no-bytes", _NO_PIPELINE, lambda m, n, k, s: max(tiles(m, n, k, 1) * s, m * n * 2)),
            *(mistake for mistake in _TILES if mistake.id not in ("bytes-not-counted", "c-alone", "c-in-every-stage")),
        ),
    ),
    FunctionCheck(
        "smem-large-c",
        "smem_bytes counts the tile of C where it is larger",
        _larger_c,
        _counts,
        (
            _NOTHING,
            _mistake(
                "c-forgotten", "This leaves out the tile of C, which is larger here than all stages of A and B.", tiles
            ),
            *_TILES,
        ),
    ),
)
