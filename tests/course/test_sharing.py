"""Whether the threads of a block share its elements."""

from __future__ import annotations

import pytest

from tests.tracing import document
from tlpuzzles.course.sharing import shared_among_threads
from tlpuzzles.kernel.facts import Kernel

HEAD = """
@tilelang.jit
def kernel(N=1000, threads=128):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 256), threads=threads) as bx:
"""
LOOP = """
            for i in {loop}:
                C[bx * 256 + i] = A[bx * 256 + i]
    return main
"""
BY_THREAD = """
            thread = T.get_thread_binding()
            for i in range(2):
                C[bx * 256 + i * 128 + thread] = A[bx * 256 + i * 128 + thread]
    return main
"""
GUARDED = """
            if T.get_thread_binding() == 0:
                for i in range(256):
                    C[bx * 256 + i] = A[bx * 256 + i]
    return main
"""
COPIED = """
            tile = T.alloc_shared((256,), "float32")
            T.copy(A[bx * 256], tile)
            T.copy(tile, C[bx * 256])
    return main
"""


def _told(source: str, **arguments: object) -> str | None:
    return shared_among_threads().check(Kernel(document(HEAD + source.lstrip("\n"), **arguments).func))


@pytest.mark.parametrize("loop", ["range(256)", "T.serial(256)", "T.unroll(256)"])
def test_a_loop_that_every_thread_runs_in_full_is_told_with_its_line(loop: str) -> None:
    told = _told(LOOP.format(loop=loop))
    assert told is not None
    line = 4 + len(HEAD.splitlines()) + 2
    assert f"(line {line})" in told
    assert "T.Parallel(block_N)" in told


@pytest.mark.parametrize("source", [LOOP.format(loop="T.Parallel(256)"), BY_THREAD, GUARDED, COPIED])
def test_elements_that_are_dealt_out_or_taken_by_number_are_shared(source: str) -> None:
    assert _told(source) is None


def test_one_thread_has_nothing_to_share() -> None:
    assert _told(LOOP.format(loop="range(256)"), threads=1) is None
