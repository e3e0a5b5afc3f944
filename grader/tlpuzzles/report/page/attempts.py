"""The attempts at an exercise as a page shows them: how points and speed grew, and a table of all that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tlpuzzles.report.history import RECENT, ends_of
from tlpuzzles.report.marks import unicode_marks
from tlpuzzles.report.page.drawing import Anchor, Drawing
from tlpuzzles.workspace.attempts import Attempt, Past

FEWEST = 10
"""Bars are as narrow as if there were so many at least."""
HIGH = 44
"""Of a bar that is full."""
_MARK = 16
"""Below the bars, for a mark each."""


@dataclass(frozen=True)
class Growth:
    """A row of bars."""

    name: str
    ends: str
    """ "0 to 60"."""
    picture: Markup


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    number: int
    at: str
    """Day and minute (UTC)."""
    day: str
    """The same for programs."""
    state: str
    mark: str
    ended: str
    points: str
    speed: str
    device: str


def growths(past: Past) -> list[Growth]:
    """Of points, and of speed where it was measured: a bar for each grading of the whole exercise, the latest ones."""
    graded = [attempt for attempt in past.whole if attempt.of][-RECENT:]
    timed = [attempt for attempt in past.whole if attempt.ratio is not None][-RECENT:]
    found = []
    if graded:
        shares = [attempt.earned / attempt.of for attempt in graded]
        said = [f"{attempt.earned} of {attempt.of} points" for attempt in graded]
        ends = ends_of([str(attempt.earned) for attempt in graded])
        found.append(Growth("points", ends, _bars("Points", graded, shares, said, 1.0)))
    if timed:
        ratios = [attempt.ratio or 0.0 for attempt in timed]
        said = [f"speed {ratio:.2f}" for ratio in ratios]
        ends = ends_of([f"{ratio:.2f}" for ratio in ratios])
        found.append(Growth("speed", ends, _bars("Speed", timed, ratios, said, max(1.0, *ratios))))
    return found


def _bars(name: str, attempts: Sequence[Attempt], values: Sequence[float], said: Sequence[str], top: float) -> Markup:
    """`top` is the value of a full bar. The line at 1 is all points, or the library's speed."""
    marks = unicode_marks()
    told = ", ".join(f"{words} in attempt {attempt.number}" for words, attempt in zip(said, attempts, strict=True))
    drawing = Drawing(HIGH + _MARK + 4, f"{name} of {len(attempts)} gradings: {told}.")
    step = 100 / max(FEWEST, len(attempts))
    for at, (attempt, value, words) in enumerate(zip(attempts, values, said, strict=True)):
        state = _state(attempt)
        high = max(HIGH * min(max(value / top, 0), 1), 2)
        style = f"bar of-{state}"
        drawing.rectangle(
            step * (at + 0.14), 4 + HIGH - high, step * 0.72, high, style, f"attempt {attempt.number}: {words}"
        )
        drawing.text(step * (at + 0.5), 4 + HIGH + _MARK - 3, marks.by_verdict[state], "word", Anchor.MIDDLE)
    full = 4 + HIGH * (1 - 1 / top)
    drawing.line((0, full), (100, full), "goal")
    drawing.line((0, 4 + HIGH), (100, 4 + HIGH), "axis")
    return drawing.markup()


def rows(past: Past) -> list[Row]:
    """All gradings, the latest first."""
    marks, found = unicode_marks(), []
    for attempt in reversed(past.attempts):
        if attempt.verdict is None:
            continue
        state, ended = _state(attempt), attempt.verdict.value.replace("_", " ")
        found.append(
            Row(
                attempt.number,
                f"{attempt.at:%Y-%m-%d %H:%M}",
                attempt.at.isoformat(),
                state,
                marks.by_verdict[state],
                ended if attempt.only is None else f"{ended}, {attempt.only} alone",
                f"{attempt.earned} of {attempt.of}" if attempt.of else "",
                "" if attempt.ratio is None else f"{attempt.ratio:.2f}",
                attempt.device if attempt.arch is None else f"{attempt.device} ({attempt.arch})",
            )
        )
    return found


def _state(attempt: Attempt) -> str:
    assert attempt.verdict is not None
    return attempt.verdict.value
