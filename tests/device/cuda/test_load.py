"""A kernel must survive the capsule: TileLang has to make the same CUDA source of it as of what was traced."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.device.cuda.kernels import ADD, ATTENTION, GEMM
from tests.kernel.constructs import CONSTRUCTS, tile_kernel
from tests.tracing import document, prim_func, trace
from tlpuzzles.device.cuda.load import SYMBOL, LoadError, load
from tlpuzzles.device.cuda.lower import cuda_source
from tlpuzzles.device.cuda.quiet import captured
from tlpuzzles.kernel.capsule import NEUTRAL_SOURCE, read

ARGUMENTS: dict[str, dict[str, object]] = {"eager style": {"N": 1000}}
HOPPER = {
    *("T.tma_copy", "T.ws", "wgmma_gemm", "cluster_dims", "T.set_max_nreg", "T.alloc_barrier", "barriers, T.ws"),
    *("product in a pipeline", "attention"),
}

MORE = {
    "product in a pipeline": GEMM,
    "attention": ATTENTION,
    "T.alloc_barrier": tile_kernel(
        """
        b = T.alloc_barrier(128)
        x = T.alloc_shared((64, 32), "float32")
        T.copy(A, x)
        T.barrier_arrive(b)
        T.barrier_wait(b, 0)
        T.copy(x, B)
        """
    ),
    "barriers, T.ws": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float32")
        full = T.alloc_barrier(128)
        with T.ws(1):
            T.copy(A, x)
            T.barrier_arrive(full)
        with T.ws(0):
            T.barrier_wait(full, 0)
            T.copy(x, B)
        """,
        launch="T.Kernel(1, threads=256) as bx",
    ),
    "copy with loop_layout": tile_kernel(
        """
        x = T.alloc_fragment((64, 32), "float32")
        T.copy(A, x, loop_layout=T.Fragment((64, 32), forward_fn=lambda i, j: (i * 2 + j // 16, j % 16)))
        T.copy(x, B)
        """
    ),
    "layout with replication": tile_kernel(
        """
        x = T.alloc_fragment((64,), "float32")
        T.annotate_layout({x: T.Fragment((64,), forward_thread_fn=lambda i, r: i + 64 * r, replicate=2)})
        T.copy(A[:, 0], x)
        for i, j in T.Parallel(64, 32):
            B[i, j] = x[i]
        """
    ),
    "layout by a function": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float32")
        T.annotate_layout({x: lambda i, j: i * 32 + (j ^ (i % 8))})
        T.copy(A, x)
        T.copy(x, B)
        """
    ),
    "three-dimensional layout": tile_kernel(
        """
        x = T.alloc_shared((2, 32, 32), "float32")
        T.annotate_layout({x: T.Layout((2, 32, 32), lambda s, i, j: (s, (i * 32 + j) ^ ((i % 4) * 4)))})
        for s, i, j in T.Parallel(2, 32, 32):
            x[s, i, j] = A[s * 32 + i, j]
        for s, i, j in T.Parallel(2, 32, 32):
            B[s * 32 + i, j] = x[s, i, j]
        """
    ),
}
CASES = {**CONSTRUCTS, **MORE}
_ONE_ELEMENT = re.compile(r"T\.copy\(A, x\)\n +for i, j in T\.Parallel\(64, 32\):\n +x\[i, j\] = .*\n +T\.copy\(x, B\)")
_ONE_REDUCTION = re.compile(r"T\.reduce_\w+\(x, r, dim=1\)")
_KEPT = ("T.exp", "T.if_then_else", ".astype", "integers", "bfloat16", "T.reduce_sum", "T.reduce_max")


def _cases() -> list[Any]:
    """All of them. Many differ from others in one expression or in the kind of reduction: a few stand for those."""

    def is_alike(name: str, source: str) -> bool:
        return name not in _KEPT and bool(_ONE_ELEMENT.search(source) or _ONE_REDUCTION.search(source))

    return [
        pytest.param(name, marks=[pytest.mark.slow] if is_alike(name, source) else []) for name, source in CASES.items()
    ]


def _source(func: Any, arch: str) -> str:
    """The CUDA source, or the first line of why there is none."""
    with captured():
        try:
            return cuda_source(func, {}, arch)
        except Exception as error:  # noqa: BLE001 - whatever it is, it must be the same on both ways
            return f"refused: {str(error).strip().splitlines()[0]}"


@pytest.mark.parametrize("name", _cases())
def test_the_capsule_lowers_to_the_same_cuda_source(name: str) -> None:
    source, arguments = CASES[name], ARGUMENTS.get(name, {})
    arch = "sm_90a" if name in HOPPER else "sm_80"
    with captured():
        try:
            traced = prim_func(source, **arguments)
        except Exception as error:  # noqa: BLE001 - what TileLang does not trace never becomes a capsule
            pytest.skip(f"TileLang 0.1.15 does not trace it: {str(error).splitlines()[0]}")
    loaded = load(document(source, **arguments))
    if "tilelang_out_idx" in traced.attrs:
        traced = traced.without_attr("tilelang_out_idx")
    direct = _source(traced.with_attr("global_symbol", SYMBOL), arch)
    # The capsule names no file: T.device_assert says where it stands.
    direct = re.sub(r" at \S+\.py:", f" at {NEUTRAL_SOURCE}:", direct.replace("\\/", "/"))
    assert _source(loaded, arch) == direct


@pytest.mark.parametrize("name", ["T.annotate_layout", "T.annotate_layout, fragment", "T.Parallel, loop_layout"])
def test_layouts_reach_the_cuda_source(name: str) -> None:
    """The comparison above would also hold if both ways lost the layout."""
    plain = re.sub(r", loop_layout=.*\)\):", "):", CONSTRUCTS[name])
    plain = re.sub(r"T\.annotate_layout\(.*\n", "pass\n", plain)
    assert plain != CONSTRUCTS[name]
    laid_out = _source(load(document(CONSTRUCTS[name])), "sm_80")
    assert not laid_out.startswith("refused")
    assert laid_out != _source(load(document(plain)), "sm_80")


def test_an_out_idx_leaves_the_outputs_to_the_caller() -> None:
    eager = load(document(CONSTRUCTS["eager style"], N=1000))
    assert "tilelang_out_idx" not in eager.attrs


def test_no_name_of_a_forged_capsule_is_compiled() -> None:
    """The capsule's check refuses such names; this is the second lock, where they would do harm."""
    kernel = document(ADD)
    for node in kernel.json["nodes"]:
        if node == {"type": "ffi.String", "data": "A"}:
            node["data"] = 'A; } extern "C" void steal() {'
        if node == {"type": "ffi.String", "data": "main"}:
            node["data"] = "x() {} void y"
    source = _source(load(kernel), "sm_80")
    assert "steal()" not in source
    assert "x() {}" not in source
    assert f"void __launch_bounds__(256, 1) {SYMBOL}_kernel(" in source


def test_names_that_no_compiler_reads_are_spelled_out() -> None:
    source = ADD.replace("A:", "größe:").replace("A[", "größe[")
    assert "gr__e[" in _source(load(document(source)), "sm_80")


def test_a_layout_that_depends_on_something_else_is_refused_by_name() -> None:
    capsule = trace(CONSTRUCTS["T.annotate_layout"])
    forged = capsule.ir.replace('"data": "_i"', '"data": "elsewhere"')
    assert forged != capsule.ir
    with pytest.raises(LoadError, match=r"T\.annotate_layout.*elsewhere"):
        load(read(replace(capsule, ir=forged)))
