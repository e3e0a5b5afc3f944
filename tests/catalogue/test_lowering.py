"""What TileLang says when it compiles a kernel. The messages of everyday kernels are in test_lower.py of the device."""

from __future__ import annotations

import pytest

from tests.device.cuda.kernels import ADD, ATTENTION, GEMM
from tests.kernel.constructs import tile_kernel
from tests.tracing import HEADER, document
from tlpuzzles.catalogue.lowering import LOWERING
from tlpuzzles.device.cuda.explain import explain
from tlpuzzles.device.cuda.lower import lower

ELSEWHERE = {
    "layout-conflict", "reduce-layout", "no-layout", "pipeline-trips", "warp-partition", "warp-partition-hopper",
    "tile-not-16", "gemm-inner", "gemm-narrow-hopper", "gemm-accumulator", "barrier-hopper",
}  # fmt: skip

PRINTED = GEMM.replace("            T.copy(total, C", "            T.print(total[0, 0])\n            T.copy(total, C")
MIXED = GEMM.replace("left = T.alloc_shared((bm, bk), dtype)", "left = T.alloc_shared((bm, bk), 'float32')").replace(
    "T.gemm(left, right, total)", "T.gemm(left, right, total)  # here"
)
DEPTH = GEMM.replace("bk=32", "bk=24").replace("T.gemm(left, right, total)", "T.gemm(left, right, total)  # here")
PRIVATE = """
x = T.alloc_local((64,), "float32")
for i, j in T.Parallel(64, 32):
    x[i] = A[i, j]  # here
    B[i, j] = x[i]
"""
NOT_INJECTIVE = """
x = T.alloc_shared((64, 32), "float32")
T.annotate_layout({x: T.Layout((64, 32), lambda i, j: (i, 0))})
T.copy(A, x)  # here
T.copy(x, B)
"""
TMA = """
x = T.alloc_shared((64, 32), "float32")
b = T.alloc_barrier(1)
T.tma_copy(A, x, barrier=b[0])  # here
T.copy(x, B)
"""
WIDTH = "for i, j in T.Parallel(64, 32, coalesced_width=4):\n    B[i, j] = A[i, j]"

LOG = "for i, j in T.Parallel(64, 32):\n    B[i, j] = T.log1p(T.cast(A[i, j], 'float16'))"

PROVOKED = {
    "layout-twice": PRINTED,
    "gemm-mixed": MIXED,
    "gemm-depth": DEPTH,
    "wgmma-hopper": GEMM.replace("T.gemm(left, right, total)", "T.wgmma_gemm(left, right, total)  # here"),
    "local-in-parallel": tile_kernel(PRIVATE),
    "layout-not-injective": tile_kernel(NOT_INJECTIVE),
    "tma-hopper": tile_kernel(TMA),
    "coalesced-width": tile_kernel(WIDTH),
    "pass-config": ADD,
    "no-cuda-form": tile_kernel(LOG),
}

RECORDED = {
    "layout-not-inferred": "The layout for fragment C_local can not be inferred correctly.",
    "reduce-butterfly": "tl.reduce: XOR-butterfly AllReduce requires logical_width to be a power of two, got 33",
}
"""As TileLang 0.1.15 said it, of kernels that no longer trace or whose message depends on the GPU."""


@pytest.mark.parametrize("id_", PROVOKED)
def test_what_tilelang_refuses(id_: str) -> None:
    source = PROVOKED[id_]
    configs = {"tl.no_such_option": True} if id_ == "pass-config" else {}
    found = lower(document(source), configs, "sm_80").explanation
    assert found is not None
    assert found.id == id_
    assert found.fix
    marked = [number for number, line in enumerate((HEADER + source).splitlines(), 1) if "# here" in line]
    assert not marked or found.line == marked[0]


def test_of_two_products_the_one_that_mixes_dtypes_is_named_with_its_tiles() -> None:
    line = "T.gemm(weights, v, result, policy=how)"
    source = ATTENTION.replace(line, f"{line.replace('weights', 'scores')}  # here")
    found = lower(document(source), {}, "sm_80").explanation
    assert found is not None
    assert found.message.endswith("must have one dtype; scores is float32, v is float16")
    assert found.fix.startswith("T.copy scores into a float16 tile first")
    marked = [number for number, line in enumerate((HEADER + source).splitlines(), 1) if "# here" in line]
    assert [found.line] == marked
    assert found.hint == 2


@pytest.mark.parametrize("id_", RECORDED)
def test_what_tilelang_has_said(id_: str) -> None:
    assert explain(RECORDED[id_], "sm_80").id == id_


def test_no_entry_is_there_that_nothing_provokes() -> None:
    assert {*PROVOKED, *RECORDED} | ELSEWHERE == {known.id for known in LOWERING}
