"""The course as it has gone, on a terminal of any kind."""

from __future__ import annotations

import io
from datetime import datetime, timezone

from rich.console import Console

from tlpuzzles.report.history import sparkline
from tlpuzzles.report.journey import Stage, show
from tlpuzzles.report.marks import marks_for
from tlpuzzles.verdict.outcomes import Verdict
from tlpuzzles.workspace.attempts import Attempt, Origin, Past

P, F, N = Verdict.PASSED, Verdict.FAILED, Verdict.NOT_STARTED


def attempt(number: int, verdict: Verdict, earned: int, ratio: float | None = None, only: str | None = None) -> Attempt:
    at = datetime(2026, 5, 1, tzinfo=timezone.utc)
    not_graded = 40 if ratio is None else 0
    ratios = {} if ratio is None else {"speed": ratio}
    device = ("CPU", None) if ratio is None else ("T4", "sm_75")
    return Attempt(number, at, Origin.GRADED, "x", None, 0, verdict, only, earned, 100, not_graded, *device, ratios)


DONE = Past((attempt(1, N, 0), attempt(2, F, 0), attempt(3, P, 60), attempt(4, P, 60, only="one")), hint=2)
FAST = Past((attempt(1, F, 60, 0.25), attempt(2, P, 93, 0.9)))
MANY = Past(tuple(attempt(number, F, number) for number in range(1, 61)))


def shown(*pasts: Past, width: int = 60, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=width, force_terminal=False, highlight=False)
    show([Stage(number, f"Exercise with a name {number}", past, 100) for number, past in enumerate(pasts, 1)], console)
    stream.seek(0)
    return stream.read()


def test_every_attempt_has_a_mark_and_points_and_speed_have_bars() -> None:
    lines = [line.strip() for line in shown(DONE, FAST, Past()).splitlines()]
    assert "1 ✓ Exercise with a name 1   60 of 60" in lines
    assert "○✗✓·  3 tries  hint 2 read" in lines
    assert "points ▁█  first 0, last 60" in lines
    assert "2 ✓ Exercise with a name 2  93 of 100" in lines
    assert "points ▅█  first 60, last 93" in lines
    assert "speed  ▃▇  first 0.25, last 0.90" in lines
    assert "3 ○ Exercise with a name 3" in lines


def test_the_sum_and_what_is_next() -> None:
    def end(*pasts: Past) -> str:
        return " ".join(shown(*pasts).split())

    text = end(DONE, FAST, Past())
    assert "2 of 3 passed · 153 of 260 points; 40 more are not graded where you tried" in text
    # Without a GPU so far, there is none for what is still to be tried.
    assert "1 of 3 passed · 60 of 180 points; 120 more are not graded where you tried" in end(DONE, Past(), Past())
    assert "0 of 3 passed · 0 of 300 points tlpuzzles" in end(Past(), Past(), Past())
    assert "next: Exercise with a name 3" in text
    assert "tlpuzzles show 3" in text
    assert "tlpuzzles grade 1" in end(MANY, Past())
    assert "tlpuzzles grade 2" in end(DONE, FAST)
    assert "All of it is passed" in end(DONE)


def test_fits_any_width_and_goes_without_unicode() -> None:
    given_up = Past((attempt(1, F, 3),), given_up=True)
    for width in (60, 80, 120):
        for encoding in ("utf-8", "ascii"):
            text = shown(DONE, FAST, MANY, given_up, Past(hint=1), width=width, encoding=encoding)
            assert max(map(len, text.splitlines())) <= width
            assert "given up" in text
    lines = [line.strip() for line in shown(DONE, encoding="ascii").splitlines()]
    assert "ox+.  3 tries  hint 2 read" in lines
    assert "points .#  first 0, last 60" in lines


def test_of_many_attempts_the_latest_are_shown() -> None:
    line = next(line.strip() for line in shown(MANY).splitlines() if "60 tries" in line)
    assert line.startswith("…✗✗")
    assert line.count("✗") == 24
    bars = next(line.strip() for line in shown(MANY).splitlines() if "points" in line and "first" in line)
    assert bars.startswith("points …▅")
    assert bars.endswith("first 1, last 60")


def test_bars_reach_from_nothing_to_the_top() -> None:
    marks = marks_for(Console(file=io.StringIO()))
    assert sparkline([0, 0.5, 1], marks) == "▁▅█"
    assert sparkline([0.5, 2], marks) == "▃█"  # twice as fast as the library
