"""How an exercise has gone so far: in a phrase, as a line of marks, and as bars that grow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from tlpuzzles.report.marks import STYLES, Marks
from tlpuzzles.verdict.outcomes import Verdict
from tlpuzzles.workspace.attempts import Past, State

VERDICTS = {
    State.UNTRIED: Verdict.NOT_STARTED,
    State.TRIED: Verdict.FAILED,
    State.GIVEN_UP: Verdict.SKIPPED,
    State.PASSED: Verdict.PASSED,
}
"""Whose mark and colour stand for how far an exercise has come."""

RECENT = 24
"""Attempts that a line has room for; of more, the latest."""

_UNICODE = "▁▂▃▄▅▆▇█"
_ASCII = ".:-=+*%#"


def state_mark(past: Past, marks: Marks) -> Text:
    verdict = VERDICTS[past.state].value
    return Text(marks.by_verdict[verdict], style=STYLES[verdict])


def points(past: Past) -> str:
    """The most points that an attempt had, e.g. "60 of 60"; nothing before there is one."""
    best = past.best
    return "" if best is None or not best.of else f"{best.earned} of {best.of}"


def standing(past: Past) -> list[str]:
    """What there is to say of an exercise, in parts: "passed", "best 60 of 60 points", "speed 0.93", "3 tries"."""
    if past.state is State.UNTRIED:
        return []
    parts = [past.state.value] if past.state is not State.TRIED else []
    parts += [f"best {points(past)} points"] if points(past) else []
    parts += [f"speed {past.best_ratio:.2f}"] if past.best_ratio is not None else []
    parts += [plural(past.tries, "try", "tries")] if past.tries else []
    return parts


def plural(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def attempt_marks(past: Past, marks: Marks) -> Text:
    """A mark for each grading, in their order. One of a single case is a dot: whatever it says, it is no verdict."""
    graded = [attempt for attempt in past.attempts if attempt.verdict is not None]
    text = Text(marks.ellipsis if len(graded) > RECENT else "", style="dim")
    for is_whole, group in groupby(graded[-RECENT:], key=lambda attempt: attempt.is_whole):
        for attempt in group:
            assert attempt.verdict is not None
            mark = marks.by_verdict[attempt.verdict.value] if is_whole else _part(marks)
            text.append(mark, style=STYLES[attempt.verdict.value])
    return text


def _part(marks: Marks) -> str:
    return "." if marks.is_ascii else "·"


def growth(past: Past, marks: Marks) -> list[tuple[str, Text]]:
    """How points and speed went from attempt to attempt: what it is, and a bar for each attempt, with its ends."""
    shares = [attempt.earned / attempt.of for attempt in past.whole if attempt.of]
    ratios = [attempt.ratio for attempt in past.whole if attempt.ratio is not None]
    rows = []
    if len(shares) > 1:
        ends = ends_of([f"{attempt.earned}" for attempt in past.whole if attempt.of])
        rows.append(("points", Text.assemble(sparkline(shares, marks), ("  " + ends, "dim"))))
    if len(ratios) > 1:
        ends = ends_of([f"{ratio:.2f}" for ratio in ratios])
        rows.append(("speed", Text.assemble(sparkline(ratios, marks), ("  " + ends, "dim"))))
    return rows


def ends_of(values: Sequence[str]) -> str:
    """ "first 0, last 60": of all, however many of them are drawn."""
    first, last = values[0], values[-1]
    return first if first == last else f"first {first}, last {last}"


def sparkline(values: Sequence[float], marks: Marks) -> str:
    """A bar for each value, from nothing to 1, or to the largest where that is more; the latest, if there are many."""
    bars = _ASCII if marks.is_ascii else _UNICODE
    top = max(1.0, *values)
    drawn = (bars[round(min(max(value / top, 0), 1) * (len(bars) - 1))] for value in values[-RECENT:])
    return (marks.ellipsis if len(values) > RECENT else "") + "".join(drawn)
