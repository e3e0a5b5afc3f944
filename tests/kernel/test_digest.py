"""The hash of a kernel: what it does, not how it is written down."""

from __future__ import annotations

from functools import cache

import pytest

from tests.kernel.constructs import ATTENTION, CONSTRUCTS, GEMM, tile_kernel
from tests.kernel.problems import FLASH_SIZES, PRODUCT_SIZES
from tests.tracing import document
from tlpuzzles.kernel.capsule import digest


@cache
def _digest(source: str, **arguments: object) -> str:
    return digest(document(source, **arguments))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    @T.prim_func", "    # a comment\n\n    @T.prim_func"),
        ("total", "renamed"),
        ("main", "other"),
        (" as (bx, by)", " as (column, row)"),
        ("bm * bk", "bm * bk"),
    ],
)
def test_comments_and_names_do_not_change_it(old: str, new: str) -> None:
    source = GEMM.replace("by *", "row *").replace("bx *", "column *") if "column" in new else GEMM
    assert _digest(source.replace(old, new), **PRODUCT_SIZES) == _digest(GEMM, **PRODUCT_SIZES)


def test_moving_the_file_does_not_change_it() -> None:
    # Each source is traced from a file of its own.
    assert _digest(GEMM + "\n", **PRODUCT_SIZES) == _digest(GEMM + "\n\n", **PRODUCT_SIZES)


def test_the_place_in_a_device_assertion_does_not_change_it() -> None:
    source = CONSTRUCTS["T.device_assert"]
    assert _digest("# moved down\n" + source) == _digest(source)
    assert _digest(source.replace("no block", "another")) != _digest(source)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-1e30", "-2e30"),
        ("num_stages=1", "num_stages=2"),
        ("T.fill(o, 0)", "T.fill(o, 1)"),
        ("last[i] - top[i]", "top[i] - last[i]"),
        ("threads=128", "threads=256"),
        ("rows=64", "rows=32"),
        ("T.reduce_max", "T.reduce_min"),
        ("GemmWarpPolicy.FullRow", "GemmWarpPolicy.Square"),
        ('o = T.alloc_fragment((rows, dim), "float32")', 'o = T.alloc_fragment((rows, dim), "float16")'),
        ("T.copy(top, last)", "T.copy(last, top)"),
    ],
)
def test_what_the_kernel_does_changes_it(old: str, new: str) -> None:
    assert old in ATTENTION
    assert _digest(ATTENTION.replace(old, new), **FLASH_SIZES) != _digest(ATTENTION, **FLASH_SIZES)


def test_which_of_two_like_tiles_is_meant_changes_it() -> None:
    body = """
    x = T.alloc_shared((64, 32), "float32")
    y = T.alloc_shared((64, 32), "float32")
    T.copy(A, x)
    T.copy(A, y)
    T.copy({}, B)
    """
    assert _digest(tile_kernel(body.format("x"))) != _digest(tile_kernel(body.format("y")))
