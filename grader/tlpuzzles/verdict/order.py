"""Two runs of one kernel on the same inputs: in order with tiles and an output that start as NaN, then with blocks and
parallel loops in reverse and tiles and an output that start as large finite numbers. They must agree within the
tolerance; bit for bit would be too much, since sums in another order round differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import TensorSpec, Tolerance
from tlpuzzles.verdict.compare import Comparison, compare, is_leftover
from tlpuzzles.verdict.judgement import UNNAMED
from tlpuzzles.verdict.regions import Region, Shape, region

if TYPE_CHECKING:
    import torch

HUGE = 100.0
"""A value so many times the largest expected one comes from what a tile held before it was set."""

UNSET = (
    "A GPU's shared memory and registers hold leftovers of earlier work. Clear or fill every tile that T.gemm, +=, or "
    "T.reduce_sum and T.reduce_max with clear=False add to."
)


class Dependence(Enum):
    """What the output depends on that it must not depend on."""

    NOTHING = "nothing"
    OLD_CONTENTS = "old contents"
    """A tile, or the output, is read before it is set."""
    ORDER = "order"
    """Of blocks or threads."""


@dataclass(frozen=True)
class Runs:
    """Two outputs of one kernel, right or wrong, and how each compares with the reference."""

    output: TensorSpec
    first: torch.Tensor
    second: torch.Tensor
    expected: torch.Tensor
    """float64."""
    against: tuple[Comparison, Comparison]


@dataclass(frozen=True)
class Finding:
    dependence: Dependence
    message: str = ""
    where: Region | None = None
    explains_first: bool = False
    """Whether it is also why the first output is wrong, and says so better than a look at that output alone."""


def compare_runs(runs: Runs, dtype: str, tolerance: Tolerance) -> Finding:
    """Whether the two runs agree, and if not, why as far as their values tell. Shapes and dtypes must be right."""
    if all(comparison.agrees for comparison in runs.against):
        return Finding(Dependence.NOTHING)
    first = runs.first.double()
    # Of large numbers, sums are perhaps infinite in float16; NaN they are not.
    only_first = (~first.isfinite() & runs.second.isfinite()) | (first.isnan() & ~runs.second.isnan())
    if (unwritten := runs.against[0].unwritten) is not None:
        only_first &= ~unwritten
    if bool(only_first.any()):
        return _unset_in_first(runs, only_first)
    if bool((is_leftover(runs.second, dtype) & (runs.first != runs.second)).any()):
        return _keeps(runs.output.name)
    never_written = _both_unwritten(runs)
    first, second = first.masked_fill(never_written, 0.0), runs.second.masked_fill(never_written, 0.0)
    # Each may err by the tolerance, to different sides.
    double = Tolerance(2 * tolerance.frobenius, 2 * tolerance.row, 2 * tolerance.element)
    between = compare(second, first, dtype, double)
    if between.agrees:
        return Finding(Dependence.NOTHING)
    where = region(between.wrong, runs.output.shape) if between.wrong is not None else None
    return _differs(runs, second.double(), where)


def _both_unwritten(runs: Runs) -> torch.Tensor:
    import torch

    first, second = (comparison.unwritten for comparison in runs.against)
    if first is None or second is None:
        return torch.zeros_like(runs.expected, dtype=torch.bool)
    return first & second


def _unset_in_first(runs: Runs, nan: torch.Tensor) -> Finding:
    where = region(nan, runs.output.shape)
    message = (
        f"{UNNAMED}: {runs.output.name} is NaN {_place(where)} if shared memory and fragments "
        f"start as NaN, and is not if they start as large numbers. {UNSET}"
    )
    return Finding(Dependence.OLD_CONTENTS, message, where, explains_first=True)


def _keeps(name: str) -> Finding:
    message = (
        f"{name} is read before it is written: elements of it keep large numbers that they held before the kernel ran "
        "(max and min skip a NaN, so a run in which they start as NaN hides it). On a GPU they hold leftovers of "
        f"earlier work. Compute in a fragment, and write {name} once."
    )
    return Finding(Dependence.OLD_CONTENTS, message)


def _differs(runs: Runs, second: torch.Tensor, where: Region | None) -> Finding:
    largest = float(runs.expected.abs().nan_to_num(0.0, 0.0, 0.0).max())
    huge = ~second.isfinite() | (second.abs() > HUGE * largest)
    if (unwritten := runs.against[1].unwritten) is not None:
        huge &= ~unwritten
    if bool(huge.any()):
        message = (
            f"{UNNAMED}: {runs.output.name} changes {_place(where)} if shared memory and "
            f"fragments start as large numbers instead of NaN (max and min skip a NaN, so that run hides it). {UNSET}"
        )
        return Finding(Dependence.OLD_CONTENTS, message, where)
    message = (
        "The result depends on the order in which blocks or threads run: with both in reverse, "
        f"{runs.output.name} changes {_place(where)}. On a GPU they run in any order. Let no two of them write the "
        "same element, and let none read what another one writes in the same step."
    )
    return Finding(Dependence.ORDER, message, where)


def _place(where: Region | None) -> str:
    return "everywhere" if where is None or where.shape is Shape.EVERYTHING else f"in {where.words}"
