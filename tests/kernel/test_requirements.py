"""What an exercise can ask of a kernel, and how it says what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.kernel.constructs import ATTENTION, CONSTRUCTS, GEMM, VECTOR_ADD
from tests.kernel.problems import ADD_SIZES, FLASH_SIZES, PRODUCT_SIZES
from tests.tracing import document
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.requirements import (
    accumulates_in,
    many_blocks,
    no_global_intermediate,
    one_launch,
    sums_in,
    uses_gemm,
)

HALF = GEMM.replace('T.alloc_fragment((bm, bn), "float32")', "T.alloc_fragment((bm, bn), dtype)")

ROWS = """
@tilelang.jit(out_idx=[-1])
def kernel(dtype, largest=False):
    @T.prim_func
    def main(X: T.Tensor((4, 64), "float16"), Y: T.Tensor((4,), "float16")):
        with T.Kernel(1, threads=64):
            x = T.alloc_fragment((4, 64), dtype)
            y = T.alloc_fragment((4,), dtype)
            T.copy(X, x)
            if largest:
                T.reduce_max(x, y, dim=1)
            else:
                T.reduce_sum(x, y, dim=1)
            T.copy(y, Y)
    return main
"""


def _kernel(source: str, **arguments: object) -> Kernel:
    return Kernel(document(source, **arguments).func)


@pytest.mark.parametrize(
    "requirement", [uses_gemm(2), accumulates_in(), sums_in(), one_launch(), no_global_intermediate()]
)
def test_attention_meets_them_all(requirement: object) -> None:
    assert requirement.check(_kernel(ATTENTION, **FLASH_SIZES)) is None  # type: ignore[attr-defined]


def test_a_missing_product_is_named() -> None:
    message = uses_gemm().check(_kernel(VECTOR_ADD, **ADD_SIZES))
    assert message is not None
    assert "never calls T.gemm" in message


def test_too_few_products_are_counted_with_their_line() -> None:
    message = uses_gemm(2).check(_kernel(GEMM, **PRODUCT_SIZES))
    assert message is not None
    assert "calls T.gemm once in line 19; this exercise needs it 2 times" in message


def test_a_short_accumulator_is_named_with_its_line() -> None:
    message = accumulates_in().check(_kernel(HALF, **PRODUCT_SIZES))
    assert message is not None
    assert "T.gemm in line 19 adds up in total (allocated in line 13), which is float16" in message


def test_an_accumulator_needs_a_product() -> None:
    assert accumulates_in().check(_kernel(VECTOR_ADD, **ADD_SIZES)) is not None


def test_a_short_sum_is_named_with_the_line_of_its_tile() -> None:
    message = sums_in().check(_kernel(ROWS, dtype="float16"))
    assert message is not None
    assert "T.reduce_sum sums up x in line 11, which is float16" in message
    assert sums_in().check(_kernel(ROWS, dtype="float32")) is None


def test_a_maximum_may_be_of_any_dtype() -> None:
    assert sums_in().check(_kernel(ROWS, dtype="float16", largest=True)) is None


MANY = """
@tilelang.jit(out_idx=[-1])
def kernel(size, blocks):
    @T.prim_func
    def main(X: T.Tensor((size,), "float32"), Y: T.Tensor((size,), "float32")):
        with T.Kernel(blocks, threads=128) as block:
            for trip in T.serial(T.ceildiv(size, 128 * blocks)):
                for i in T.Parallel(128):
                    Y[(trip * blocks + block) * 128 + i] = X[(trip * blocks + block) * 128 + i]
    return main
"""


def test_a_few_blocks_must_not_do_it_all() -> None:
    requirement = many_blocks(elements=100_000, blocks=40)
    message = requirement.check(_kernel(MANY, size=100_000, blocks=1))
    assert message is not None
    assert message.startswith("For 100,000 elements, one block does all the work (T.Kernel in line 10), while")
    message = requirement.check(_kernel(MANY, size=100_000, blocks=39))
    assert message is not None
    assert "39 blocks do all the work" in message


def test_a_fixed_number_of_blocks_is_enough_if_it_is_not_small() -> None:
    requirement = many_blocks(elements=100_000, blocks=40)
    assert requirement.check(_kernel(MANY, size=100_000, blocks=40)) is None
    assert requirement.check(_kernel(MANY, size=99_999, blocks=1)) is None
    assert requirement.check(_kernel(MANY.replace("size,)", "T.dynamic('n'),)"), size=100_000, blocks=1)) is None


def test_two_launches_are_named_with_their_lines() -> None:
    message = one_launch().check(_kernel(CONSTRUCTS["two launches"]))
    assert message is not None
    assert "2 launches (`with T.Kernel(...)`) in lines 10 and 13" in message


def test_a_detour_through_global_memory_is_named() -> None:
    message = no_global_intermediate().check(_kernel(CONSTRUCTS["T.alloc_global"]))
    assert message is not None
    assert message.startswith("w is kept in global memory (T.alloc_global in line 10)")


def test_naming_requirements_loads_no_ir() -> None:
    """Exercises are listed by commands that must answer at once."""
    program = "import sys; from tlpuzzles.kernel.requirements import *; uses_gemm(); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "tlpuzzles.kernel.requirements" in found.stdout
    assert "tlpuzzles.kernel.tile_ir" not in found.stdout
