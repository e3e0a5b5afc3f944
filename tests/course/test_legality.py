"""Which schedules TileLang compiles and a GPU launches: the rules agree with TileLang's own, and say what is wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import pytest

import tlpuzzles_solutions
from tests import tracing
from tlpuzzles.course.legality import DEFAULTS, does_not_compile, malformed, smem_bytes, why_refused
from tlpuzzles.course.schedules import Schedule
from tlpuzzles.device.limits import A100, ARCHITECTURES, H100, L4, T4, Architecture

SIZES = {"M": 2048, "N": 2048, "K": 2048}

SIDES = (16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256)
DEPTHS = (8, 16, 32, 48, 64, 128)
THREADS = (32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 896, 1024)


def schedule(block_M: int, block_N: int, block_K: int, num_stages: int, threads: int) -> Schedule:
    values = (block_M, block_N, block_K, num_stages, threads, False)
    return dict(zip(DEFAULTS, values, strict=True))


@pytest.mark.parametrize(
    ("values", "refused_by"),
    [
        ((128, 128, 32, 3, 128), ()),
        ((64, 64, 8, 2, 128), ()),
        ((128, 128, 32, 2, 512), ()),
        ((16, 64, 32, 2, 128), ()),
        ((64, 16, 32, 2, 128), ()),
        ((16, 16, 32, 2, 128), ARCHITECTURES),
        ((64, 64, 32, 2, 96), ARCHITECTURES),
        ((80, 80, 32, 2, 128), ARCHITECTURES),
        ((100, 100, 32, 2, 128), ARCHITECTURES),
        ((64, 20, 32, 2, 128), ARCHITECTURES),
        ((64, 64, 12, 2, 128), ARCHITECTURES),
        ((64, 64, 32, 2, 100), ARCHITECTURES),
        ((256, 256, 32, 1, 2048), ARCHITECTURES),
        ((96, 96, 32, 2, 128), (H100,)),
        ((64, 24, 32, 2, 128), (H100,)),
        ((128, 96, 32, 2, 512), (H100,)),
        ((128, 128, 32, 2, 1024), (H100,)),
        ((128, 128, 32, 0, 1024), ()),
        ((64, 64, 24, 2, 128), (A100, L4, H100)),
        ((128, 256, 64, 1, 256), ()),
        ((128, 128, 64, 2, 256), ()),
        ((128, 256, 64, 2, 256), (T4,)),
        ((128, 256, 64, 3, 256), (T4, L4)),
        ((128, 256, 64, 4, 256), (T4, A100, L4)),
        ((256, 256, 64, 4, 512), ARCHITECTURES),
    ],
)
def test_schedules_are_refused_where_a_gpu_cannot_run_them(
    values: tuple[int, ...], refused_by: tuple[Architecture, ...]
) -> None:
    assert [gpu for gpu in ARCHITECTURES if why_refused(schedule(*values), gpu)] == list(refused_by)


def test_what_is_left_out_has_its_default() -> None:
    assert why_refused({}, T4) is None
    assert why_refused({"threads": 96}, T4) == why_refused({**DEFAULTS, "threads": 96}, T4)


def test_a_reason_says_what_and_how_much() -> None:
    said = why_refused(schedule(128, 256, 64, 4, 256), L4)

    assert said is not None
    assert "196608 bytes" in said
    assert "192 KiB" in said
    assert "99 KiB" in said


@pytest.mark.parametrize(
    ("values", "gpu", "says"),
    [
        # One rule for an H100, in whatever way a tile breaks it: 64 rows and 16 columns for each warp group.
        ((96, 64, 32, 2, 128), H100, "each warp group of four needs a multiple of 64 rows and of 16 columns"),
        (
            (64, 24, 32, 2, 128),
            H100,
            "a warp group gets 24 of the 24 columns: on H100 and H200 that must be a multiple of 16",
        ),
        ((16, 16, 32, 2, 128), H100, "each warp needs a multiple of 16 rows and of 8 columns"),
        ((16, 16, 32, 2, 128), A100, "each warp needs a multiple of 16 rows and of 8 columns"),
        ((128, 128, 32, 2, 1024), H100, "only copy; a block can have 1024 at most"),
        ((256, 256, 32, 0, 2048), T4, "2048 threads: a block can have 1024 at most"),
    ],
)
def test_a_reason_gives_the_rule_of_that_gpu(values: tuple[int, ...], gpu: Architecture, says: str) -> None:
    said = why_refused(schedule(*values), gpu)

    assert said is not None
    assert says in said


def test_bytes_are_those_of_both_tiles_in_every_stage() -> None:
    assert smem_bytes(128, 128, 32, 3) == 3 * (128 * 32 + 32 * 128) * 2
    assert smem_bytes(128, 256, 64, 4) == 192 << 10
    assert smem_bytes(64, 16, 8, 0, itemsize=4) == smem_bytes(64, 16, 8, 1, itemsize=4) == (64 * 8 + 8 * 16) * 4


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ([128, 128], "no dict"),
        ({"block_X": 3}, "block_X"),
        ({"block_M": 64.0}, "block_M"),
        ({"threads": True}, "threads"),
        ({"use_swizzle": 1}, "use_swizzle"),
        ({"num_stages": -1}, "num_stages"),
        ({"block_K": 0}, "block_K"),
    ],
)
def test_what_is_no_schedule_is_named(value: object, named: str) -> None:
    said = malformed(value)

    assert said is not None
    assert named in said


def test_a_schedule_is_well_formed() -> None:
    assert malformed(dict(DEFAULTS)) is None
    assert malformed({"num_stages": 0}) is None


@pytest.mark.parametrize("gpu", [T4, A100, H100], ids=lambda gpu: gpu.name)
def test_tiles_are_dealt_out_to_warps_as_tilelang_does_it(gpu: Architecture) -> None:
    """Its own function decides which ways there are and takes one; on Hopper that one's columns matter, too."""
    for block_M, block_N, threads in product(SIDES, SIDES, THREADS[:-1]):
        expected = _dealt_out_by_tilelang(gpu, block_M, block_N, threads)
        said = does_not_compile(schedule(block_M, block_N, 32, 1, threads), gpu)
        assert (said is None) == expected, (block_M, block_N, threads, said)


def _dealt_out_by_tilelang(gpu: Architecture, block_M: int, block_N: int, threads: int) -> bool:
    from tilelang.ir import GemmWarpPolicy
    from tvm.target import Target

    grouped = gpu is H100 and block_M >= 64 and threads % 128 == 0
    instruction = "cuda.wgmma" if grouped else "cuda.mma"
    policy = GemmWarpPolicy(policy_type=0, m_warp=0, n_warp=0)
    try:
        _, across = policy.compute_warp_partition(
            block_M, block_N, threads, Target({"kind": "cuda", "arch": gpu.name}), instruction
        )
    except Exception:  # noqa: BLE001 - TVM's own error class, which is not always the same
        return False
    return not grouped or block_N // across % 16 == 0


@pytest.mark.slow
@pytest.mark.parametrize("gpu", [T4, A100, H100], ids=lambda gpu: gpu.name)
def test_tilelang_compiles_what_is_not_refused_and_nothing_else(gpu: Architecture) -> None:
    """L4 is left out: TileLang makes the same of a kernel for it as for the A100 (tests/device/cuda, twins)."""
    from tlpuzzles.device.cuda.lower import lower
    from tlpuzzles.device.cuda.model import LowerOutcome

    source = tlpuzzles_solutions.path("schedule_sweep").read_text("utf-8")
    for proposed in _sample(60):
        lowered = lower(tracing.document(source, "make_matmul", **SIZES, **proposed), {}, gpu.name)
        said = why_refused(proposed, gpu)
        assert (lowered.outcome is LowerOutcome.COMPILES) == (said is None), (proposed, said, lowered.explanation)
        if lowered.launches:
            (launch,) = lowered.launches
            asked = [proposed[name] for name in ("block_M", "block_N", "block_K", "num_stages")]
            assert launch.dynamic_shared == smem_bytes(*asked)


def _sample(count: int) -> Iterator[Schedule]:
    rng = random.Random(3)
    for _ in range(count):
        yield schedule(rng.choice(SIDES), rng.choice(SIDES), rng.choice(DEPTHS), rng.randint(0, 4), rng.choice(THREADS))
