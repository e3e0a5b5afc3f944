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
    constants,
    many_blocks,
    no_global_intermediate,
    no_needless_trips,
    one_launch,
    rounds_once,
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
    "requirement",
    [uses_gemm(2), accumulates_in(), sums_in(), one_launch(), no_needless_trips(), no_global_intermediate()],
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


ROUNDED = """
@tilelang.jit(out_idx=[-1])
def kernel():
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), V: T.Tensor((64,), "float16"), C: T.Tensor((64, 64), "float16")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            total = T.alloc_fragment((64, 64), "float32")
            half = T.alloc_fragment((64, 64), "float16")
            T.copy(A, a)
            T.gemm(a, a, total, clear_accum=True)
            {body}
    return main
"""
EACH = "for i, j in T.Parallel(64, 64):\n                "


def _rounded(*lines: str, source: str = "T.gemm") -> str | None:
    return rounds_once(source).check(_kernel(ROUNDED.format(body="\n            ".join(lines))))


@pytest.mark.parametrize(
    "lines",
    [
        ("T.copy(total, half)", "T.copy(half, total)", "T.copy(total, C)"),
        ("T.copy(total, half)", f"{EACH}half[i, j] += V[j]", "T.copy(half, C)"),
        ("T.copy(total, half)", f"{EACH}x = half[i, j]\n                C[i, j] = T.tanh(x)"),
        (f"{EACH}half[i, j] = total[i, j]", f"{EACH}C[i, j] = T.cast(half[i, j], 'float32') + V[j]"),
        ("T.copy(total, a)", f"{EACH}total[i, j] = T.tanh(a[i, j])", "T.copy(total, C)"),
        ("T.copy(total, C)", f"{EACH}C[i, j] = C[i, j] * 2"),
    ],
)
def test_sums_that_are_rounded_and_computed_with_are_named_with_both_lines(lines: tuple[str, ...]) -> None:
    message = _rounded(*lines)
    assert message is not None
    assert message.startswith(f"The sums of T.gemm are rounded to float16 in line {16 + lines[0].count(chr(10))}, into")
    assert "and then computed with in line 1" in message


@pytest.mark.parametrize(
    "lines",
    [
        ("T.copy(total, C)",),
        ("T.copy(total, half)", "T.copy(half, a)", "T.copy(a, C)"),
        (f"{EACH}half[i, j] = T.cast(total[i, j] + V[j], 'float16')", "T.copy(half, C)"),
        (f"{EACH}total[i, j] += V[j]", f"{EACH}C[i, j] = T.if_then_else(total[i, j] > 0, total[i, j], 0.0)"),
        # One tile for what comes in and what goes out.
        ("T.copy(A, half)", f"{EACH}total[i, j] += half[i, j]", "T.copy(total, half)", "T.copy(half, C)"),
        # Bias in float16, and what is made of it, are no sums.
        (f"{EACH}half[i, j] = V[j] + V[i]", f"{EACH}total[i, j] += half[i, j]", "T.copy(total, C)"),
    ],
)
def test_sums_may_be_rounded_when_all_is_computed(lines: tuple[str, ...]) -> None:
    assert _rounded(*lines) is None


def test_exponentials_in_float16_are_named() -> None:
    message = _rounded(f"{EACH}C[i, j] = T.exp(half[i, j])", source="T.exp")
    assert message is not None
    assert message.startswith("The exponentials are rounded to float16 and computed with in line 17:")
    message = _rounded(f"{EACH}half[i, j] = T.exp2(total[i, j])", "T.copy(half, total)", source="T.exp")
    assert message is not None
    assert message.startswith("The exponentials are rounded to float16 in line 17, into half, and then computed with")


NUMBERS = """
@tilelang.jit(out_idx=[-1])
def kernel():
    @T.prim_func
    def main(X: T.Tensor((64,), "float32"), Y: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                x = X[i]
                Y[i] = {formula}
    return main
"""
LIKE = constants("Likeness", {"one": 0.7978846, "two * one": 1.5957691}, {"0.044715": 0.044715})


@pytest.mark.parametrize(
    ("formula", "named"),
    [
        (
            "T.tanh(0.8 * (x + 0.044715 * x))",
            "0.8 in line 13 stands where Likeness has one = 0.7978846: it is 0.3 % off.",
        ),
        ("T.exp(-1.6 * (x + 0.0447 * x))", "1.6 in line 13 stands where Likeness has two * one = 1.595769: it is 0.3"),
        ("T.tanh(0.798 * (x + 0.045 * x))", "0.045 in line 13 stands where Likeness has 0.044715: it is 0.6 % off."),
    ],
)
def test_a_constant_that_is_a_little_off_is_named_with_its_line(formula: str, named: str) -> None:
    message = LIKE.check(_kernel(NUMBERS.format(formula=formula)))
    assert message is not None
    assert message.startswith(named)


@pytest.mark.parametrize(
    "formula",
    [
        "T.tanh(0.79788 * (x + 0.0447 * x))",
        "T.exp(-1.596 * (x + 0.044715 * x)) + 0.8",  # whatever 0.8 is for, the constant is there
        "x / (1 + T.exp(-1.6 * x))",  # another function
        "T.tanh(T.sqrt(0.63662) * (x + 0.044715 * x))",
    ],
)
def test_constants_in_other_forms_are_left_alone(formula: str) -> None:
    assert LIKE.check(_kernel(NUMBERS.format(formula=formula))) is None


TRIPS = """
def kernel(N, step, trips, first=0):
    @T.prim_func
    def main(A: T.Tensor((64, N), "float16"), C: T.Tensor((64, step), "float16")):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((64, step), "float16")
            for k in T.Pipelined(trips, num_stages=2):
                T.copy(A[0, first + k * step], tile)
                T.copy(tile, C)
    return main
"""


@pytest.mark.parametrize(
    ("N", "step", "trips", "meets"),
    [(4096, 32, 128, True), (4096, 32, 129, True), (4096, 32, 4096, False), (100, 32, 100, False),
     (100, 32, 4, True), (1, 32, 1, True), (20, 32, 20, True), (100, 1, 100, True)],
)  # fmt: skip
def test_trips_past_the_end_of_a_tensor_are_counted(N: int, step: int, trips: int, meets: bool) -> None:
    message = no_needless_trips().check(_kernel(TRIPS, N=N, step=step, trips=trips))
    assert (message is None) is meets
    if message is not None:
        assert f"{trips:,} trips" in message
        assert f"{-(-N // step):,} reach the end" in message
        assert "along an axis of A" in message


def test_a_loop_over_many_tiles_of_work_may_go_along_a_tensor_again_and_again() -> None:
    """As in a block that stays and takes one tile of C after the other."""
    again = TRIPS.replace("first + k * step", "(k % 4) * step")
    assert no_needless_trips().check(_kernel(again, N=128, step=32, trips=400)) is None
    assert no_needless_trips().check(_kernel(TRIPS, N=128, step=32, trips=400)) is not None
