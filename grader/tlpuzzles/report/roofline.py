"""The roofline as a small plot: what this GPU allows at so many operations per byte, and what kernels make of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from rich.cells import cell_len
from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks

COLUMNS, ROWS = 60, 10
NARROWEST = 60
"""A page of fewer columns has no plot."""
INDENT = 4

X_TITLE, Y_TITLE = "FLOP per byte", "TFLOP/s"

AROUND = 3
"""The plot goes so many times beyond the outermost point, to either side."""
BESIDE_RIDGE = 8
"""And so many times beyond the problem that keeps memory and arithmetic equally busy."""

STEPS = (1, 5, 2)
"""Of a decade, those that are labelled where there is room, the most wanted first."""
MANY_DECADES = 1000
"""An axis from a value to so many times it has labels at powers of ten only."""

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""Bits of a Braille pattern: left and right column, from the top."""
_BRAILLE = 0x2800


@dataclass(frozen=True)
class Point:
    """A kernel or a baseline."""

    mark: str
    """One cell; an empty one is a baseline."""
    style: str
    flop_per_byte: float
    tflops: float


@dataclass(frozen=True)
class Roofs:
    """What this GPU can do at best, as measured."""

    copy_gbps: float
    matrix_tflops: float

    @property
    def ridge(self) -> float:
        """FLOP per byte of a problem that memory and arithmetic limit alike."""
        return self.matrix_tflops / self.copy_gbps * 1e3

    def at(self, flop_per_byte: float) -> float:
        """The TFLOP/s that are possible."""
        return min(self.matrix_tflops, flop_per_byte * self.copy_gbps / 1e3)


@dataclass(frozen=True)
class _Characters:
    axis: str
    y_tick: str
    corner: str
    floor: str
    x_tick: str
    baseline: str
    to_left: str
    to_right: str
    slope: tuple[str, str, str]
    """For the upper, middle and lower third of a cell, where there are no Braille patterns."""


_UNICODE = _Characters("│", "┤", "└", "─", "┬", "○", "◂", "▸", ("", "", ""))
_ASCII = _Characters("|", "+", "+", "-", "+", "o", "<", ">", ("'", "-", "."))


@dataclass(frozen=True)
class Axis:
    """Positions on a logarithmic scale, from 0 at `low` to 1 at `high`."""

    low: float
    high: float

    def place(self, value: float) -> float:
        return (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))

    def value(self, place: float) -> float:
        return float(10 ** (log10(self.low) + place * (log10(self.high) - log10(self.low))))

    def ticks(self) -> list[float]:
        """Round values in the range, those that are labelled first."""
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        steps = STEPS if self.high < MANY_DECADES * self.low else STEPS[:1]
        values = [step * 10.0**decade for step in steps for decade in decades]
        return [value for value in values if self.low <= value <= self.high]


def axes(roofs: Roofs, points: Sequence[Point], rows: int) -> tuple[Axis, Axis]:
    """FLOP per byte and TFLOP/s. All points and the ridge are inside, with room above for a label if the plot is as
    high as `rows` lines of text."""
    at, rates = [point.flop_per_byte for point in points], [point.tflops for point in points]
    x = Axis(min(min(at) / AROUND, roofs.ridge / BESIDE_RIDGE), max(max(at) * AROUND, roofs.ridge * BESIDE_RIDGE))
    lowest, highest = min(min(rates) / 2, roofs.at(x.low)), max(roofs.matrix_tflops, *rates)
    return x, Axis(lowest, highest * (highest / lowest) ** (1.5 / (rows - 2)))


def memory_label(gbps: float) -> str:
    return f"memory {gbps / 1e3:.2f} TB/s" if gbps >= 1e3 else f"memory {gbps:.0f} GB/s"


def arithmetic_label(tflops: float) -> str:
    return f"arithmetic {tflops:.0f} TFLOP/s"


def plot(roofs: Roofs, points: Sequence[Point], key: Text, baseline: str, page: Page, marks: Marks) -> None:
    """Prints it, as wide as the page allows; later points stand above earlier ones. `key` says what the kernels' marks
    are, `baseline` what those of baselines are, if one is to be seen."""
    _Plot(roofs, points, page, marks).show(key, baseline)


class _Plot:
    def __init__(self, roofs: Roofs, points: Sequence[Point], page: Page, marks: Marks) -> None:
        self.roofs, self.points, self.page, self.marks = roofs, points, page, marks
        self.characters = _ASCII if marks.is_ascii else _UNICODE
        self.x, self.y = axes(roofs, points, ROWS)
        labels = {value: f"{value:g}" for value in self.y.ticks()}
        self.gutter = max(map(cell_len, labels.values()), default=0)
        self.columns = min(COLUMNS, page.width - INDENT - self.gutter - 3 - cell_len(X_TITLE))
        self.cells: list[list[tuple[str, str]]] = [[(" ", "")] * self.columns for _ in range(ROWS)]
        rows = _apart(labels, self._row, lambda _: 2)
        self.row_labels = {self._row(value): labels[value] for value in rows}

    def show(self, key: Text, baseline: str) -> None:
        self._roof()
        self._points()
        self._label_roofs()
        indent, shown = " " * INDENT, self.characters
        head = Text.assemble(indent, (Y_TITLE.rjust(self.gutter), "dim"), "   ", key)
        if self._shows_baseline():
            head.append(f"   {shown.baseline} {baseline}", style="dim")
        self.page.line(head)
        for row, cells in enumerate(self.cells):
            label = self.row_labels.get(row, "")
            axis = shown.y_tick if label else shown.axis
            line = Text.assemble(indent, (f"{label:>{self.gutter}} {axis}", "dim"), *cells)
            line.rstrip()
            self.page.line(line)
        self._floor(indent)
        self._bounds(indent)

    def _floor(self, indent: str) -> None:
        labels = {value: f"{value:g}" for value in self.x.ticks()}
        ticks = _apart(labels, self._column, lambda label: cell_len(label) + 3)
        floor_, row = [self.characters.floor] * self.columns, [" "] * (self.columns + 4)
        for value in ticks:
            column, label = self._column(value), labels[value]
            floor_[column] = self.characters.x_tick
            begin = max(column - (len(label) - 1) // 2, 0)
            row[begin : begin + len(label)] = label
        blank = " " * (self.gutter + 1)
        self.page.line(indent, blank, (f"{self.characters.corner}{''.join(floor_)} {X_TITLE}", "dim"))
        self.page.line(indent, blank, " ", ("".join(row).rstrip(), "dim"))

    def _bounds(self, indent: str) -> None:
        """What limits a problem to the left and to the right of the ridge."""
        ridge = self._column(self.roofs.ridge)
        left, right = f"memory {self.characters.to_left} ", f"{self.characters.to_right} arithmetic"
        row = Text(indent + " " * (self.gutter + 2))
        row.append(left.rjust(ridge) if len(left) <= ridge else " " * ridge, style="dim")
        if row.cell_len + len(right) <= self.page.width:
            row.append(right, style="dim")
        row.rstrip()
        self.page.line(row)

    def _roof(self) -> None:
        if self.marks.is_ascii:
            self._roof_in_ascii()
            return
        dots = [[0] * self.columns for _ in range(ROWS)]
        before: int | None = None
        for across in range(2 * self.columns):
            allowed = self.roofs.at(self.x.value((across + 0.5) / (2 * self.columns)))
            down = round((1 - self.y.place(allowed)) * 4 * ROWS - 0.5)
            for dot in range(down, max(before or down, down + 1)):
                if 0 <= dot < 4 * ROWS:
                    dots[dot // 4][across // 2] |= _DOTS[across % 2][dot % 4]
            before = down
        for row, line in enumerate(dots):
            for column, bits in enumerate(line):
                if bits:
                    self.cells[row][column] = (chr(_BRAILLE + bits), "cyan")

    def _roof_in_ascii(self) -> None:
        for column in range(self.columns):
            value = self.x.value((column + 0.5) / self.columns)
            height = (1 - self.y.place(self.roofs.at(value))) * ROWS
            if height < ROWS:
                third = 1 if value > self.roofs.ridge else int(height % 1 * 3)
                self.cells[int(height)][column] = (self.characters.slope[third], "cyan")

    def _points(self) -> None:
        taken: set[tuple[int, int]] = set()
        for point in self.points:
            row, column = self._row(point.tflops), self._column(point.flop_per_byte)
            # Two kernels in one cell stand beside each other; one there hides its baseline.
            while point.mark and (row, column) in taken and column + 1 < self.columns:
                column += 1
            if point.mark:
                taken.add((row, column))
            self.cells[row][column] = (point.mark or self.characters.baseline, point.style)

    def _shows_baseline(self) -> bool:
        """Whether one is not hidden by a kernel."""
        places = {
            (self._row(point.tflops), self._column(point.flop_per_byte)) for point in self.points if not point.mark
        }
        return any(self.cells[row][column][0] == self.characters.baseline for row, column in places)

    def _label_roofs(self) -> None:
        label = arithmetic_label(self.roofs.matrix_tflops)
        row = self._row(self.roofs.matrix_tflops) - 1
        if not self._write(label, row, self.columns - len(label)):
            self._write(label, 0, self.columns - len(label))
        label = memory_label(self.roofs.copy_gbps)
        slope = {row: column for column in range(self.columns) for row in range(ROWS) if self._is_slope(row, column)}
        left = [row for row, column in sorted(slope.items()) if self._begin(row) - len(label) - 1 >= 0]
        for row in left[len(left) // 3 :] + left:
            if self._write(label, row, self._begin(row) - len(label) - 1):
                return
        for row, column in sorted(slope.items(), reverse=True):
            if self._write(label, row, column + 3):
                return

    def _is_slope(self, row: int, column: int) -> bool:
        return self.x.value(column / self.columns) < self.roofs.ridge and self.cells[row][column][1] == "cyan"

    def _begin(self, row: int) -> int:
        """The first column of a row that something stands in."""
        return next((column for column, (char, _) in enumerate(self.cells[row]) if char != " "), self.columns)

    def _write(self, text: str, row: int, column: int) -> bool:
        """Writes into cells that are free; says whether they are."""
        end = column + len(text)
        if not 0 <= row < ROWS or column < 0 or end > self.columns:
            return False
        if any(char != " " for char, _ in self.cells[row][max(column - 1, 0) : end + 1]):
            return False
        self.cells[row][column:end] = [(char, "dim") for char in text]
        return True

    def _row(self, tflops: float) -> int:
        return min(max(int((1 - self.y.place(tflops)) * ROWS), 0), ROWS - 1)

    def _column(self, flop_per_byte: float) -> int:
        return min(max(int(self.x.place(flop_per_byte) * self.columns), 0), self.columns - 1)


def _apart(labels: dict[float, str], cell: Callable[[float], int], room: Callable[[str], int]) -> list[float]:
    """The values, in this order, whose labels leave room to those before."""
    taken: list[float] = []
    for value, label in labels.items():
        if all(abs(cell(value) - cell(other)) >= max(room(label), room(labels[other])) for other in taken):
            taken.append(value)
    return taken
