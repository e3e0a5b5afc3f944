"""How inputs are drawn: what an exercise names as its `draw`, and a case where it probes something special.

Each function here makes a `vocabulary.Draw`. Values have zero mean wherever nothing else is the point: with positive
inputs a dropped product or a stale tile moves a sum by less than the tolerance. With scales up to 8, matrix products of
16384 terms stay below the largest float16 (65504).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def offset(amount: float = 200.0, signs: Sequence[int] = (1, -1)) -> Draw:
    """Normal values around `amount` or `-amount`, by the row: `signs` repeats along the rows, which lie along the last
    axis.

    A softmax without the maximum subtracted overflows in the former and divides 0 by 0 in the latter. With irregular
    signs it shows which other number was subtracted.
    """

    def draw(generator: torch.Generator, shape: tuple[int, ...], _name: str) -> torch.Tensor:
        import torch

        values = _randn(generator, shape)
        rows = values.numel() // shape[-1]
        around = amount * torch.tensor(signs, dtype=torch.float32)[torch.arange(rows) % len(signs)]
        return values + around.reshape(*shape[:-1], 1)

    return draw


def uniform(low: float, high: float) -> Draw:
    """Independent values between `low` and `high`, all equally likely."""

    def draw(generator: torch.Generator, shape: tuple[int, ...], _name: str) -> torch.Tensor:
        import torch

        return torch.rand(shape, generator=generator) * (high - low) + low

    return draw


def scaled_products(scale: float = 1.0, bias: float = 1.0) -> Draw:
    """A (M, K) and B (K, N) whose product has standard deviation `scale` whatever K is, and a Bias with that of `bias`.

    An activation function bends between about -3 and 3: plain normal values would nearly all land beyond that.
    """

    def draw(generator: torch.Generator, shape: tuple[int, ...], name: str) -> torch.Tensor:
        if name == "Bias":
            return _randn(generator, shape) * bias
        depth = shape[1] if name == "A" else shape[0]
        return _randn(generator, shape) * (math.sqrt(scale) / math.sqrt(math.sqrt(depth)))

    return draw


def picked_sums(sums: Sequence[float]) -> Draw:
    """A (M, K), B (K, N) and Bias (N,) with A @ B + Bias exactly one of `sums` in each element.

    Each row of A is zero but for a single one, so nothing is rounded on the way, whatever the order of the sum. The
    bias repeats 0, 1/8, ..., 6/8 along the columns. `sums`: multiples of 2 ** -10 from 1.25 up to, but not, 2.
    """

    def draw(generator: torch.Generator, shape: tuple[int, ...], name: str) -> torch.Tensor:
        import torch

        bias = torch.arange(shape[-1]) % 7 / 8
        if name == "Bias":
            return bias
        if name == "B":
            return torch.tensor(sums)[torch.randint(len(sums), shape, generator=generator)] - bias
        places = torch.randint(shape[-1], (shape[0], 1), generator=generator)
        return torch.zeros(shape).scatter_(-1, places, 1.0)

    return draw


def one_finite(amount: float = 60_000.0, signs: Sequence[int] = (1, -1)) -> Draw:
    """Rows that hold minus infinity but for one element, at a place of its own in each row: around `amount` or
    `-amount`, as with `offset`. By default that is near the largest float16, 65504, so that no number that merely looks
    small can stand for minus infinity.
    """

    def draw(generator: torch.Generator, shape: tuple[int, ...], name: str) -> torch.Tensor:
        import torch

        values = torch.full(shape, -math.inf)
        places = torch.randint(shape[-1], (*shape[:-1], 1), generator=generator)
        values.scatter_(-1, places, offset(amount, signs)(generator, (*shape[:-1], 1), name))
        return values

    return draw


def equal_rows(scale: float = 100.0) -> Draw:
    """Rows whose elements are all equal: a normal value of standard deviation `scale` for each row."""

    def draw(generator: torch.Generator, shape: tuple[int, ...], _name: str) -> torch.Tensor:
        return (_randn(generator, (*shape[:-1], 1)) * scale).expand(shape)

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
