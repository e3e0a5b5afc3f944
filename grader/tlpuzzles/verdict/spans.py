"""A set of indices along one axis, in words: "the last 36 rows (64 to 99)", "every second head (1, 3, 5, ...)"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

TILES = (256, 128, 64, 32, 16)
"""Tile sizes that explain a ragged end: what people choose along an axis."""

TILE_SIDE = 8
"""Sides of tiles are multiples of it. Runs at other distances come together by chance, most often as a few elements
that are right in a wrong output."""
STRIDES = (2, 4)
"""... but for single indices and pairs that a loop takes or leaves out."""

LISTED = 4
"""At most so many runs of indices are named one by one."""

WINDOW = 9
FILL = 0.5
"""An index counts as wrong if this part of the WINDOW around it is: single elements may be right by chance."""
NEARLY = 0.98
"""... and all from the first to the last do if this part of them does."""

MOST = 0.9
"""A part of an axis that counts as all of it where the rest lies here and there."""


@dataclass(frozen=True)
class Axis:
    """What the indices along one axis of an output are called."""

    name: str
    size: int
    singular: str
    plural: str
    along: str = ""
    """Put behind the noun: " along seq_len"."""

    def noun(self, count: int) -> str:
        return (self.singular if count == 1 else self.plural) + self.along


def axes(names: Sequence[str], sizes: Sequence[int]) -> list[Axis]:
    """The axes of an output, named as in the exercise's contract; those of a matrix are rows and columns."""
    if len(sizes) == 1:
        return [Axis(names[0], sizes[0], "element", "elements")]
    if len(sizes) == 2:
        return [Axis(names[0], sizes[0], "row", "rows"), Axis(names[1], sizes[1], "column", "columns")]
    return [_named(name, size) for name, size in zip(names, sizes, strict=True)]


def _named(name: str, size: int) -> Axis:
    if name == "batch":
        return Axis(name, size, "batch entry", "batch entries")
    if name == "heads":
        return Axis(name, size, "head", "heads")
    return Axis(name, size, "position", "positions", f" along {name}")


class Spans:
    """Some of the indices along an axis, at least one, as runs of neighbours."""

    def __init__(self, axis: Axis, touched: NDArray[np.bool_]) -> None:
        self.axis = axis
        self.count = int(touched.sum())
        self.touched = touched
        steps = np.diff(touched.astype(np.int8), prepend=0, append=0)
        self.firsts = np.flatnonzero(steps == 1)
        self.lasts = np.flatnonzero(steps == -1) - 1

    @property
    def runs(self) -> int:
        return len(self.firsts)

    @property
    def first(self) -> int:
        return int(self.firsts[0])

    @property
    def last(self) -> int:
        return int(self.lasts[-1])

    @property
    def is_all(self) -> bool:
        return self.count == self.axis.size

    @property
    def is_periodic(self) -> bool:
        return self._period is not None

    @property
    def is_regular(self) -> bool:
        """Whether there is a plain way to say which indices they are."""
        return self.runs <= LISTED or self.is_periodic

    @cached_property
    def is_ragged_end(self) -> bool:
        """Whether they are what full tiles of some usual size leave over at the end of the axis."""
        at_end = self.runs == 1 and self.first > 0 and self.last == self.axis.size - 1
        return at_end and any(self.first % tile == 0 and self.count < tile for tile in TILES)

    @property
    def is_all_but_the_first(self) -> bool:
        at_end = self.runs == 1 and self.count > 1 and self.last == self.axis.size - 1
        return at_end and 0 < self.first <= self.axis.size // 2

    @property
    def is_nearly_all(self) -> bool:
        """Whether what is missing is little and has no place of its own."""
        return self.runs > 2 and not self.is_periodic and self.count >= MOST * self.axis.size

    def filled(self) -> Spans:
        """The same with small gaps in longer runs closed: they look like elements right by chance."""
        if self.axis.size < 4 * WINDOW:
            return self
        # Both ends are mirrored, so that a run that reaches an end is not worn off there.
        padded = np.pad(self.touched.astype(np.float64), WINDOW // 2, mode="symmetric")
        share = np.convolve(padded, np.full(WINDOW, 1 / WINDOW), mode="valid")
        filled = self.touched | (share >= FILL)
        between = filled[self.first : self.last + 1]
        if between.mean() >= NEARLY:
            between[:] = True
        return Spans(self.axis, filled)

    def words(self) -> str:
        """Names them; "" if they are all indices of the axis."""
        if self.is_all:
            return ""
        if self.runs == 1:
            return self._one_run()
        return self._all_but_the_middle() or self._periodic() or self._listed()

    def _run(self, number: int) -> str:
        first, last = int(self.firsts[number]), int(self.lasts[number])
        return f"{first}" if first == last else f"{first} to {last}"

    def _one_run(self) -> str:
        axis, end = self.axis, self.axis.size - 1
        run = self._run(0)
        if self.is_all_but_the_first:
            return f"all {axis.plural} but the first {_number(self.first)}{axis.along} ({run})"
        if self.first == 0 and self.count > 1 and end - self.last <= axis.size // 2:
            return f"all {axis.plural} but the last {_number(end - self.last)}{axis.along} ({run})"
        count = "" if self.count == 1 else f"{self.count} "
        if self.last == end:
            return f"the last {count}{axis.noun(self.count)} ({run})"
        if self.first == 0:
            return f"the first {count}{axis.noun(self.count)} ({run})"
        return f"{axis.singular if self.count == 1 else axis.plural} {run}{axis.along}"

    def _all_but_the_middle(self) -> str:
        axis = self.axis
        if self.runs != 2 or self.first != 0 or self.last != axis.size - 1 or 3 * self.count < 2 * axis.size:
            return ""
        first, last = int(self.lasts[0]) + 1, int(self.firsts[1]) - 1
        hole = f"{first}" if first == last else f"{first} to {last}"
        return f"all {axis.plural}{axis.along} but {hole}"

    @cached_property
    def _period(self) -> tuple[int, int] | None:
        """(period, length of a run) of runs that come at one distance, the outermost perhaps cut off by an end."""
        if self.runs < 3:
            return None
        firsts, lengths, end = self.firsts, self.lasts - self.firsts + 1, self.axis.size - 1
        period, length = int(self.lasts[1] - self.lasts[0]), int(lengths[1])
        regular = (np.diff(firsts[1:]) == period).all() and (lengths[1:-1] == length).all()
        begins = lengths[0] == length or (lengths[0] < length and self.first == 0)
        ends = lengths[-1] == length or (lengths[-1] < length and self.last == end)
        complete = self.first < period and end - self.last < period
        known = period in STRIDES or period % TILE_SIDE == 0
        return (period, length) if known and regular and begins and ends and complete else None

    def _periodic(self) -> str:
        if self._period is None:
            return ""
        period, length = self._period
        axis = self.axis
        examples = ", ".join(self._run(number) for number in range(3)) + (", ..." if self.runs > 3 else "")
        if length == 1:
            return f"every {_ordinal(period)} {axis.noun(1)} ({examples})"
        if period == 2 * length:
            return f"every other block of {length} {axis.noun(length)} ({examples})"
        place = {0: "the first ", period - length: "the last "}.get(self.first, "")
        return f"{place}{length} of every {period} {axis.noun(period)} ({examples})"

    def _listed(self) -> str:
        axis = self.axis
        if self.runs <= LISTED:
            *most, last = (self._run(number) for number in range(self.runs))
            return f"{axis.plural} {', '.join(most)} and {last}{axis.along}"
        examples = ", ".join(self._run(number) for number in range(3))
        return f"{self.count} of {axis.size} {axis.noun(axis.size)} ({examples}, ...)"


def _number(count: int) -> str:
    return "one" if count == 1 else str(count)


def _ordinal(number: int) -> str:
    if number == 2:
        return "second"
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
