"""The attempts at an exercise as a page shows them: how points and speed grew, and a table of all that is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tlpuzzles.report.history import RECENT, ends_of, plural
from tlpuzzles.report.marks import unicode_marks
from tlpuzzles.report.page.checks import in_words
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
    """ "first 0, last 60"."""
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
    graded = [attempt for attempt in past.whole if attempt.of]
    timed = [attempt for attempt in past.whole if attempt.ratio is not None]
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
    shown = list(zip(attempts, values, said, strict=True))[-RECENT:]
    left_out = len(attempts) - len(shown)
    which = f"{len(attempts)} gradings" + (f", the latest {len(shown)}" if left_out else "")
    told = ", ".join(f"{words} in attempt {attempt.number}" for attempt, _, words in shown)
    drawing = Drawing(HIGH + _MARK + 4, f"{name} of {which}: {told}.")
    before = 1 if left_out else 0
    step = 100 / max(FEWEST, len(shown) + before)
    if left_out:
        drawing.text(step / 2, 4 + HIGH - 3, marks.ellipsis, "word", Anchor.MIDDLE)
    for at, (attempt, value, words) in enumerate(shown, before):
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


def told_of(past: Past) -> str:
    """What the table has: "3 tries", or "4 gradings: 3 tries, 1 not started"."""
    graded = [attempt for attempt in past.attempts if attempt.verdict is not None]
    tries = plural(past.tries, "try", "tries")
    if past.tries == len(graded):
        return tries
    others = Counter(in_words(_state(attempt)) for attempt in graded if not attempt.is_try)
    parts = [tries] if past.tries else []
    parts += [f"{count} {ended}" for ended, count in others.items()]
    return f"{plural(len(graded), 'grading', 'gradings')}: {', '.join(parts)}"


def _state(attempt: Attempt) -> str:
    assert attempt.verdict is not None
    return attempt.verdict.value
