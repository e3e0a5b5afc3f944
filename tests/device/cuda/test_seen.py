"""What is seen of a lowered kernel: layouts beside NVIDIA's documents, pipelines beside what was asked for."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from tilelang.env import CUTLASS_INCLUDE_DIR, TILELANG_TEMPLATE_PATH

from tests.device.cuda.kernels import ADD, ATTENTION, GEMM
from tests.tracing import document
from tlpuzzles.device.cuda import cubin, seen
from tlpuzzles.device.cuda.model import LowerOutcome
from tlpuzzles.device.limits import A100, ARCHITECTURES, H100, T4, Architecture
from tlpuzzles.seeing.model import Fragment, Pipeline, Seen, Shared, Tile, Way


@pytest.fixture(autouse=True)
def _no_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "compilers", lambda arch: ("there is no nvcc", None))


def see(source: str, gpu: Architecture, **arguments: object) -> Seen:
    lowered, found = seen.see(document(source, **arguments), {}, gpu)
    assert lowered.outcome is LowerOutcome.COMPILES, lowered.explanation
    assert found is not None
    return found


def tile(found: Seen, name: str) -> Tile:
    return next(tile for tile in found.tiles if tile.name == name)


def fragment(found: Seen, name: str) -> Fragment:
    held = tile(found, name).held
    assert isinstance(held, Fragment)
    return held


def shared(found: Seen, name: str) -> Shared:
    held = tile(found, name).held
    assert isinstance(held, Shared)
    return held


@pytest.mark.parametrize("gpu", ARCHITECTURES, ids=lambda gpu: gpu.name)
def test_sums_lie_as_the_ptx_manual_draws_them(gpu: Architecture) -> None:
    """PTX ISA, "Matrix Fragments for mma.m16n8k16" and "wgmma ... register fragment D": of each 16 x 8, thread
    4 * (row % 8) + column / 2 holds two neighbours, and the two 8 rows below."""
    sums = fragment(see(GEMM, gpu), "total")

    assert sums.copies == 1
    assert sums.registers == sums.places == 64 * 64 // 128
    for row in range(16):
        for column in range(8):
            thread, place = sums.thread_grid[row][column], sums.place_grid[row][column]
            assert thread % 32 == row % 8 * 4 + column // 2
            assert place % 2 == column % 2
    assert sums.first_thread == (128 if gpu is H100 else 0)  # there the first 128 only copy
    assert min(map(min, sums.thread_grid)) == sums.first_thread


def test_the_map_of_warps_covers_the_tile() -> None:
    warps = fragment(see(GEMM, A100, bm=128, bn=128), "total").warps

    assert warps is not None
    assert [(band.first, band.last) for band in warps.rows] == [(0, 63), (64, 127)]
    assert [(band.first, band.last) for band in warps.columns] == [(0, 63), (64, 127)]
    assert sorted(warp for row in warps.warps for warp in row) == [0, 1, 2, 3]


def test_a_swizzled_tile_has_no_conflicts_and_each_byte_once() -> None:
    left = shared(see(GEMM, A100), "left")

    assert left.swizzled
    assert left.chunk == 8  # 16 bytes of float16
    assert (left.conflict, left.plain_conflict) == (1, 4)
    offsets = [offset for row in left.offset_grid for offset in row]
    assert len(set(offsets)) == len(offsets)
    assert all(offset % 16 == 0 for offset in offsets)
    # Eight rows' 16 bytes below each other are in eight different groups of four banks.
    for column in range(len(left.offset_grid[0])):
        assert len({left.bank(row[column]) for row in left.offset_grid[:8]}) == 8


def test_row_statistics_are_held_by_several_threads() -> None:
    reduced = """top = T.alloc_fragment((64,), "float32")
            T.reduce_max(result, top, dim=1)
            for i, j in T.Parallel(64, D):
                result[i, j] -= top[i]
            T.copy(result, O"""
    source = ATTENTION.replace("T.copy(result, O", reduced)
    top = fragment(see(source, A100), "top")
    assert (top.copies, top.places) == (4, 2)


def pipeline(found: Seen) -> Pipeline:
    (only,) = found.pipelines
    return only


@pytest.mark.parametrize(
    ("gpu", "stages", "way", "ahead", "copies"),
    [
        (T4, 2, Way.THREADS, 1, 2),
        (A100, 2, Way.CP_ASYNC, 1, 2),
        (A100, 3, Way.CP_ASYNC, 2, 3),
        (H100, 3, Way.PRODUCERS, 0, 3),
    ],
)
def test_what_a_pipeline_became(gpu: Architecture, stages: int, way: Way, ahead: int, copies: int) -> None:
    found = see(GEMM, gpu, stages=stages)
    only = pipeline(found)

    assert (only.loop, only.stages, only.trips) == ("k", stages, 8)
    assert (only.way, only.ahead) == (way, ahead)
    assert only.copies == ({"left": copies, "right": copies} if copies > 1 else {})
    assert tile(found, "left").shape == (64, 32)  # whatever its copies
    if way is Way.CP_ASYNC:
        assert (only.copy_instructions, only.groups, only.groups_before) == (2, 1, ahead)
        assert only.waits == (ahead,)
    if way is Way.PRODUCERS:
        assert (only.producers, only.consumers, only.mbarriers) == (128, 128, 2 * stages)
        assert only.producer_registers == 24


def test_a_loop_without_stages_is_no_pipeline() -> None:
    assert see(GEMM, A100, stages=0).pipelines == ()


def test_a_kernel_without_a_pipeline_has_none() -> None:
    found = see(ADD, A100)
    assert found.pipelines == ()
    assert found.tiles == ()


def test_what_a_block_takes() -> None:
    (launch,) = see(GEMM, H100, bm=128, bn=128, stages=3).launches

    assert launch.threads == 256
    assert launch.dynamic_bytes == 3 * 2 * 128 * 32 * 2
    assert launch.static_bytes == 1024  # six mbarriers, and what is free up to the tiles, which begin at a multiple
    assert launch.compilation is None
    assert launch.occupancy is not None
    assert launch.occupancy.blocks == 4  # of 50 KiB, with 1 KiB each for the system


def test_what_does_not_fit_is_seen_all_the_same() -> None:
    lowered, found = seen.see(document(GEMM, bm=256, bn=128, bk=64, stages=4), {}, T4)

    assert lowered.outcome is LowerOutcome.TOO_BIG
    assert found is not None
    assert found.launches[0].shared_bytes > found.launches[0].most_shared_bytes
    assert found.launches[0].occupancy is None


def test_of_what_does_not_lower_nothing_is_seen() -> None:
    lowered, found = seen.see(document(ATTENTION, policy="Square"), {}, A100)
    assert lowered.outcome is LowerOutcome.REFUSED
    assert found is None


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_registers_and_stack_are_what_ptxas_says(tmp_path: object) -> None:
    source = see(ADD, A100).source
    where = f"{tmp_path}/kernel"
    with open(f"{where}.cu", "w", encoding="utf-8") as file:  # noqa: PTH123
        # An array with indices that are known only when it runs, which registers cannot be.
        file.write(
            source.replace("#include <tl_templates/cuda/debug.h>", "#include <tl_templates/cuda/debug.h>\n" + SPILLS)
        )
    command = ["nvcc", "--cubin", "-O3", "-arch=sm_80", "-std=c++20", f"-I{TILELANG_TEMPLATE_PATH}"]
    command += [f"-I{CUTLASS_INCLUDE_DIR}", "-Xptxas", "-v", "-o", f"{where}.cubin", f"{where}.cu"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr

    with open(f"{where}.cubin", "rb") as binary:  # noqa: PTH123
        found = cubin.usage(binary.read())
    assert set(found) == {"kernel_kernel", "spilling"}
    for usage in found.values():
        assert f"Used {usage.registers} registers" in said
        assert f"{usage.local_bytes} bytes stack frame" in said
    assert found["spilling"].local_bytes == 1024
    assert found["kernel_kernel"].local_bytes == 0


SPILLS = """
extern "C" __global__ void spilling(int* out, int n) {
  int own[256];
  for (int i = 0; i < 256; ++i) own[i] = out[i];
  for (int i = 0; i < n; ++i) own[(own[i & 255] + i) & 255] += i;
  out[threadIdx.x] = own[n & 255];
}
"""


@pytest.mark.parametrize("junk", [b"", b"\x7fELF", b"\x7fELF\x02" + bytes(100), b"no cubin"])
def test_junk_is_no_cubin(junk: bytes) -> None:
    with pytest.raises(ValueError, match=r"ELF|cubin"):
        cubin.usage(junk)


def test_tiles_are_seen_without_nvcc() -> None:
    _, found = seen.see(document(GEMM), {}, A100, nvcc=False)
    assert found is not None
    assert found.tiles
    assert found.nvcc == "it was not asked"
