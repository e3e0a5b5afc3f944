"""Several gradings together: their sum, and a line for each that leads to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tlpuzzles.report.marks import unicode_marks
from tlpuzzles.report.page.grading import Graded
from tlpuzzles.report.summary import points_of, reason_of, sum_of, worst_speed
from tlpuzzles.verdict.model import Results


@dataclass(frozen=True)
class Entry:
    """One of them in a line."""

    graded: Graded
    points: str
    speed: str
    """The lowest ratio; empty where none was measured."""
    reason: str


@dataclass(frozen=True)
class Together:
    """All of them."""

    passed: str
    points: str
    points_left: str
    share: float
    """Of the points that could be had, in percent."""
    entries: tuple[Entry, ...]


def together(results: Results, told: Sequence[Graded]) -> Together:
    """`told` are the results' own reports, in their order."""
    passed, points, left = sum_of(results)
    possible = results.points.possible - results.points.not_graded
    entries = [
        Entry(
            graded,
            points_of(result).strip(),
            worst_speed(result) if result.speed else "",
            reason_of(result, unicode_marks()),
        )
        for result, graded in zip(results.exercises, told, strict=True)
    ]
    return Together(passed, points, left, 100 * results.points.earned / possible if possible else 0.0, tuple(entries))
