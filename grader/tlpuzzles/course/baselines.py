"""The libraries that kernels are timed beside, each pinned to one way of doing it, and writing where the kernel writes.

torch is imported inside: commands that must answer at once import the exercises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.timings import Baseline, Call, Prepare, Unavailable
from tlpuzzles.course.vocabulary import Sizes, Tensors

if TYPE_CHECKING:
    import torch

COPIED = 1 << 30
"""Bytes that the copy reads and writes, half each: far more than any L2 cache holds, and long enough that starting up
does not count."""

Flags = Mapping[str, bool]


def _copy(_tensors: Tensors, out: torch.Tensor, _sizes: Sizes, _flags: Flags) -> Call:
    import torch

    device = out.device
    source = torch.ones(COPIED // 8, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


COPY = Baseline("copy", "a copy in device memory, byte for byte", _copy, moves=COPIED)
"""What the GPU's memory gives to a kernel that does nothing but read and write."""


def _add(tensors: Tensors, out: torch.Tensor, _sizes: Sizes, _flags: Flags) -> Call:
    import torch

    a, b = tensors["A"], tensors["B"]
    return lambda: torch.add(a, b, out=out)


TORCH_ADD = Baseline("torch-add", "torch.add", _add)


def _matmul(tensors: Tensors, out: torch.Tensor, _sizes: Sizes, _flags: Flags) -> Call:
    import torch

    a, b = tensors["A"], tensors["B"]
    # Sums that are split along K would be added up in float16, which is less than is asked of the kernel.
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    return lambda: torch.mm(a, b, out=out)


CUBLAS = Baseline("cublas", "cuBLAS (torch.mm, sums in float32)", _matmul)


def _eager(tensors: Tensors, out: torch.Tensor, _sizes: Sizes, _flags: Flags) -> Call:
    import torch

    a, b, bias = tensors["A"], tensors["B"], tensors["Bias"]
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False

    def call() -> torch.Tensor:
        torch.mm(a, b, out=out)
        out.add_(bias)
        return torch.ops.aten.gelu.out(out, approximate="tanh", out=out)  # type: ignore[no-any-return]

    return call


EAGER_GELU = Baseline("eager", "torch's three kernels (mm, add, gelu)", _eager)


def _fused(tensors: Tensors, out: torch.Tensor, _sizes: Sizes, _flags: Flags) -> Call:
    import torch

    if not hasattr(torch, "_addmm_activation"):
        raise Unavailable("this torch has no _addmm_activation")
    a, b, bias = tensors["A"], tensors["B"], tensors["Bias"]
    return lambda: torch._addmm_activation(bias, a, b, use_gelu=True, out=out)


CUBLASLT_GELU = Baseline("cublaslt", "cuBLASLt's fused epilogue", _fused)


def _softmax(tensors: Tensors, out: torch.Tensor, _sizes: Sizes, _flags: Flags) -> Call:
    import torch

    x = tensors["X"]
    return lambda: torch.softmax(x, -1, out=out)


TORCH_SOFTMAX = Baseline("torch-softmax", "torch.softmax", _softmax)


def _sdpa(backend: str) -> Prepare:
    """SDPA by one backend and no other, on views of Q, K and V with the heads first."""

    def prepare(tensors: Tensors, _out: torch.Tensor, _sizes: Sizes, flags: Flags) -> Call:
        import warnings

        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.nn.functional import scaled_dot_product_attention

        if not hasattr(SDPBackend, backend):
            raise Unavailable(f"this torch's SDPA has no backend {backend}")
        pinned = getattr(SDPBackend, backend)
        q, k, v = (tensors[name].transpose(1, 2) for name in ("Q", "K", "V"))
        causal = flags.get("is_causal", False)

        def call() -> torch.Tensor:
            with sdpa_kernel(pinned):
                return scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2)

        try:
            with warnings.catch_warnings():
                # It says in a dozen warnings why each backend that was ruled out was not taken.
                warnings.simplefilter("ignore")
                call()
        except RuntimeError as error:
            raise Unavailable(f"SDPA's {backend} does not run here: {str(error).splitlines()[0]}") from None
        return call

    return prepare


SDPA = (
    Baseline("cudnn-sdpa", "SDPA by cuDNN", _sdpa("CUDNN_ATTENTION")),
    Baseline("flash-sdpa", "SDPA by FlashAttention", _sdpa("FLASH_ATTENTION")),
    Baseline("efficient-sdpa", "SDPA, memory-efficient", _sdpa("EFFICIENT_ATTENTION")),
)
"""torch's backends for attention, the fastest first. On an H200 the first was up to 1.92 times as fast as the second
and up to 3.8 times as fast as the third: thresholds are kept for each."""
