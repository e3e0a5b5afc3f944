"""How fast the reference solutions are on an H200, beside the libraries; and that they are right at ragged sizes.

    python -m pytest -o addopts= tests/gpu/test_speed.py -ra

Prints one table, also where pytest captures what tests print. About 40 seconds on 16 cores. A ratio is the baseline's
time over the solution's, so that above 1 the solution is faster; it is the median over blocks solution, baseline,
baseline, solution, each call after a write of 256 MiB that empties the L2 cache, with new inputs in every round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from typing import Any

import pytest

from tlpuzzles.device.cuda import devices

ARCH = "sm_90a"
ROUNDS, BLOCKS = 4, 6
THREADS = 12
ATTENTION = (2, 16, 4096)
"""Batch, heads, sequence length."""
RAGGED = ((1, 3, 1), (2, 3, 63), (2, 3, 193), (1, 2, 1001))

Call = Callable[[], Any]


@dataclass(frozen=True)
class Race:
    """One line of the table."""

    name: str
    baseline: str
    kernel: str
    """Which compiled kernel runs."""
    draw: Callable[[], tuple[Any, ...]]
    """Its inputs."""
    against: Callable[..., Call]
    """Called with the inputs: gives the baseline to call."""
    amount: float
    """FLOPs of a call, or bytes moved by it."""
    unit: str
    """TFLOP/s or GB/s."""
    target: float
    share: float = 1.0
    """How much of the baseline's work the kernel's is."""


@dataclass(frozen=True)
class Timed:
    ratio: float
    ours: float
    theirs: float
    """Milliseconds."""


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
    """Every kernel of this module, compiled side by side."""
    from tlpuzzles_solutions import epilogue_fusion, flash_attention, row_softmax, tiled_gemm, vector_add

    makers: dict[str, Call] = {"add": lambda: vector_add.make_vector_add(1 << 26)}
    for size in (4096, 8192):
        makers[f"gemm {size}"] = lambda n=size: tiled_gemm.make_matmul(n, n, n, arch=ARCH)
    for m, n, k in ((4096, 4096, 1024), (200, 4001, 129), (300, 520, 264)):
        makers[f"gelu {m} {n} {k}"] = lambda s=(m, n, k): epilogue_fusion.make_matmul_bias_gelu(*s, arch=ARCH)
    for m, n in ((16384, 4096), (101, 1), (101, 33), (101, 1000), (101, 8192)):
        makers[f"softmax {m} {n}"] = lambda s=(m, n): row_softmax.make_softmax(*s, arch=ARCH)
    for shape in (ATTENTION, *RAGGED):
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


def _races(torch: Any) -> list[Race]:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    functional = torch.nn.functional

    def random(*shape: int, dtype: Any = torch.float16) -> Any:
        return torch.randn(*shape, device="cuda", dtype=dtype)

    def add(a: Any, b: Any) -> Call:
        out = torch.empty_like(a)
        return lambda: torch.add(a, b, out=out)

    def matmul(a: Any, b: Any) -> Call:
        out = torch.empty_like(a)
        return lambda: torch.matmul(a, b, out=out)

    def eager(a: Any, b: Any, bias: Any) -> Call:
        return lambda: functional.gelu(a @ b + bias, approximate="tanh")

    def fused(a: Any, b: Any, bias: Any) -> Call:
        return lambda: torch._addmm_activation(bias, a, b, use_gelu=True)

    def copy(_x: Any) -> Call:
        source, target = (torch.randn(1 << 28, device="cuda") for _ in "st")
        return lambda: target.copy_(source)

    def cudnn(causal: bool) -> Callable[..., Call]:
        def against(*tensors: Any) -> Call:
            heads_first = [x.transpose(1, 2) for x in tensors]

            def call() -> Any:
                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                    return functional.scaled_dot_product_attention(*heads_first, is_causal=causal)

            return call

        return against

    def two(n: int) -> Callable[[], tuple[Any, ...]]:
        return lambda: (random(n, n), random(n, n))

    n = 1 << 26
    m, columns = 16384, 4096
    softmax_bytes, copied_bytes = 2 * 2 * m * columns, 2 * 4 * (1 << 28)
    gelu = (4096, 4096, 1024)

    def vectors() -> tuple[Any, ...]:
        return random(n, dtype=torch.float32), random(n, dtype=torch.float32)

    def gelu_inputs() -> tuple[Any, ...]:
        return _gelu_inputs(torch, *gelu)

    races = [
        Race("vector add 2^26 fp32", "torch.add(out=)", "add", vectors, add, 12 * n, "GB/s", 0.98),
        *(
            Race(f"GEMM {s}^3", "torch.matmul(out=)", f"gemm {s}", two(s), matmul, 2 * s**3, "TFLOP/s", 0.95)
            for s in (4096, 8192)
        ),
        *(
            Race(
                "GEMM + bias + GELU 4096 x 4096 x 1024",
                name,
                "gelu 4096 4096 1024",
                gelu_inputs,
                against,
                2 * math.prod(gelu),
                "TFLOP/s",
                target,
            )
            for name, against, target in (("eager, 3 kernels", eager, 1.7), ("cuBLASLt, fused", fused, 0.88))
        ),
        Race(
            "row softmax 16384 x 4096",
            "device copy of 1 GiB, per byte",
            "softmax 16384 4096",
            lambda: (random(m, columns) * 3,),
            copy,
            softmax_bytes,
            "GB/s",
            0.88,
            share=softmax_bytes / copied_bytes,
        ),
    ]
    batch, heads, length = ATTENTION
    for dim, causal, target in ((64, False, 0.91), (64, True, 0.88), (128, False, 0.90), (128, True, 0.92)):
        pairs = length * (length + 1) // 2 if causal else length * length
        races.append(
            Race(
                f"attention 2 x 16 x 4096, D={dim}, {'causal' if causal else 'full'}",
                "SDPA, cuDNN",
                _attention(ATTENTION, dim, causal),
                lambda dim=dim: tuple(random(batch, length, heads, dim) for _ in "qkv"),
                cudnn(causal),
                4 * batch * heads * dim * pairs,
                "TFLOP/s",
                target,
            )
        )
    return races


def _time(torch: Any, race: Race, kernel: Any, flush: Any) -> Timed:
    blocks: list[list[float]] = []
    for _ in range(ROUNDS):
        inputs = race.draw()
        theirs = race.against(*inputs)

        def ours(inputs: tuple[Any, ...] = inputs) -> Any:
            return kernel(*inputs)

        for _ in range(2):
            ours(), theirs()
        events = []
        for _ in range(BLOCKS):
            for call in (ours, theirs, theirs, ours):
                flush.zero_()
                start, end = torch.cuda.Event(True), torch.cuda.Event(True)
                start.record()
                call()
                end.record()
                events.append((start, end))
        torch.cuda.synchronize()
        times = [start.elapsed_time(end) for start, end in events]
        blocks.extend(times[i : i + 4] for i in range(0, len(times), 4))
    return Timed(
        median(race.share * (b1 + b2) / (a1 + a2) for a1, b1, b2, a2 in blocks),
        median((a1 + a2) / 2 for a1, _, _, a2 in blocks),
        median((b1 + b2) / 2 for _, b1, b2, _ in blocks),
    )


def _versions(torch: Any) -> str:
    import tilelang

    driver = devices.find().driver
    return (
        f"{torch.cuda.get_device_name()}, driver {driver}, torch {torch.__version__}, CUDA {torch.version.cuda}, "
        f"cuDNN {torch.backends.cudnn.version()}, tilelang {tilelang.__version__}"
    )


def test_the_solutions_reach_their_targets(
    torch: Any, kernels: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    lines, missed = [], []
    for race in _races(torch):
        timed = _time(torch, race, kernels[race.kernel], flush)
        rate = race.amount / timed.ours / (1e9 if race.unit == "TFLOP/s" else 1e6)
        lines.append(
            f"| {race.name} | {timed.ours:.4f} | {rate:.0f} {race.unit} | {race.baseline} | {timed.theirs:.4f} "
            f"| {timed.ratio:.3f} | {race.target:.2f} |"
        )
        if timed.ratio < race.target:
            missed.append(lines[-1])
    with capsys.disabled():
        print(f"\n{_versions(torch)}\n")
        print("| kernel | ms | rate | baseline | ms | ratio | target |\n|---|---|---|---|---|---|---|")
        print("\n".join(lines))
    assert not missed, "\n".join(missed)
