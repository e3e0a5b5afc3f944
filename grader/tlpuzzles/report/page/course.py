"""All that a page says of the course as it has gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tlpuzzles.report.history import VERDICTS, points
from tlpuzzles.report.journey import BARS, Stage, course_so_far, next_in_course, points_so_far, remarks
from tlpuzzles.report.marks import unicode_marks
from tlpuzzles.report.page.attempts import Growth, Row, growths, rows, told_of


@dataclass(frozen=True)
class ShownStage:
    """An exercise, and how it has gone."""

    number: int
    title: str
    state: str
    mark: str
    ended: str
    points: str
    remarks: tuple[str, ...]
    growths: tuple[Growth, ...]
    rows: tuple[Row, ...]
    told: str
    """What the rows are."""


@dataclass(frozen=True)
class Course:
    """The course, from its first exercise to its last."""

    passed: str
    points: str
    points_left: str
    share: float
    """Of the points that could be had, in percent."""
    command: str
    """What to do next; empty if nothing is left."""
    why: str
    bars: str
    """What the bars say; empty if there are none."""
    stages: tuple[ShownStage, ...]


def course(stages: Sequence[Stage]) -> Course:
    """In the order of the stages."""
    passed, told, left = course_so_far(stages)
    command, why = next_in_course(stages)
    shown = tuple(map(_shown, stages))
    earned, gradable, _ = points_so_far(stages)
    return Course(
        passed=passed,
        points=told,
        points_left=left,
        share=100 * earned / gradable if gradable else 0.0,
        command=command or "",
        why=why,
        bars=BARS if any(stage.growths for stage in shown) else "",
        stages=shown,
    )


def _shown(stage: Stage) -> ShownStage:
    past, state = stage.past, VERDICTS[stage.past.state].value
    return ShownStage(
        stage.number,
        stage.title,
        state,
        unicode_marks().by_verdict[state],
        past.state.value,
        points(past),
        tuple(remarks(past)),
        tuple(growths(past)),
        tuple(rows(past)),
        told_of(past),
    )
