"""How an output is wrong, as far as its values tell: a constant factor, zeros, the values of other elements.

Asked only for outputs that are finite where they are wrong and equal no known mistake of the exercise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from tlpuzzles.course.vocabulary import Tolerance

FEWEST = 8
"""With fewer wrong elements, a factor or an offset that fits them says nothing."""

SAMPLE = 2048
FEWEST_SAMPLED = 32
FIT = 0.95
"""Elements hold the values of others if this part of those that are looked at do."""

SHIFTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)

NEAR = 12.0
"""An error of at most so many times the tolerance may be imprecision; a left-out term or tile gives more."""


class How(Enum):
    """In which way values are wrong."""

    ZERO = "zero"
    CONSTANT = "constant"
    FACTOR = "factor"
    OFFSET = "offset"
    ROW_FACTORS = "row factors"
    TRANSPOSED = "transposed"
    SHIFTED = "shifted"


@dataclass(frozen=True)
class Symptom:
    """`words` completes "every element ..." for the wrong ones; `advice` is a sentence of its own, or empty."""

    how: How
    words: str
    advice: str = ""


def symptom(
    found: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, tolerance: Tolerance, names: tuple[str, ...]
) -> Symptom | None:
    """What the wrong elements have in common; None if nothing that is known here.

    `found` and `expected` are float64, of one shape; `wrong` is a mask of it in which `found` is finite.
    """
    values, targets = found[wrong], expected[wrong]
    if not values.numel():
        return None
    return (
        _constant(values)
        or _factor(values, targets, tolerance)
        or _offset(values, targets, tolerance)
        or _moved(found, expected, wrong, tolerance, names)
        or _row_factors(found, expected, wrong, tolerance)
    )


def is_imprecise(error: float, worst_element: float, limit: float) -> bool:
    """Whether errors look like imprecision: overall and in the worst element (in units of its budget) not far off."""
    return error <= NEAR * limit and worst_element <= NEAR


def _constant(values: torch.Tensor) -> Symptom | None:
    first = float(values[0])
    if not bool((values == first).all()) or (first != 0.0 and values.numel() < FEWEST):
        return None
    if first == 0.0:
        return Symptom(How.ZERO, "is 0")
    return Symptom(How.CONSTANT, f"is {first:.4g}")


def _factor(values: torch.Tensor, targets: torch.Tensor, tolerance: Tolerance) -> Symptom | None:
    power = float(targets.square().sum())
    if values.numel() < FEWEST or power == 0.0:
        return None
    factor = float((values * targets).sum()) / power
    rest = float((values - factor * targets).norm()) / float(values.norm())
    if not rest <= 4 * tolerance.frobenius or abs(factor - 1) <= 4 * tolerance.frobenius:
        return None
    return Symptom(How.FACTOR, _times(factor))


def _times(factor: float) -> str:
    if abs(factor + 1) < 0.005:
        return "has the wrong sign"
    if factor < 0:
        return f"is {-factor:.3g} times as large as it should be, with the wrong sign"
    if 0.5 < factor < 1.5:
        return f"is {abs(factor - 1):.1%} too {'large' if factor > 1 else 'small'}".replace("%", " %")
    return f"is {factor:.3g} times too large" if factor > 1 else f"is {1 / factor:.3g} times too small"


def _offset(values: torch.Tensor, targets: torch.Tensor, tolerance: Tolerance) -> Symptom | None:
    if values.numel() < FEWEST:
        return None
    difference = values - targets
    mean = float(difference.mean())
    noise = 8 * tolerance.frobenius * float(targets.square().mean().sqrt())
    if not float(difference.std()) <= min(noise, 0.05 * abs(mean)):
        return None
    return Symptom(How.OFFSET, f"is {abs(mean):.3g} too {'large' if mean > 0 else 'small'}")


def _row_factors(
    found: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, tolerance: Tolerance
) -> Symptom | None:
    """Rows (along the last axis) that are each right up to a factor of their own: a softmax divided by a wrong sum."""
    length = found.shape[-1] if found.dim() else 1
    touched = wrong.reshape(-1, length).any(dim=1)
    values, targets = found.reshape(-1, length)[touched], expected.reshape(-1, length)[touched]
    if length < FEWEST or values.shape[0] < 2:
        return None
    factors = (values * targets).sum(dim=1) / targets.square().sum(dim=1)
    rest = (values - factors[:, None] * targets).norm(dim=1)
    if not bool((rest <= 4 * tolerance.row * values.norm(dim=1)).all()):
        return None
    low, high = float(factors.min()), float(factors.max())
    if max(abs(low - 1), abs(high - 1)) <= 0.02:
        return None  # noise has a best factor, too
    words = f"is off by a factor, one for each row ({low:.3g} to {high:.3g} times the right value)"
    return Symptom(How.ROW_FACTORS, words, "Check what a row is divided by or scaled with.")


def _moved(
    found: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor, tolerance: Tolerance, names: tuple[str, ...]
) -> Symptom | None:
    """Elements that hold the value which belongs elsewhere."""
    places = wrong.nonzero()
    sample = places[:: max(1, places.shape[0] // SAMPLE)]
    if sample.shape[0] < FEWEST_SAMPLED:
        return None
    moves = _Moves(found, expected, sample, tolerance)
    for a, b in combinations(range(found.dim()), 2):
        if moves.swapped(a, b):
            advice = f"The indices along {names[a]} and {names[b]} are swapped where the result is written."
            return Symptom(How.TRANSPOSED, "holds the value of its mirror image (the output is transposed)", advice)
        if moves.stored_swapped(a, b):
            advice = f"The result is laid out with {names[b]} before {names[a]}."
            return Symptom(How.TRANSPOSED, "holds a value that belongs elsewhere", advice)
    for shift in SHIFTS:
        for axis in range(found.dim()):
            for step in (shift, -shift):
                if moves.shifted(axis, step):
                    distance = "one place" if shift == 1 else f"{shift} places"
                    where = f"{distance} {'before' if step > 0 else 'behind'} it"
                    along = f" along {names[axis]}" if found.dim() > 1 else ""
                    return Symptom(How.SHIFTED, f"holds the value that belongs {where}{along}")
    return None


class _Moves:
    """Tries whether sampled elements hold the expected values of other places."""

    def __init__(self, found: torch.Tensor, expected: torch.Tensor, sample: torch.Tensor, tolerance: Tolerance) -> None:
        self.expected = expected
        self.sample = sample
        self.values = found[tuple(sample.T)]
        self.slack = 4 * tolerance.element * float(expected.square().mean().sqrt())
        self.relative = 8 * tolerance.frobenius

    def _fits(self, targets: torch.Tensor, inside: torch.Tensor) -> bool:
        if int(inside.sum()) < max(FEWEST_SAMPLED, self.values.numel() // 4):
            return False
        close = (self.values - targets).abs() <= self.slack + self.relative * targets.abs()
        return float(close[inside].double().mean()) >= FIT

    def _at(self, places: torch.Tensor) -> bool:
        import torch

        sizes = torch.tensor(self.expected.shape)
        inside = ((places >= 0) & (places < sizes)).all(dim=1)
        kept = torch.where(inside[:, None], places, 0)
        return self._fits(self.expected[tuple(kept.T)], inside)

    def swapped(self, a: int, b: int) -> bool:
        """found[.., i, .., j, ..] = expected[.., j, .., i, ..], as far as that exists."""
        places = self.sample.clone()
        places[:, [a, b]] = self.sample[:, [b, a]]
        return self._at(places)

    def stored_swapped(self, a: int, b: int) -> bool:
        """The memory of `found` holds the expected output with two axes swapped."""
        import torch

        if self.expected.shape[a] == 1 or self.expected.shape[b] == 1:
            return False
        other = self.expected.transpose(a, b)
        flat = torch.zeros(self.sample.shape[0], dtype=torch.int64)
        for d, size in enumerate(self.expected.shape):
            flat = flat * size + self.sample[:, d]
        return self._fits(other.flatten()[flat], torch.ones_like(flat, dtype=torch.bool))

    def shifted(self, axis: int, step: int) -> bool:
        """found[.., i, ..] = expected[.., i - step, ..]"""
        places = self.sample.clone()
        places[:, axis] -= step
        return self._at(places)
