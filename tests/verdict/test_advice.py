"""What is advised. Registers and spills of the starting points are those that nvcc gave; what is changed is made up."""

from __future__ import annotations

from typing import Any

import pytest

from tlpuzzles.verdict.advice import advise
from tlpuzzles.verdict.features import Feature
from tlpuzzles.verdict.measured import Compiled

SMS = {"sm_75": 40, "sm_80": 108, "sm_89": 58, "sm_90a": 132}

HOPPER = (Feature.WGMMA, Feature.TMA_LOADS, Feature.TMA_STORES, Feature.MBARRIERS, Feature.PRODUCERS, Feature.SWIZZLE)
AMPERE = (Feature.MMA, Feature.LDMATRIX, Feature.CP_ASYNC, Feature.VECTOR_STORES, Feature.SWIZZLE)
TURING = (Feature.MMA, Feature.LDMATRIX, Feature.VECTOR_LOADS, Feature.VECTOR_STORES, Feature.SWIZZLE)
STREAM = (Feature.VECTOR_LOADS, Feature.VECTOR_STORES)

GEMM: dict[str, Any] = {
    "registers": 168,
    "spill_bytes": 0,
    "shared_bytes": 196672,
    "threads": 384,
    "blocks_per_sm": 1,
    "instructions": HOPPER,
}
"""128 x 256 x 64, 4 stages, 256 threads, for an H200, with all that the lesson's last hint names."""
GEMM_A100: dict[str, Any] = {
    "registers": 210,
    "spill_bytes": 0,
    "shared_bytes": 65536,
    "threads": 128,
    "blocks_per_sm": 2,
    "instructions": AMPERE,
}
GEMM_T4: dict[str, Any] = {**GEMM_A100, "registers": 240, "shared_bytes": 32768, "instructions": TURING}
ADD: dict[str, Any] = {
    "registers": 22,
    "spill_bytes": 0,
    "shared_bytes": 0,
    "threads": 256,
    "blocks_per_sm": 8,
    "instructions": STREAM,
}
SOFTMAX: dict[str, Any] = {**ADD, "registers": 80, "shared_bytes": 512, "threads": 128, "blocks_per_sm": 6}


def arithmetic(
    base: dict[str, Any] = GEMM,
    arch: str = "sm_90a",
    fraction: float | None = 0.6,
    grid: tuple[int, ...] = (16, 32),
    **changed: Any,
) -> str | None:
    compiled = Compiled(**words({**base, **changed}))
    return advise(
        compiled,
        bound="arithmetic",
        limit_fraction=fraction,
        arch=arch,
        grid=grid,
        multiprocessors=SMS[arch],
    )


def memory(
    base: dict[str, Any] = ADD, fraction: float | None = 0.8, grid: tuple[int, ...] = (65536,), **changed: Any
) -> str | None:
    compiled = Compiled(**words({**base, **changed}))
    return advise(
        compiled, bound="memory", limit_fraction=fraction, arch="sm_90a", grid=grid, multiprocessors=SMS["sm_90a"]
    )


def words(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "instructions": tuple(feature.value for feature in fields["instructions"])}


def without(features: tuple[Feature, ...], *gone: Feature) -> tuple[Feature, ...]:
    assert set(gone) <= set(features)
    return tuple(feature for feature in features if feature not in gone)


@pytest.mark.parametrize(
    ("base", "arch", "grid"),
    [
        (GEMM, "sm_90a", (16, 32)),
        (GEMM_A100, "sm_80", (32, 32)),
        (GEMM_A100, "sm_89", (32, 32)),
        (GEMM_T4, "sm_75", (32, 32)),
    ],
)
def test_a_gemm_that_does_all_that_is_known_gets_no_advice(
    base: dict[str, Any], arch: str, grid: tuple[int, ...]
) -> None:
    assert arithmetic(base, arch, 0.8, grid) is None


def test_streams_that_do_all_that_is_known_get_no_advice() -> None:
    assert memory(ADD) is None
    assert memory(SOFTMAX, grid=(8192,)) is None


def test_near_the_limit_little_is_left() -> None:
    said = arithmetic(fraction=0.96, spill_bytes=16)
    assert said == "At 96 % of what this GPU can do there is little left to gain."
    assert memory(fraction=0.99) == "At 99 % of what this GPU can do there is little left to gain."
    for fraction in (1.0, 1.04):
        assert memory(fraction=fraction) == "This is what the GPU can do: nothing is left to gain."
    assert arithmetic(fraction=0.94) is None
    assert arithmetic(fraction=None) is None


def test_nothing_is_said_of_a_kernel_whose_source_was_not_found() -> None:
    for bound in ("arithmetic", "memory"):
        assert advise(Compiled(), bound=bound, limit_fraction=0.3, arch="sm_90a") is None  # type: ignore[arg-type]


SPILLS = {"registers": 240, "spill_bytes": 1024, "threads": 256, "instructions": without(HOPPER, Feature.TMA_STORES)}


def test_spills_come_before_all_else_that_is_wrong_with_a_kernel_on_tensor_cores() -> None:
    said = arithmetic(**SPILLS)
    assert said is not None
    assert "spills 1,024 bytes of registers a thread" in said
    assert "smaller tile, or more threads" in said
    assert "spills" in (memory(SOFTMAX, spill_bytes=64, instructions=()) or "")


def test_spills_that_are_unknown_are_not_spoken_of() -> None:
    assert arithmetic(spill_bytes=None) is None


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
def test_products_without_tensor_cores_come_first(arch: str) -> None:
    said = arithmetic(GEMM_A100, arch, 0.02, spill_bytes=64, instructions=(Feature.VECTOR_STORES,))
    assert "do not run on tensor cores" in (said or "")


def test_blocks_for_a_part_of_the_gpu() -> None:
    said = arithmetic(grid=(4, 8), instructions=without(HOPPER, Feature.SWIZZLE))
    assert "100 of the GPU's 132 multiprocessors have no block" in (said or "")
    assert "131 of the GPU's" in (memory(grid=(1,), instructions=()) or "")


def test_a_hopper_gemm_by_mma_sync() -> None:
    features = (Feature.MMA, Feature.LDMATRIX, Feature.TMA_LOADS, Feature.MBARRIERS, Feature.PRODUCERS)
    said = arithmetic(threads=256, instructions=features)
    assert "mma.sync and not as this GPU's own wgmma" in (said or "")
    assert "wgmma" not in (arithmetic(GEMM_A100, "sm_80", grid=(32, 32), instructions=AMPERE[:3]) or "")


@pytest.mark.parametrize(
    ("base", "arch", "features"),
    [
        (GEMM, "sm_90a", (Feature.WGMMA, Feature.VECTOR_LOADS)),
        (GEMM_A100, "sm_80", (Feature.MMA, Feature.LDMATRIX, Feature.VECTOR_LOADS)),
    ],
)
def test_a_loop_without_stages(base: dict[str, Any], arch: str, features: tuple[Feature, ...]) -> None:
    said = arithmetic(base, arch, threads=128, instructions=features)
    assert "No copy runs ahead" in (said or "")
    assert "num_stages" in (said or "")


def test_a_t4_is_not_asked_for_copies_that_it_does_not_have() -> None:
    assert arithmetic(GEMM_T4, "sm_75", 0.5, (32, 32)) is None


def test_hopper_without_tma_or_without_producers() -> None:
    by_cp_async = (Feature.WGMMA, Feature.CP_ASYNC, Feature.VECTOR_STORES)
    assert "cp.async and not by TMA" in (arithmetic(threads=256, instructions=by_cp_async) or "")
    alone = without(HOPPER, Feature.PRODUCERS)
    assert "warp specialisation" in (arithmetic(threads=256, instructions=alone) or "")


def test_one_warp_group_is_few() -> None:
    """The tutorial's tile: 128 x 128 x 32, 3 stages, 128 threads, the result not staged, no swizzle."""
    tutorial = without(HOPPER, Feature.TMA_STORES, Feature.SWIZZLE)
    said = arithmetic(fraction=0.5, grid=(32, 32), threads=256, blocks_per_sm=1, instructions=tutorial)
    assert "single warp group" in (said or "")
    assert "128 x 256" in (said or "")
    assert "single warp group" not in (arithmetic(grid=(32, 32), instructions=tutorial) or "")


def test_a_last_wave_that_is_nearly_empty() -> None:
    said = arithmetic(grid=(10, 14), instructions=without(HOPPER, Feature.TMA_STORES))
    assert said == (
        "140 blocks are 1.1 waves of 132, and in the last wave part of the GPU is idle: try a tile of another size."
    )
    assert arithmetic(grid=(11, 12)) is None
    assert arithmetic(grid=(11, 12), blocks_per_sm=None) is None


@pytest.mark.parametrize(("base", "arch"), [(GEMM, "sm_90a"), (GEMM_A100, "sm_80"), (GEMM_T4, "sm_75")])
def test_a_result_in_scraps(base: dict[str, Any], arch: str) -> None:
    kept = without(base["instructions"], Feature.TMA_STORES if arch == "sm_90a" else Feature.VECTOR_STORES)
    said = arithmetic(base, arch, 0.8, (32, 32), instructions=kept)
    assert "in scraps" in (said or "")
    assert "shared tile first" in (said or "")


def test_fast_math_for_an_epilogue_and_for_a_softmax() -> None:
    for said in (
        arithmetic(instructions=(*without(HOPPER, Feature.SWIZZLE), Feature.PRECISE)),
        memory(SOFTMAX, grid=(8192,), instructions=(*STREAM, Feature.PRECISE)),
    ):
        assert "TL_ENABLE_FAST_MATH" in (said or "")


def test_a_swizzle_is_for_the_grid_of_a_product() -> None:
    plain = without(HOPPER, Feature.SWIZZLE)
    assert "T.use_swizzle" in (arithmetic(instructions=plain) or "")
    for grid in ((32, 16, 2), (1024,), (512, 1), ()):
        assert arithmetic(grid=grid, instructions=plain) is None


def test_a_block_alone_on_its_multiprocessor_because_of_shared_memory() -> None:
    """128 x 128 x 64 with 3 stages."""
    alone = {"shared_bytes": 98304, "blocks_per_sm": 1}
    assert "96 KiB of shared memory leave no room" in (arithmetic(GEMM_A100, "sm_89", 0.5, (32, 32), **alone) or "")
    on_a_t4 = arithmetic(GEMM_T4, "sm_75", 0.5, (32, 32), shared_bytes=49152, blocks_per_sm=1)
    assert "a T4 gains nothing by stages" in (on_a_t4 or "")
    for not_by_shared in ({"registers": 255, "threads": 256}, {"threads": 768, "registers": 40}):
        said = arithmetic(GEMM_A100, "sm_89", 0.8, (32, 32), **{**alone, **not_by_shared})
        assert said is None, not_by_shared


def test_a_small_tile_of_few_registers() -> None:
    small = {"registers": 64, "shared_bytes": 16384, "blocks_per_sm": 8}
    assert "64 of its 255 registers" in (arithmetic(GEMM_A100, "sm_80", 0.4, (64, 64), **small) or "")
    assert arithmetic(GEMM_A100, "sm_80", 0.8, (64, 64), **small) is None


def test_one_element_a_thread() -> None:
    """A vector add with 256 elements for 256 threads, or with a bounds check."""
    said = memory(registers=12, grid=(262144,), instructions=())
    assert "no vector loads" in (said or "")
    assert "16 bytes of neighbours" in (said or "")
    assert memory(instructions=(Feature.TMA_LOADS, Feature.TMA_STORES)) is None


def test_a_softmax_through_shared_memory() -> None:
    said = memory(SOFTMAX, 0.44, (4096,), shared_bytes=33280, instructions=(*STREAM, Feature.PRECISE))
    assert "detour through 32 KiB of shared memory" in (said or "")


def test_too_few_warps_to_keep_the_memory_busy() -> None:
    """Rows so long that a thread has most of its registers full."""
    said = memory(SOFTMAX, 0.6, (8192,), registers=240, blocks_per_sm=2, instructions=(*STREAM, Feature.PRECISE))
    assert "Only 8 warps" in (said or "")
    assert memory(SOFTMAX, 0.6, (8192,), registers=240, blocks_per_sm=None) is None


def test_a_hopper_gemm_is_led_to_its_end_step_by_step() -> None:
    """All is wrong with it at first, and each piece of advice is followed."""
    precise = (Feature.PRECISE,)
    by_mma, by_wgmma = (Feature.MMA, *precise), (Feature.WGMMA, *precise)
    tma = (*by_wgmma, Feature.TMA_LOADS, Feature.MBARRIERS)
    specialised = (*tma, Feature.PRODUCERS)
    staged = (*specialised, Feature.TMA_STORES)
    few, odd, many = (4, 8), (10, 14), (16, 32)
    for expected, grid, spilled, threads, instructions in (
        ("tensor cores", few, 64, 128, precise),
        ("spills", few, 64, 128, by_mma),
        ("no block", few, 0, 128, by_mma),
        ("wgmma", odd, 0, 128, by_mma),
        ("num_stages", odd, 0, 128, by_wgmma),
        ("TMA", odd, 0, 128, (*by_wgmma, Feature.CP_ASYNC)),
        ("warp specialisation", odd, 0, 128, tma),
        ("single warp group", odd, 0, 256, specialised),
        ("waves", odd, 0, 384, specialised),
        ("scraps", many, 0, 384, specialised),
        ("FAST_MATH", many, 0, 384, staged),
        ("use_swizzle", many, 0, 384, without(staged, *precise)),
    ):
        said = arithmetic(grid=grid, spill_bytes=spilled, threads=threads, instructions=instructions)
        assert expected in (said or ""), expected
    assert arithmetic(grid=many, instructions=HOPPER) is None


def test_an_older_gemm_is_led_to_its_end_step_by_step() -> None:
    kernel = {**GEMM_A100, "instructions": AMPERE[:-1], "registers": 64, "shared_bytes": 98304, "blocks_per_sm": 1}
    for expected, changed in (
        ("use_swizzle", {"instructions": AMPERE}),
        ("no room for a second one", {"shared_bytes": 49152, "blocks_per_sm": 2}),
        ("64 of its 255 registers", {"registers": 130}),
    ):
        assert expected in (arithmetic(kernel, "sm_89", 0.3, (32, 32)) or "")
        kernel |= changed
    assert arithmetic(kernel, "sm_89", 0.3, (32, 32)) is None


def test_a_softmax_is_led_to_its_end_step_by_step() -> None:
    kernel = {
        **SOFTMAX,
        "instructions": (Feature.PRECISE,),
        "spill_bytes": 64,
        "shared_bytes": 33280,
        "blocks_per_sm": 2,
    }
    grid = (100,)
    for expected, changed in (
        ("spills", {"spill_bytes": 0}),
        ("no block", {}),
        ("no vector loads", {"instructions": (*STREAM, Feature.PRECISE)}),
        ("detour", {"shared_bytes": 512}),
        ("Only 8 warps", {"blocks_per_sm": 6}),
        ("FAST_MATH", {"instructions": STREAM}),
    ):
        assert expected in (memory(kernel, 0.3, grid) or ""), expected
        kernel |= changed
        grid = (8192,) if expected == "no block" else grid
    assert memory(kernel, 0.3, grid) is None
