"""Launches and tiles against what GPUs have, in numbers that a learner can check."""

from __future__ import annotations

import pytest

from tests.kernel.constructs import ATTENTION, CONSTRUCTS, GEMM, tile_kernel
from tests.kernel.problems import FLASH_SIZES, PRODUCT, PRODUCT_SIZES, case, only, vetted
from tests.tracing import document, prim_func
from tlpuzzles.device.limits import A100, H100, L4, T4, architecture
from tlpuzzles.kernel.cost import launch_costs, shared_bytes, work
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.findings import Finding, Kind, Severity
from tlpuzzles.kernel.vet import vet


def _kernel(source: str, **arguments: object) -> Kernel:
    return Kernel(document(source, **arguments).func)


def _product(**tunables: object) -> tuple[Finding, ...]:
    found = document(GEMM, **PRODUCT_SIZES, **tunables)
    return vet(found, PRODUCT, case("float16"), PRODUCT_SIZES).findings


def test_the_limits_are_those_of_the_gpus() -> None:
    assert [gpu.shared_bytes for gpu in (T4, L4, A100, H100)] == [65536, 101376, 166912, 232448]
    assert architecture("sm_89") is L4
    assert architecture("sm_70") is None


@pytest.mark.parametrize(
    ("launch", "says", "severity"),
    [
        ("T.Kernel(1, threads=2048) as bx", "2,048 threads along x; 1 to 1024 are possible", Severity.REFUSED),
        ("T.Kernel(1, threads=(64, 32)) as bx", "2,048 threads; a GPU takes at most 1024", Severity.REFUSED),
        ("T.Kernel(1, threads=(1, 1, 128)) as bx", "128 threads along z; 1 to 64 are possible", Severity.REFUSED),
        ("T.Kernel(1, threads=100) as bx", "100 threads. They run in warps of 32", Severity.WARNS),
        ("T.Kernel(0, threads=128) as bx", "0 blocks along x: nothing runs", Severity.REFUSED),
        (
            "T.Kernel(1, 70000, threads=128) as (bx, by)",
            "70,000 blocks along y; a GPU takes at most 65,535",
            Severity.REFUSED,
        ),
    ],
)
def test_a_launch_that_no_gpu_takes_is_refused(launch: str, says: str, severity: Severity) -> None:
    finding = only(vetted(tile_kernel("T.copy(A, B)", launch=launch)))
    assert (finding.kind, finding.severity) == (Kind.LAUNCH, severity)
    assert says in finding.message


@pytest.mark.parametrize("threads", ["threads=32", "threads=1024", "threads=(32, 32)", "threads=None"])
def test_a_launch_that_a_gpu_takes_is_left_alone(threads: str) -> None:
    assert vetted(tile_kernel("T.copy(A, B)", launch=f"T.Kernel(1, {threads}) as bx")).findings == ()


def test_a_tile_of_64_mib_is_refused_with_the_numbers() -> None:
    finding = only(vetted(tile_kernel("x = T.alloc_shared((4096, 8192), 'float16')\nT.clear(x)\nT.copy(A, B)")))
    assert (finding.kind, finding.severity) == (Kind.SHARED_MEMORY, Severity.REFUSED)
    assert "The tile x (4096 x 8192 float16) takes 64 MiB of shared memory" in finding.message
    assert "227 KiB on H100 and H200, 163 KiB on A100, 99 KiB on L4 and 64 KiB on T4" in finding.message


def test_tiles_that_together_are_too_large_are_refused() -> None:
    (finding,) = [f for f in _product(bm=256, bn=256, bk=64, stages=4) if f.kind is Kind.SHARED_MEMORY]
    assert finding.severity is Severity.REFUSED
    assert "need 256 KiB at the same time" in finding.message


def test_tiles_that_are_too_large_for_some_gpus_are_warned_about() -> None:
    (finding,) = _product(bm=128, bn=128, bk=64, stages=3)
    assert (finding.kind, finding.severity) == (Kind.SHARED_MEMORY, Severity.WARNS)
    assert "need 96 KiB at the same time: too much for T4 (64 KiB)" in finding.message


def test_static_shared_memory_has_a_limit_of_its_own() -> None:
    body = "x = T.alloc_shared((128, 128), 'float32', scope='shared')\nT.clear(x)\nT.copy(A, B)"
    assert "no GPU gives them more than 48 KiB" in only(vetted(tile_kernel(body))).message


def test_fragments_beyond_the_registers_are_warned_about_or_refused() -> None:
    def finding(rows: int) -> Finding:
        body = f"x = T.alloc_fragment(({rows}, 256), 'float32')\nT.clear(x)\nT.copy(A, B)"
        return only(vetted(tile_kernel(body)))

    assert (finding(256).kind, finding(256).severity) == (Kind.REGISTERS, Severity.WARNS)
    assert "512 registers for each of its 128 threads; a thread has 255" in finding(256).message
    assert "costs no points by itself, only speed" in finding(256).message
    assert (finding(4096).kind, finding(4096).severity) == (Kind.REGISTERS, Severity.REFUSED)


def test_a_thread_cannot_have_megabytes_of_its_own() -> None:
    body = "x = T.alloc_local((1 << 20,), 'float32')\nx[0] = 1\nT.copy(A, B)"
    finding = only(vetted(tile_kernel(body)))
    assert (finding.kind, finding.severity) == (Kind.REGISTERS, Severity.REFUSED)
    assert "takes 4 MiB in every thread; a thread has 512 KiB" in finding.message


def test_a_tile_of_open_size_is_refused() -> None:
    source = """
    @tilelang.jit
    def kernel():
        N = T.dynamic("N")
        @T.prim_func
        def main(A: T.Tensor((64, N), "float32"), B: T.Tensor((64, N), "float32")):
            with T.Kernel(1, threads=128) as bx:
                x = T.alloc_shared((64, N), "float32")
                T.copy(A, x)
                T.copy(x, B)
        return main
    """
    assert "The size of x depends on something known only when the kernel runs" in vetted(source).findings[0].message


@pytest.mark.parametrize("stages", [0, 1, 2, 3, 4])
def test_shared_memory_of_a_product_is_what_its_tiles_take_in_every_stage(stages: int) -> None:
    kernel = _kernel(GEMM, **PRODUCT_SIZES, stages=stages)
    assert shared_bytes(kernel) == (64 * 32 + 32 * 32) * 2 * max(stages, 1)


STAGED_RESULT = GEMM.replace(
    "            T.copy(total, C",
    "            out = T.alloc_shared((bm, bn), dtype)\n            T.copy(total, out)\n            T.copy(out, C",
)
TWO_IN_TURN = tile_kernel(
    """
    x = T.alloc_shared((64, 32), "float32")
    y = T.alloc_shared((64, 32), "float32")
    f = T.alloc_fragment((64, 32), "float32")
    T.copy(A, x)
    T.copy(x, f)
    T.copy(f, y)
    T.copy(y, B)
    """
)


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        (GEMM, {**PRODUCT_SIZES, "stages": 3}),
        (STAGED_RESULT, {**PRODUCT_SIZES, "stages": 3}),
        (ATTENTION.replace("num_stages=1", "num_stages=2"), FLASH_SIZES),
        (TWO_IN_TURN, {}),
        (CONSTRUCTS["T.print, tile"], {}),
    ],
    ids=["product", "staged result", "attention", "two in turn", "print"],
)
def test_shared_memory_is_what_tilelang_asks_for(source: str, arguments: dict[str, object]) -> None:
    import tilelang
    from tilelang import tvm

    target = tvm.target.Target({"kind": "cuda", "arch": "sm_80"})
    with target:
        lowered = tilelang.lower(prim_func(source, **arguments), target=target, enable_device_compile=False)
    (function,) = lowered.device_mod.functions.values()
    assert shared_bytes(_kernel(source, **arguments)) == int(function.attrs["dyn_shared_memory_buf"])


def test_the_cost_of_a_launch() -> None:
    (cost,) = launch_costs(_kernel(GEMM, **PRODUCT_SIZES), {})
    assert (cost.grid, cost.blocks, cost.threads) == ((2, 2), 4, 128)
    # A 64 x 32 accumulator of float32, a register an element, over 128 threads.
    assert cost.registers == 16


def test_the_work_of_a_product() -> None:
    kernel = _kernel(GEMM, **PRODUCT_SIZES)
    copies = 3 * (64 * 32 + 32 * 32)
    assert work(kernel, {}) == 4 * (3 * 64 * 32 * 32 + copies + 2 * 64 * 32)


def test_the_work_of_causal_attention_counts_the_longest_block() -> None:
    full = work(_kernel(ATTENTION, **FLASH_SIZES), {})
    causal = work(_kernel(ATTENTION, is_causal=True, **FLASH_SIZES), {})
    assert full == causal


def test_a_grid_that_would_run_for_hours_on_a_cpu_is_refused_there() -> None:
    source = tile_kernel("for i, j in T.Parallel(64, 32):\n    B[i, j] = A[i, j]", launch="T.Kernel(2**31 - 1) as bx")
    assert vetted(source).findings == ()
    finding = only(vetted(source, for_cpu=True))
    assert (finding.kind, finding.severity) == (Kind.WORK, Severity.REFUSED)
    assert "2,147,483,647 blocks" in finding.message
