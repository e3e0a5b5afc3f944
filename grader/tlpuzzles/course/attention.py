"""Attention in float64, as the reference and the mistakes of exercise 6 compute it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import Sizes, Tensors

if TYPE_CHECKING:
    import torch


def softmax(scores: torch.Tensor) -> torch.Tensor:
    """Along the last axis."""
    import torch

    return torch.softmax(scores, dim=-1)


def attend(
    tensors: Tensors,
    *,
    scale: float,
    seen: torch.Tensor | None = None,
    weigh: Callable[[torch.Tensor], torch.Tensor] = softmax,
) -> torch.Tensor:
    """weigh(scale * Q K^T, minus infinity where a key is not `seen`) V for each head.

    `seen` is bool, (seq_len, seq_len): whether the query of a row looks at the key of a column.
    """
    q, k, v = (tensors[name].transpose(1, 2) for name in ("Q", "K", "V"))
    scores = scale * (q @ k.transpose(-1, -2))
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    return (weigh(scores) @ v).transpose(1, 2).contiguous()


def scale(sizes: Sizes) -> float:
    """1 / sqrt(dim), by which the products of queries and keys are multiplied."""
    return 1 / math.sqrt(sizes["dim"])


def seen_keys(sizes: Sizes, flags: Mapping[str, bool], diagonal: int = 0) -> torch.Tensor | None:
    """Keys up to `diagonal` places after the query; None where all keys are seen."""
    import torch

    if not flags.get("is_causal"):
        return None
    return torch.ones(sizes["seq_len"], sizes["seq_len"], dtype=torch.bool).tril(diagonal)


def attention(tensors: Tensors, sizes: Sizes, flags: Mapping[str, bool]) -> torch.Tensor:
    """What exercise 6 asks for: (batch, seq_len, heads, dim), causal where the flag says so."""
    return attend(tensors, scale=scale(sizes), seen=seen_keys(sizes, flags))
