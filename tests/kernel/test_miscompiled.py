from __future__ import annotations

import pytest

from tests.tracing import document
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.miscompiled import left_factor_through_fragment

GEMM = """
def kernel(stages):
    @T.prim_func
    def main(A: T.Tensor((64, 128), "float16"), B: T.Tensor((128, 64), "float16"), C: T.Tensor((64, 64), "float16")):
        with T.Kernel(1, threads=128) as bx:
            A_shared = T.alloc_shared((64, 32), "float16")
            B_shared = T.alloc_shared((32, 64), "float16")
            A_local = T.alloc_fragment((64, 32), "float16")
            C_local = T.alloc_fragment((64, 64), "float32")
            T.clear(C_local)
            for k in T.Pipelined(4, num_stages=stages):
                T.copy(A[0, k * 32], A_shared)
                T.copy(B[k * 32, 0], B_shared)
                T.copy(A_shared, A_local)
                T.gemm(A_local, B_shared, C_local)
            T.copy(C_local, C)
    return main
"""


@pytest.mark.parametrize(("stages", "warned"), [(0, False), (1, True), (3, True)])
def test_a_left_factor_through_a_fragment_is_warned_about_in_a_pipeline(stages: int, warned: bool) -> None:
    findings = list(left_factor_through_fragment(Kernel(document(GEMM, stages=stages).func)))
    assert bool(findings) is warned
    assert all(f.line is not None and "A_local" in f.message for f in findings)


def test_the_shared_tile_itself_is_no_matter() -> None:
    direct = GEMM.replace("T.copy(A_shared, A_local)", "pass").replace("T.gemm(A_local", "T.gemm(A_shared")
    assert not list(left_factor_through_fragment(Kernel(document(direct, stages=2).func)))
