"""What an exercise can ask of a kernel, and how it says what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.kernel.constructs import ATTENTION, CONSTRUCTS, GEMM, VECTOR_ADD
from tests.kernel.problems import ADD_SIZES, FLASH_SIZES, PRODUCT_SIZES
from tests.tracing import document
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.requirements import accumulates_in, no_global_intermediate, one_launch, uses_gemm

HALF = GEMM.replace('T.alloc_fragment((bm, bn), "float32")', "T.alloc_fragment((bm, bn), dtype)")


def _kernel(source: str, **arguments: object) -> Kernel:
    return Kernel(document(source, **arguments).func)


@pytest.mark.parametrize("requirement", [uses_gemm(2), accumulates_in(), one_launch(), no_global_intermediate()])
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
