"""Landmarks of generated sources, beside what was counted in the recordings by the tokens of the source."""

from __future__ import annotations

import pytest

from tlpuzzles.course.recorded import Recording, recordings
from tlpuzzles.seeing.landmarks import landmarks
from tlpuzzles.seeing.loops import loops
from tlpuzzles.seeing.model import Sight

COUNTED = {
    "mma": lambda sight: sight.kind == "mma",
    "wgmma": lambda sight: sight.kind == "wgmma" and "multiplies" in sight.says,
    "ldmatrix": lambda sight: sight.kind == "ldmatrix",
    "cp.async": lambda sight: "starts a copy of" in sight.says,
    "tma": lambda sight: "has the copy engine" in sight.says,
    "barriers": lambda sight: sight.kind == "barrier" or "waits until an mbarrier" in sight.says,
}


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.id)
def test_as_many_as_the_source_has(recording: Recording) -> None:
    seen = landmarks(recording.device_source)

    for name, is_one in COUNTED.items():
        assert sum(len(sight.lines) for sight in seen if is_one(sight)) == recording.landmarks[name], name
    (begin,) = (sight for sight in seen if sight.kind == "launch bounds")
    assert f"{recording.landmarks['launch_bounds']} threads" in begin.says


@pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.id)
def test_every_place_is_a_line_and_they_are_in_order(recording: Recording) -> None:
    seen = landmarks(recording.device_source)
    count = len(recording.device_source.splitlines())

    assert [sight.lines[0] for sight in seen] == sorted(sight.lines[0] for sight in seen)
    assert all(1 <= line <= count for sight in seen for line in sight.lines)


@pytest.mark.parametrize(
    ("line", "kind", "says"),
    [
        ("tl::cp_async_gs<16>((&(", "cp.async", "each thread starts a copy of 16 bytes to shared memory"),
        ("tl::cp_async_gs_conditional<4>(", "cp.async", "zeros where it is out of bounds"),
        ("tl::cp_async_wait<1>();", "cp.async", "waits until at most 1 group of copies is under way"),
        ("tl::cp_async_wait<0>();", "cp.async", "waits until no group of copies is under way"),
        ("tl::__sync_thread_partial(3, 256);", "barrier", "256 threads wait for each other"),
        ("tl::__sync_thread_partial<3, 128>();", "barrier", "128 threads wait for each other"),
        ("mbarrier[4].init(256);", "mbarrier", "256 threads open"),
        ("const dim3 blockIdx = tl::rasterization2DRow<10>();", "swizzle", "panels of 10 rows"),
        ("tl::ptx_ldmatrix_x2_trans((&(", "ldmatrix", "two 8 x 8 matrices from shared memory, transposed"),
        ("tl::AllReduce<tl::MaxOp, 4, 1, 0>::run(x);", "reduction", "4 threads exchange values until all"),
        (
            "tl::wgmma_rs<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 64, 128, 16, false>(",
            "wgmma",
            "a warp group multiplies 64 x 16 by 16 x 128 float16 on tensor cores, the left one out of registers",
        ),
        ("tl::mma_sync(whatever);", "mma", "a warp multiplies on tensor cores"),
    ],
)  # fmt: skip
def test_a_line_is_told_in_plain_words(line: str, kind: str, says: str) -> None:
    (sight,) = landmarks(f"  {line}\n")
    assert sight.kind == kind
    assert says in sight.says


SOURCE = """\
extern "C" __global__ void kernel(const float* __restrict__ A, float* __restrict__ C);
extern "C" __global__ void __launch_bounds__(128, 1) kernel(const float* __restrict__ A, float* __restrict__ C) {
  float4 v = *(float4*)(A + 4);
  *(float4*)(C + 4) = v;
  C[3] = (A[3] + 1.0f);
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    tl::cp_async_gs<16>((&(shared[i])), (&(A[i])));
  }
  for (int k = 0; k < 7; ++k) {
    __syncthreads();
  }
}
"""


def test_loads_stores_and_loops_of_a_source() -> None:
    seen = {(sight.lines, sight.kind): sight.says for sight in landmarks(SOURCE)}

    assert "128 threads" in seen[(2,), "launch bounds"]
    assert seen[(3,), "vector load"] == "each thread reads 16 bytes of A at once"
    assert seen[(4,), "vector store"] == "each thread writes 16 bytes of C at once"
    assert seen[(5,), "store"] == "each thread writes C element by element"
    assert seen[(5,), "load"] == "each thread reads A element by element"
    assert ((8,), "load") not in seen
    assert seen[(10,), "loop"] == "a loop of 7 trips over k, down to line 12"
    assert ((7,), "loop") not in seen  # nothing waits in it


def test_the_same_again_is_one_sight() -> None:
    again = "  __syncthreads();\n  x = 1;\n  __syncthreads();\n  tl::cp_async_commit();\n  __syncthreads();\n"
    assert landmarks(again) == (
        Sight(kind="barrier", says="all threads of the block wait for each other", lines=(1, 3)),
        Sight(kind="cp.async", says="the copies started so far become a group", lines=(4,)),
        Sight(kind="barrier", says="all threads of the block wait for each other", lines=(5,)),
    )


def test_loops_know_their_ends() -> None:
    outer, inner = loops("for (int k = 0; k < 7; ++k) {\n  for (int i = 0; i < n; ++i) {\n  }\n}\n")
    assert (outer.first, outer.last, outer.trips) == (1, 4, 7)
    assert (inner.first, inner.last, inner.trips) == (2, 3, None)
    assert outer.is_over("k")
    assert not outer.is_over("ko")
