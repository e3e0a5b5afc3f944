"""Ratios on one scale, from nothing to a bit above the marks: from which it passes, from which it has all points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from rich.cells import cell_len
from rich.text import Text

from tlpuzzles.report.marks import Marks
from tlpuzzles.verdict.model import Speed

CELLS = 60
"""Columns of the scale at most."""
BESIDE = 14
"""Columns that its ends' numbers need, or a label that begins at its right end."""
ABOVE = 1.05
"""The scale ends there at least, times the largest of its ratios."""
MOST, ABOVE_MARKS = 2.0, 1.2
"""But not above the larger of these, the second times the largest mark: one kernel that seems 12 times as fast must not
press all others together. Its bar ends with an arrow."""
STEPS_A_UNIT = 10
"""It ends at a multiple of a tenth."""


@dataclass(frozen=True)
class _Characters:
    reached: str
    beyond: str
    place: str
    interval: tuple[str, str, str]
    tick: tuple[str, str, str]
    """Where the kernel has gone past it, where it has not, and within the interval."""
    under: str
    outside: str
    """The place of a kernel that is beyond the end."""


_UNICODE = _Characters("━", "─", "●", ("╞", "═", "╡"), ("┿", "┼", "╪"), "▲", "►")
_ASCII = _Characters("=", "-", "O", ("[", "~", "]"), ("|", "|", "|"), "^", ">")


def end_of_scale(speeds: Sequence[Speed]) -> float:
    """The ratio at which a scale for all of these ends."""
    mark = max((speed.full_at or 0 for speed in speeds), default=0)
    largest = max(1.0, mark, *(speed.ratio for speed in speeds))
    end = min(largest * ABOVE, max(MOST, ABOVE_MARKS * mark))
    return ceil(round(end * STEPS_A_UNIT, 6)) / STEPS_A_UNIT


class Scale:
    """One for all cases of an exercise, so that their bars can be compared."""

    def __init__(self, speeds: Iterable[Speed], marks: Marks, columns: int) -> None:
        """`columns`: that the scale and its labels may take."""
        self.end = end_of_scale(list(speeds))
        self.cells = max(min(CELLS, columns - BESIDE), 8)
        self.characters = _ASCII if marks.is_ascii else _UNICODE

    def bar(self, speed: Speed, style: str) -> list[Text]:
        """The bar, and what its ticks are, if there are any."""
        shown, place = self.characters, self._cell(speed.ratio)
        bar = [shown.reached if cell < place else shown.beyond for cell in range(self.cells)]
        ticks = [self._cell(ratio) for ratio in (speed.pass_at, speed.full_at) if ratio is not None]
        low, high = (self._cell(end) for end in speed.ci)
        has_interval = low < place < high
        if has_interval:
            opened, inside, closed = shown.interval
            bar[low : high + 1] = [opened, *[inside] * (high - low - 1), closed]
        for tick in ticks:
            if not (has_interval and low <= tick <= high):
                bar[tick] = shown.tick[tick >= place]
            elif low < tick < high:
                bar[tick] = shown.tick[2]
        bar[place] = shown.outside if speed.ratio > self.end else shown.place
        text = Text.assemble(
            ("0 ", "dim"),
            ("".join(bar[: place + 1]), style),
            ("".join(bar[place + 1 :]), "dim"),
            (f" {self.end:.1f}", "dim"),
        )
        for tick in ticks:
            if tick > place and bar[tick] == shown.tick[1]:
                text.stylize("bold not dim", 2 + tick, 3 + tick)
        return [text, *self._labels(speed)]

    def _labels(self, speed: Speed) -> list[Text]:
        if speed.pass_at is None or speed.full_at is None:
            return []
        passes, full = self._cell(speed.pass_at), self._cell(speed.full_at)
        to_pass, to_full = mark_labels(speed.pass_at, speed.full_at, graded=speed.graded)
        under = self.characters.under
        before = f"{to_pass} {under}"
        if cell_len(before) > passes + 3:
            return [Text(" " * (2 + passes) + f"{under} {to_pass}, {to_full}", style="dim")]
        row = " " * (3 + passes - cell_len(before)) + before
        row += f" {to_full}" if full == passes else " " * (full - passes - 1) + f"{under} {to_full}"
        return [Text(row, style="dim")]

    def _cell(self, ratio: float) -> int:
        return min(max(round(ratio / self.end * (self.cells - 1)), 0), self.cells - 1)


def mark_labels(pass_at: float, full_at: float, *, graded: bool) -> tuple[str, str]:
    """What is said at the two marks. `graded`: whether falling short of the first fails the exercise."""
    return f"{'pass' if graded else 'points'} {two_places(pass_at)}", f"all {two_places(full_at)}"


def two_places(ratio: float) -> str:
    """A mark with two decimals, or a third where it has one."""
    text = f"{ratio:.3f}"
    return text[:-1] if text.endswith("0") else text
