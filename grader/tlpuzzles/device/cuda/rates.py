"""What this GPU can do at best: the bandwidth of a copy and the rate of a large matrix product, measured here."""

from __future__ import annotations

import torch

from tlpuzzles.course.baselines import COPIED
from tlpuzzles.device.cuda.timing import Launch, milliseconds

SIDE = 8192
"""Of the product's square matrices: 1.1 TFLOP, at which cuBLAS has reached its rate on every GPU of the course."""


def copy_gbps(device: torch.device) -> float:
    """GB/s (10^9 bytes, read and written) of a copy of half a GiB to another place in device memory."""
    source = torch.ones(COPIED // 8, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    return COPIED / 1e6 / _milliseconds(lambda: target.copy_(source), device)


def matrix_tflops(device: torch.device) -> float:
    """TFLOP/s of a float16 product with sums in float32 by cuBLAS, of normal values: they take as much power as any."""
    a, b = (torch.randn(SIDE, SIDE, device=device, dtype=torch.float16) for _ in "ab")
    out = torch.empty_like(a)
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    return 2 * SIDE**3 / 1e9 / _milliseconds(lambda: torch.mm(a, b, out=out), device)


def _milliseconds(call: Launch, device: torch.device) -> float:
    return milliseconds({"call": call}, device)["call"]
