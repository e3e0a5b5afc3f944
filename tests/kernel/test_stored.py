"""The part of the output that a kernel stores at a time is read off it, however the store is written."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.kernel.constructs import ATTENTION, GEMM, VECTOR_ADD, tile_kernel
from tests.kernel.problems import ADD, ADD_SIZES, COPY, FLASH, FLASH_SIZES, PRODUCT, PRODUCT_SIZES, TILE_SIZES, case
from tests.tracing import document
from tlpuzzles.course.vocabulary import Exercise, Sizes
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.parameters import match
from tlpuzzles.kernel.stored import output_tile


def _tile(
    source: str, exercise: Exercise, sizes: Sizes, arguments: dict[str, object], dtype: str = "float32"
) -> tuple[int, ...] | None:
    func = document(source, **arguments).func
    return output_tile(Kernel(func), match(func, exercise, case(dtype), sizes, (-1,)))


def test_the_tiles_of_the_course() -> None:
    add, product, flash = dict(ADD_SIZES), dict(PRODUCT_SIZES), dict(FLASH_SIZES)
    assert _tile(VECTOR_ADD, ADD, ADD_SIZES, {**add, "block": 256}) == (256,)
    assert _tile(GEMM, PRODUCT, PRODUCT_SIZES, {**product, "bm": 32, "bn": 64}, "float16") == (32, 64)
    assert _tile(ATTENTION, FLASH, FLASH_SIZES, {**flash, "rows": 16}, "float16") == (1, 16, 1, 32)


@pytest.mark.parametrize(
    ("body", "tile"),
    [
        ("for i, j in T.Parallel(16, 32):\n    B[bx * 16 + i, j] = A[bx * 16 + i, j]", (16, 32)),
        ("for i, j in T.Parallel(16, 8):\n    B[bx * 16 + i, j * 4] = A[bx * 16 + i, j]", (16, 29)),
        ("for k in T.serial(4):\n    for j in T.Parallel(32):\n        B[bx * 4 + k, j] = A[bx * 4 + k, j]", (1, 32)),
        ("for i in T.Parallel(16):\n    B[i, 0] = 0.0\nT.copy(A[0:8, :], B[0:8, :])", (8, 32)),
        ("for j in T.Parallel(32):\n    B[bx, j] = 0.0\nT.copy(A[0:8, 0:8], B[0:8, 0:8])", (8, 8)),
        ("T.fill(B, 1)", (64, 32)),
    ],
)
def test_the_largest_store_counts(body: str, tile: tuple[int, ...]) -> None:
    source = tile_kernel(dedent(body), launch="T.Kernel(4, threads=128) as bx")
    assert _tile(source, COPY, TILE_SIZES, {}) == tile


def test_a_store_whose_place_is_a_tensors_value_has_no_tile() -> None:
    body = "for i in T.Parallel(32):\n    B[T.cast(A[i, 0], 'int32'), 0] = A[i, 0]"
    assert _tile(tile_kernel(body), COPY, TILE_SIZES, {}) is None
