"""How fast the reference solutions are on an H200, beside the libraries; and that they are right at ragged sizes.

    python -m pytest -o addopts= tests/gpu/test_speed.py -ra

Prints one table, also where pytest captures what tests print. About 40 seconds on 16 cores. The times are those that
the grader grades by, measured to the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import tlpuzzles_solutions
from tests.tracing import document
from tlpuzzles.course import catalog
from tlpuzzles.course.timings import Timing
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.cuda import devices

ARCH = "sm_90a"
THREADS = 12
RAGGED = ((1, 3, 1), (2, 3, 63), (2, 3, 193), (1, 2, 1001))
"""Batch, heads, sequence length."""

Call = Callable[[], Any]

TARGETS: Mapping[tuple[str, str, str], float] = {
    ("vector_add", "speed", "torch-add"): 0.98,
    ("tiled_gemm", "speed-4096", "cublas"): 0.95,
    ("tiled_gemm", "speed-8192", "cublas"): 0.95,
    ("epilogue_fusion", "speed", "eager"): 1.7,
    ("epilogue_fusion", "speed", "cublaslt"): 0.88,
    ("row_softmax", "speed-4096", "copy"): 0.88,
    ("flash_attention", "speed-full-64", "cudnn-sdpa"): 0.91,
    ("flash_attention", "speed-causal-64", "cudnn-sdpa"): 0.88,
    ("flash_attention", "speed-full-128", "cudnn-sdpa"): 0.90,
    ("flash_attention", "speed-causal-128", "cudnn-sdpa"): 0.92,
}
"""The ratio that a solution must reach, by exercise, timed case and baseline."""


@pytest.fixture(scope="module")
def torch() -> Iterator[Any]:
    found = devices.find()
    if not found.gpus:
        pytest.skip(f"no GPU: {found.why}")
    if "H200" not in found.gpus[0].name:
        pytest.skip(f"the targets were set for an H200; this GPU is an {found.gpus[0].name}")
    import torch

    torch.manual_seed(0)
    yield torch
    torch.cuda.empty_cache()


@pytest.fixture(scope="module")
def kernels(torch: Any) -> dict[str, Any]:
    """The kernels for ragged sizes, compiled side by side."""
    from tlpuzzles_solutions import epilogue_fusion, flash_attention, row_softmax

    makers: dict[str, Call] = {}
    for m, n, k in ((200, 4001, 129), (300, 520, 264)):
        makers[f"gelu {m} {n} {k}"] = lambda s=(m, n, k): epilogue_fusion.make_matmul_bias_gelu(*s, arch=ARCH)
    for m, n in ((101, 1), (101, 33), (101, 1000), (101, 8192)):
        makers[f"softmax {m} {n}"] = lambda s=(m, n): row_softmax.make_softmax(*s, arch=ARCH)
    for shape in RAGGED:
        for dim in (64, 128):
            for causal in (False, True):
                makers[_attention(shape, dim, causal)] = lambda s=shape, d=dim, c=causal: (
                    flash_attention.make_flash_attn(*s, d, is_causal=c, arch=ARCH)
                )
    with ThreadPoolExecutor(THREADS) as pool:
        return dict(zip(makers, pool.map(lambda make: make(), makers.values()), strict=True))


def _attention(shape: tuple[int, int, int], dim: int, causal: bool) -> str:
    return f"attention {shape} D={dim} {'causal' if causal else 'full'}"


def _error(torch: Any, got: Any, reference: Any) -> float:
    """Relative, by the Frobenius norm; infinite if anything is not a number."""
    difference = (got.double() - reference.double()).norm() / reference.double().norm()
    return float(difference) if torch.isfinite(difference) else math.inf


def _scores(torch: Any, q: Any, k: Any, v: Any, causal: bool) -> Any:
    """Attention in float64, of tensors (batch, seq_len, heads, dim)."""
    q, k, v = (x.double().transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)
    return (torch.softmax(scores, -1) @ v).transpose(1, 2)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize("shape", RAGGED)
def test_attention_is_right_at_ragged_lengths(
    torch: Any, kernels: dict[str, Any], shape: tuple[int, int, int], dim: int, causal: bool
) -> None:
    batch, heads, length = shape
    q, k, v = (torch.randn(batch, length, heads, dim, device="cuda", dtype=torch.float16) for _ in "qkv")
    got = kernels[_attention(shape, dim, causal)](q, k, v)
    assert _error(torch, got, _scores(torch, q, k, v, causal)) < 1e-3


@pytest.mark.parametrize("columns", [1, 33, 1000, 8192])
def test_softmax_is_right_at_any_width(torch: Any, kernels: dict[str, Any], columns: int) -> None:
    x = torch.randn(101, columns, device="cuda", dtype=torch.float16) * 3
    x[::3] += 200
    x[1::3] -= 200
    x[5, 1:] = -math.inf
    assert _error(torch, kernels[f"softmax 101 {columns}"](x), torch.softmax(x.double(), -1)) < 1e-3


@pytest.mark.parametrize("sizes", [(200, 4001, 129), (300, 520, 264)])
def test_the_fused_epilogue_is_right_at_ragged_sizes(
    torch: Any, kernels: dict[str, Any], sizes: tuple[int, int, int]
) -> None:
    m, n, k = sizes
    a, b, bias = _gelu_inputs(torch, m, n, k)
    reference = torch.nn.functional.gelu(a.double() @ b.double() + bias.double(), approximate="tanh")
    assert _error(torch, kernels[f"gelu {m} {n} {k}"](a, b, bias), reference) < 1e-3


def _gelu_inputs(torch: Any, m: int, n: int, k: int) -> tuple[Any, ...]:
    return tuple(
        torch.randn(*shape, device="cuda", dtype=torch.float16) / factor
        for shape, factor in (((m, k), k**0.25), ((k, n), k**0.25), ((n,), 1))
    )


def _versions(torch: Any) -> str:
    import tilelang

    driver = devices.find().driver
    return (
        f"{torch.cuda.get_device_name()}, driver {driver}, torch {torch.__version__}, CUDA {torch.version.cuda}, "
        f"cuDNN {torch.backends.cudnn.version()}, tilelang {tilelang.__version__}"
    )


def _timed() -> list[tuple[Exercise, Timing]]:
    """All but those that time a learner's winner."""
    return [
        (exercise, timing)
        for exercise in catalog.exercises()
        for timing in exercise.timings
        if exercise.proposed is None
    ]


def _source(exercise: Exercise, timing: Timing) -> Any:
    from tlpuzzles.device.cuda.compiling import Source

    text = tlpuzzles_solutions.path(exercise.slug).read_text("utf-8")
    arguments = {**_sizes(timing), **timing.case.flags, "dtype": timing.case.dtype}
    if "arch:" in text:
        arguments["arch"] = ARCH
    fast_math = {"tl.enable_fast_math": True} if "TL_ENABLE_FAST_MATH" in text else {}
    return Source(document(text, exercise.factory, **arguments), fast_math)


def _sizes(timing: Timing) -> Mapping[str, int]:
    import random

    return timing.case.sizes(random.Random(0))


def test_the_solutions_reach_their_targets(torch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from tlpuzzles.device.cuda.bench import Candidate, GpuBench
    from tlpuzzles.device.cuda.compiling import Compiled, compile_kernels
    from tlpuzzles.device.cuda.racing import race
    from tlpuzzles.verdict.measured import BASELINE, KERNEL
    from tlpuzzles.verdict.timing import Edges, Rule, milliseconds, ratio

    cases = _timed()
    sources = {f"{exercise.slug} {timing.case.id}": _source(exercise, timing) for exercise, timing in cases}
    compiled = compile_kernels(sources, ARCH, lambda message: None)
    lines, missed = [], []
    for number, (exercise, timing) in enumerate(cases):
        kernel = compiled[f"{exercise.slug} {timing.case.id}"]
        assert isinstance(kernel, Compiled), kernel
        names = tuple(spec.name for spec in (*exercise.inputs, exercise.output))
        sizes = _sizes(timing)
        device = torch.device("cuda")
        bench = GpuBench(exercise, timing, sizes, Candidate(kernel, names, False), device, number, lambda: None)
        raced = race(bench, Edges(None, None), Rule())
        assert raced.wrong is None, raced.wrong
        ours = milliseconds(raced.blocks, KERNEL)
        flops, bytes_ = exercise.flops(sizes, timing.case.flags), exercise.bytes(sizes, timing.case.dtype)
        rate = f"{bytes_ / ours / 1e6:.0f} GB/s" if flops < 10 * bytes_ else f"{flops / ours / 1e9:.0f} TFLOP/s"
        for baseline, arm in ((bench.baseline, BASELINE), *((other, other.id) for other in bench.beside)):
            share = 1.0 if baseline.moves is None else bytes_ / baseline.moves
            reached = share * ratio(raced.blocks, arm, KERNEL).value
            target = TARGETS.get((exercise.slug, timing.case.id, baseline.id), 0.0)
            lines.append(
                f"| {exercise.number} {timing.case.title} | {ours:.4f} | {rate} | {baseline.name} "
                f"| {share * milliseconds(raced.blocks, arm):.4f} | {reached:.3f} | {target or '':} |"
            )
            if reached < target:
                missed.append(lines[-1])
    with capsys.disabled():
        print(f"\n{_versions(torch)}\n")
        print("| kernel | ms | rate | baseline | ms | ratio | target |\n|---|---|---|---|---|---|---|")
        print("\n".join(lines))
    assert not missed, "\n".join(missed)
