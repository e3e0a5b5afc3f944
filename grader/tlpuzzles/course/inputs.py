"""How inputs are drawn: what an exercise names as its `draw`, and a case where it probes something special.

Each function here makes a `vocabulary.Draw`. Values have zero mean wherever nothing else is the point: with positive
inputs a dropped product or a stale tile moves a sum by less than the tolerance. With scales up to 8, matrix products of
16384 terms stay below the largest float16 (65504).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from tlpuzzles.course.vocabulary import Draw

KEYS_AXIS = 1
"""Where the sequence is in a tensor of shape (batch, seq_len, heads, dim)."""


def normal(scale: float = 1.0) -> Draw:
    """Independent normal values of mean 0 and standard deviation `scale`."""

    def draw(generator: torch.Generator, shape: tuple[int, ...], _name: str) -> torch.Tensor:
        return _randn(generator, shape) * scale

    return draw


def zero_one(density: float = 0.25) -> Draw:
    """Zeros and ones, `density` of them ones. Sums below 2048 are exact in float16, so a right result is exact, too."""

    def draw(generator: torch.Generator, shape: tuple[int, ...], _name: str) -> torch.Tensor:
        import torch

        return (torch.rand(shape, generator=generator) < density).float()

    return draw


def offset(amount: float = 200.0) -> Draw:
    """Normal values around `amount` in even rows and around `-amount` in odd ones; a row lies along the last axis.

    A softmax without the maximum subtracted overflows in the former and divides 0 by 0 in the latter.
    """

    def draw(generator: torch.Generator, shape: tuple[int, ...], _name: str) -> torch.Tensor:
        import torch

        values = _randn(generator, shape)
        rows = values.numel() // shape[-1]
        signs = 1.0 - 2.0 * (torch.arange(rows) % 2)
        return values + amount * signs.reshape(*shape[:-1], 1)

    return draw


def scaled_logits(factor: float, queries: str = "Q", keys: str = "K") -> Draw:
    """Attention whose logits have standard deviation `factor` instead of 1, half of it (as a factor) from each side.

    From 16 on, exp of an unshifted logit overflows float16; from 64 on (queries and keys times 8), float32.
    """

    def draw(generator: torch.Generator, shape: tuple[int, ...], name: str) -> torch.Tensor:
        return _randn(generator, shape) * (math.sqrt(factor) if name in (queries, keys) else 1.0)

    return draw


def ramped_logits(slope: float = 0.05, *, falling: bool = False, queries: str = "Q", keys: str = "K") -> Draw:
    """Attention whose logits rise by `slope` from each key to the next, with the usual noise upon them.

    So the running maximum rises at every block of keys and what was summed before must be rescaled: by about exp(-3.2)
    from one block of 64 to the next. `falling` has the maximum in the first block, and later ones must not move it.
    The first feature carries the ramp: sqrt(dim) in every query, the (centred) ramp in the keys.
    Shapes are (batch, seq_len, heads, dim).
    """

    def draw(generator: torch.Generator, shape: tuple[int, ...], name: str) -> torch.Tensor:
        import torch

        values = _randn(generator, shape)
        if name == queries:
            values[..., 0] = math.sqrt(shape[-1])
        elif name == keys:
            length = shape[KEYS_AXIS]
            ramp = slope * (torch.arange(length, dtype=torch.float32) - (length - 1) / 2)
            values[..., 0] = (-ramp if falling else ramp)[:, None]
        return values

    return draw


def _randn(generator: torch.Generator, shape: tuple[int, ...]) -> torch.Tensor:
    import torch

    return torch.randn(shape, generator=generator, dtype=torch.float32)
