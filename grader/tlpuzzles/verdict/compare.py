"""Whether an output is right: the rule, and nothing about how to say it.

Shape and dtype first, exactly; then non-finite values, which must be where the rounded reference has the same ones;
then three measures of the error against the float64 reference, each with a limit, none with a budget of exceptions:

    frobenius  |found - expected| / |expected|, Frobenius norms over the whole output
    row        the worst such quotient of one row (along the last axis)
    element    the worst |error| / (tolerance.element * rms(row) + 4 * eps * |expected| + smallest subnormal)

The rule and the constants that exercises give it come from simulated mutants (float16 accumulation, dropped terms,
stale tiles, missing masks): float16 outputs of float32 sums err by 2.1e-4 whatever K is, float16 sums by 8e-4 at
K = 512 and 1.6e-3 at K = 2048. Limits are written `error <= limit`, so that a NaN passes none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import Tolerance
from tlpuzzles.verdict.poison import LEFTOVER_BITS, POISON_BITS, WIDTH

if TYPE_CHECKING:
    import torch

ROW_FLOOR = 1 / 8
"""A row of L elements counts as no smaller than ROW_FLOOR / sqrt(L) of the output's rms: sums that happen to cancel in
a short row (L = 1: one element) have a large relative error in a right kernel, too."""

LIBRARY_FACTOR = 2.0
SLACK = 0.25
"""A limit is raised to LIBRARY_FACTOR * (the library's error) + SLACK * (the limit), or to what rounding the reference
to the dtype costs + SLACK * (the limit), if either is more. The library is believed up to the limit only, so that one
that sums in float16 lets no such kernel through: at most 2.25 times the limit."""


class Outcome(Enum):
    """The first part of the rule that an output breaks, if any."""

    AGREES = "agrees"
    SHAPE = "shape"
    DTYPE = "dtype"
    NOT_FINITE = "not finite"
    TOO_FAR = "too far"


@dataclass(frozen=True)
class Measures:
    """The three errors, or the limits of them. Dimensionless."""

    frobenius: float
    row: float
    element: float

    def within(self, limits: Measures) -> bool:
        return self.frobenius <= limits.frobenius and self.row <= limits.row and self.element <= limits.element

    def plus_slack(self, error: Measures, factor: float = 1.0) -> Measures:
        """These limits as an allowance: a part of them beyond `factor` times an error that cannot be blamed."""
        return Measures(
            factor * error.frobenius + SLACK * self.frobenius,
            factor * error.row + SLACK * self.row,
            factor * error.element + SLACK * self.element,
        )


@dataclass(frozen=True)
class Comparison:
    """What comparing an output with its reference found."""

    outcome: Outcome
    measures: Measures | None = None
    """None where shape or dtype differ; taken over the finite elements where some are not finite."""
    limits: Measures | None = None
    """What the measures were held against, allowances included."""
    wrong: torch.Tensor | None = None
    """bool, of the output's shape: elements that break the rule each by itself. May be none although the output as a
    whole is too far off. None where the outputs agree or cannot be held against each other."""
    unwritten: torch.Tensor | None = None
    """bool, likewise: elements that still hold the poison."""

    @property
    def agrees(self) -> bool:
        return self.outcome is Outcome.AGREES


def compare(
    found: torch.Tensor,
    expected: torch.Tensor,
    dtype: str,
    tolerance: Tolerance,
    library: torch.Tensor | None = None,
) -> Comparison:
    """Compares an output with its float64 reference.

    `dtype` is what the output must have: "float16", "bfloat16" or "float32". `library` is the same computed by a
    library in that dtype, whose error is allowed for. Raises ValueError if the reference is not float64.
    """
    import torch

    if expected.dtype is not torch.float64:
        raise ValueError(f"the reference is {expected.dtype}, not float64")
    if found.shape != expected.shape:
        return Comparison(Outcome.SHAPE)
    if found.dtype is not torch_dtype(dtype):
        return Comparison(Outcome.DTYPE)
    errors = _Errors(expected, dtype, tolerance)
    error = errors.of(found.double())
    measures = errors.measures(error)
    limits = own = Measures(tolerance.frobenius, tolerance.row, 1.0)
    if not measures.within(own):
        limits = _most(limits, own.plus_slack(errors.measures(errors.of(errors.rounded))))
        if library is not None:
            believed = _least(errors.measures(errors.of(library.double())), own)
            limits = _most(limits, own.plus_slack(believed, LIBRARY_FACTOR))
    misplaced = errors.misplaced(found)
    unwritten = is_poison(found, dtype)
    if bool(misplaced.any()) or bool(unwritten.any()):
        outcome = Outcome.NOT_FINITE
    elif measures.within(limits):
        return Comparison(Outcome.AGREES, measures, limits)
    else:
        outcome = Outcome.TOO_FAR
    wrong = errors.beyond(error, limits.element) | misplaced | unwritten
    return Comparison(outcome, measures, limits, wrong, unwritten)


def relative_error(found: torch.Tensor, expected: torch.Tensor, dtype: str, tolerance: Tolerance) -> torch.Tensor:
    """Of each element: |found - expected| / (root mean square of its row of `expected`), 0 where one is not finite."""
    import torch

    errors = _Errors(expected, dtype, tolerance)
    error = errors.of(found.double()).abs()
    relative: torch.Tensor = error.view(errors.budget.shape).div_(errors.scale[:, None]).view_as(error)
    return torch.nan_to_num_(relative, 0.0)


def is_borderline(comparison: Comparison, tolerance: Tolerance) -> bool:
    """Whether a library's error could still make the output right: it is worth computing only then."""
    if comparison.outcome is not Outcome.TOO_FAR or comparison.measures is None:
        return False
    most = LIBRARY_FACTOR + SLACK
    return comparison.measures.within(Measures(most * tolerance.frobenius, most * tolerance.row, most))


def torch_dtype(dtype: str) -> torch.dtype:
    """torch's object for one of our dtypes. Raises KeyError for another."""
    import torch

    return {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}[dtype]


def is_poison(found: torch.Tensor, dtype: str) -> torch.Tensor:
    """bool, of the same shape: elements that no kernel wrote, told by their bits."""
    return _bits(found) == POISON_BITS[dtype]


def is_leftover(found: torch.Tensor, dtype: str) -> torch.Tensor:
    """bool, of the same shape: elements that hold what a second run's output began with."""
    bits, width = _bits(found), 8 * WIDTH[dtype]
    # As signed numbers, which is what torch compares.
    positive, negative = (pattern - (pattern >> width - 1 << width) for pattern in LEFTOVER_BITS[dtype])
    return (bits == positive) | (bits == negative)


def same_bits(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two outputs of the same shape and dtype are the same, NaN for NaN."""
    import torch

    return torch.equal(_bits(first), _bits(second))


def _bits(found: torch.Tensor) -> torch.Tensor:
    import torch

    return found.contiguous().view(torch.int32 if found.element_size() == 4 else torch.int16)


class _Errors:
    """Errors against one reference, in the scale of its rows. Where the rounded reference is not finite they are 0:
    such elements are right or misplaced, but not more or less far off."""

    def __init__(self, expected: torch.Tensor, dtype: str, tolerance: Tolerance) -> None:
        import torch

        self.rounded = expected.to(torch_dtype(dtype)).double()
        self.special = ~torch.isfinite(self.rounded)
        self.any_special = bool(self.special.any())
        self.expected = expected.masked_fill(self.special, 0.0) if self.any_special else expected
        length = expected.shape[-1] if expected.dim() else 1
        rows = self.expected.reshape(-1, length)
        self.rms = float(_rms(rows.reshape(1, -1))) if expected.numel() else 0.0
        self.scale = _rms(rows).clamp(min=self.rms * ROW_FLOOR / length**0.5)
        info = torch.finfo(torch_dtype(dtype))
        self.budget = rows.abs().mul_(4 * info.eps).add_(tolerance.element * self.scale[:, None])
        self.budget.add_(info.smallest_normal * info.eps)

    def of(self, values: torch.Tensor) -> torch.Tensor:
        """Errors of float64 values of the output's shape: found or the library's. Not finite counts as 0 here."""
        error = values - self.expected
        if self.any_special:
            error.masked_fill_(self.special, 0.0)
        return error.nan_to_num_(0.0, 0.0, 0.0)

    def measures(self, error: torch.Tensor) -> Measures:
        if not error.numel():
            return Measures(0.0, 0.0, 0.0)
        rows = error.view(self.budget.shape)
        element = float((rows.abs() / self.budget).max())
        if self.rms == 0.0:
            off = 0.0 if element == 0.0 else float("inf")
            return Measures(off, off, element)
        return Measures(float(_rms(rows.view(1, -1))) / self.rms, float((_rms(rows) / self.scale).max()), element)

    def beyond(self, error: torch.Tensor, limit: float) -> torch.Tensor:
        """bool: elements whose error alone is more than `limit` times the budget of an element."""
        import torch

        return torch.gt(error.abs(), limit * self.budget.view(error.shape))

    def misplaced(self, found: torch.Tensor) -> torch.Tensor:
        """bool: elements that are not finite where the reference is, or not the same non-finite value."""
        import torch

        wrong = ~torch.isfinite(found)
        if self.any_special:
            same = (found == self.rounded) | (torch.isnan(found) & torch.isnan(self.rounded))
            wrong = torch.where(self.special, ~same, wrong)
        return wrong


def _rms(rows: torch.Tensor) -> torch.Tensor:
    import torch

    norms: torch.Tensor = torch.linalg.vector_norm(rows, dim=1)
    return norms.div_(rows.shape[1] ** 0.5)


def _most(first: Measures, second: Measures) -> Measures:
    return Measures(
        max(first.frobenius, second.frobenius), max(first.row, second.row), max(first.element, second.element)
    )


def _least(first: Measures, second: Measures) -> Measures:
    return Measures(
        min(first.frobenius, second.frobenius), min(first.row, second.row), min(first.element, second.element)
    )
