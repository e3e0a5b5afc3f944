"""Blocks of a multiprocessor, beside what NVIDIA's own calculator (the driver's) answered and what its tables say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tlpuzzles.device.limits import A100, H100, L4, T4, Architecture
from tlpuzzles.seeing.model import Bound
from tlpuzzles.seeing.occupancy import occupancy

MEASURED = Path(__file__).parents[2] / "tools" / "recorded_speed.json"


def test_it_is_what_the_driver_of_an_h200_said() -> None:
    timed = [speed["compiled"] for speed in json.loads(MEASURED.read_text())["speed"]]

    assert timed
    for compiled in timed:
        found = occupancy(H100, compiled["threads"], compiled["shared_bytes"], compiled["registers"])
        assert found is not None
        assert found.blocks == compiled["blocks_per_sm"]


@pytest.mark.parametrize(
    ("gpu", "threads", "shared", "registers", "blocks", "bounds"),
    [
        (A100, 128, 65_536, 210, 2, (Bound.SHARED, Bound.REGISTERS)),
        (A100, 128, 0, 32, 16, (Bound.REGISTERS, Bound.THREADS)),
        (A100, 32, 0, 16, 32, (Bound.BLOCKS,)),
        (L4, 256, 0, 40, 6, (Bound.REGISTERS, Bound.THREADS)),
        (T4, 128, 32_768, 40, 2, (Bound.SHARED,)),
        (H100, 384, 197_632, 168, 1, (Bound.SHARED, Bound.REGISTERS)),
        # A quarter of the registers has room for three such warps, and what is left of each helps no other.
        (A100, 32, 0, 136, 12, (Bound.REGISTERS,)),
        # 113 KiB twice with 1 KiB each for the system are the 228 KiB of an H100; a byte more is not.
        (H100, 128, 113 << 10, 32, 2, (Bound.SHARED,)),
        (H100, 128, (113 << 10) + 1, 32, 1, (Bound.SHARED,)),
        # Without registers it is the most that is possible.
        (A100, 128, 65_536, None, 2, (Bound.SHARED,)),
    ],
)
def test_blocks_and_what_bounds_them(
    gpu: Architecture, threads: int, shared: int, registers: int | None, blocks: int, bounds: tuple[Bound, ...]
) -> None:
    found = occupancy(gpu, threads, shared, registers)

    assert found is not None
    assert (found.blocks, found.bounds) == (blocks, bounds)
    assert found.warps == blocks * threads // 32
    assert found.most_warps == gpu.sm_threads // 32


@pytest.mark.parametrize(
    ("threads", "shared", "registers"), [(1152, 0, 32), (128, 164 << 10, 32), (1024, 0, 128), (0, 0, 32)]
)
def test_what_does_not_fit_has_none(threads: int, shared: int, registers: int) -> None:
    assert occupancy(A100, threads, shared, registers) is None
