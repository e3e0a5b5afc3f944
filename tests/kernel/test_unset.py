"""The tile that a kernel reads before it sets it is named, with its line."""

from __future__ import annotations

import pytest

from tests.kernel.constructs import ROWS, tile_kernel
from tests.kernel.problems import kernel
from tlpuzzles.kernel.unset import read_before_set

X = "x = T.alloc_fragment((64, 32), 'float32')\n"
Y = "y = T.alloc_fragment((64,), 'float32')\n"
Z = "a = T.alloc_shared((64, 32), 'float32')\nz = T.alloc_fragment((64, 64), 'float32')\nT.copy(A, a)\n"


@pytest.mark.parametrize(
    ("body", "says", "line"),
    [
        (Z + "T.gemm(a, a, z, transpose_B=True)", "z is read before it is set (T.gemm adds to it in line 13)", 13),
        (
            X + Y + "T.copy(A, x)\nT.reduce_sum(x, y, dim=1, clear=False)\nT.copy(y, B)",
            "y is read before it is set (T.reduce_sum with clear=False starts from what it holds; the tile is made in",
            11,  # where it is made: the reduction is a macro
        ),
        (
            X + Y + "T.copy(A, x)\nT.reduce_max(x, y, dim=1, clear=False)\nT.copy(y, B)",
            "y is read before it is set (T.reduce_max with clear=False starts from what it holds; ",
            11,
        ),
        (Y + "for i in T.Parallel(64):\n    y[i] += A[i, 0]", "y is read before it is set (an expression reads it", 12),
        (Y + "T.copy(y, B)", "y is read, and nothing is ever copied into it (T.copy reads it in line 11)", 11),
        (Y + "T.copy(y, B)\nT.clear(y)", "y is read before it is set (T.copy reads it in line 11)", 11),
    ],
)
def test_a_tile_that_is_read_before_it_is_set(body: str, says: str, line: int) -> None:
    finding = read_before_set(kernel(tile_kernel(body, ROWS)))
    assert finding is not None
    assert finding.message.startswith(says)
    assert finding.line == line


@pytest.mark.parametrize(
    "body",
    [
        Z + "T.gemm(a, a, z, transpose_B=True, clear_accum=True)",
        Z + "T.clear(z)\nfor k in T.serial(3):\n    T.gemm(a, a, z, transpose_B=True)",
        X + Y + "T.copy(A, x)\nT.reduce_sum(x, y, dim=1)\nT.copy(y, B)",
        Y + "for i in T.Parallel(64):\n    y[i] = A[i, 0]\n    y[i] += A[i, 1]\nT.copy(y, B)",
    ],
)
def test_tiles_that_are_set_first(body: str) -> None:
    assert read_before_set(kernel(tile_kernel(body, ROWS))) is None
