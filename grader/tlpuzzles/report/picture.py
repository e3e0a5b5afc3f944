"""The map of a wrong output as an SVG picture, for reports that are pages: in light and in dark, and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tlpuzzles.report.described import describe, tell
from tlpuzzles.report.severity import MOSTLY, Severity, occurring, scale, severity, slices, span, where
from tlpuzzles.report.shades import CLASS, of_cell, on_cell, style_sheet
from tlpuzzles.verdict.error_map import Cell, ErrorMap, MapAxis

MARKS = dict(zip(Severity, " 1234INU", strict=True))
"""In each cell, for those who do not tell colours apart."""
ACROSS, HEIGHT = 480, 20
"""Columns take this width together, about; a row has this height, and a line of text."""
NARROWEST, WIDEST = 14, 32
GAP = 4
"""Between blocks, and 1 between cells."""
LEAST = 0.3
"""Of a cell is filled, however few of its elements are wrong."""
LETTER, EDGE = 7.5, 8
"""Width of a letter, about; the margin."""
SWATCH = 18
"""Side of a cell in the legend."""


def error_map_svg(shown: ErrorMap, name: str = CLASS) -> str:
    """The picture, to stand in a page or alone. `name` begins its identifiers: each picture of a page needs its own."""
    picture, title = _Picture(shown), _title(shown)
    wide = _wide(picture, title)
    legend = list(_legend(shown, picture.bottom + 12, wide))
    high = legend[-1].y + HEIGHT + EDGE
    svg = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": CLASS,
            "viewBox": f"0 0 {wide:g} {high:g}",
            "width": f"{wide:g}",
            "height": f"{high:g}",
            # As a style, too: pages that hold pictures to their own width make the letters of this one small.
            "style": f"max-width: none; width: {wide:g}px; height: {high:g}px",
            "role": "img",
            "aria-labelledby": f"{name}-title",
            "aria-describedby": f"{name}-desc",
        },
    )
    SubElement(svg, "title", id=f"{name}-title").text = title
    SubElement(svg, "desc", id=f"{name}-desc").text = describe(shown)
    SubElement(svg, "style").text = style_sheet()
    _write(svg, EDGE, EDGE + 12, title, f"{CLASS}-word {CLASS}-head")
    picture.draw(svg)
    for entry in legend:
        if entry.one is not None:
            _box(svg, entry.x, entry.y, (SWATCH, SWATCH), entry.one, entry.part)
        _write(svg, entry.x + (SWATCH + 5 if entry.one else 0), entry.y + 13, entry.words)
    indent(svg)
    return tostring(svg, encoding="unicode") + "\n"


def error_map_width(shown: ErrorMap) -> int:
    """How wide the picture is, in pixels."""
    return math.ceil(_wide(_Picture(shown), _title(shown)))


def _title(shown: ErrorMap) -> str:
    rest = slices(shown)
    return f"Where {where(shown)} ({rest})" if rest else f"Where {where(shown)}"


def _wide(picture: _Picture, title: str) -> float:
    return max(picture.right, EDGE + LETTER * len(title)) + EDGE


@dataclass(frozen=True)
class _Places:
    """Where cells begin along one direction."""

    start: float
    size: float
    a_block: int
    """Cells of a block."""

    def at(self, cell: int) -> float:
        return self.start + cell * self.size + (cell // self.a_block * GAP if self.a_block > 1 else 0)


class _Picture:
    """The cells and their axes."""

    def __init__(self, shown: ErrorMap) -> None:
        self.shown = shown
        down, across = shown.axes[0], shown.axes[-1]
        self.is_strip = len(shown.axes) == 1
        self.columns = len(shown.cells[0])
        self.labels = list(self._labels(down))
        self.corner = " \\ ".join(axis.name for axis in shown.axes)
        left = EDGE + LETTER * (max(map(len, (self.corner, *self.labels))) + 1)
        width = min(WIDEST, max(NARROWEST, ACROSS // self.columns))
        self.across = _Places(left, width, _in_a_block(across))
        self.down = _Places(EDGE + 2 * HEIGHT + 4, HEIGHT, 1 if self.is_strip else _in_a_block(down))
        self.ticks = list(self._ticks())
        last, index = self.ticks[-1]
        self.right = max(self.across.at(self.columns - 1) + width, last + LETTER * len(index))
        self.bottom = self.down.at(len(shown.cells) - 1) + HEIGHT

    def draw(self, svg: Element) -> None:
        top, beside = self.down.start - 6, self.across.start - LETTER
        _write(svg, beside, top, self.corner, anchor="end")
        for x, index in self.ticks:
            _write(svg, x, top, index)
        for row, (label, cells) in enumerate(zip(self.labels, self.shown.cells, strict=True)):
            _write(svg, beside, self.down.at(row) + 14, label, anchor="end")
            for column, cell in enumerate(cells):
                self._cell(svg, row, column, cell)

    def _labels(self, axis: MapAxis) -> Iterator[str]:
        start = 0
        for row in self.shown.cells:
            count = len(row) if self.is_strip else 1
            yield span(*axis.span(start, count))
            start += count

    def _ticks(self) -> Iterator[tuple[float, str]]:
        """The indices at which blocks begin, or cells: of each, or of every second, fourth, ... for want of room."""
        sign = "+" if self.is_strip and len(self.labels) > 1 else ""
        ticks = [
            (self.across.at(column), f"{sign}{self.shown.axes[-1].span(column)[0]}")
            for column in range(0, self.columns, self.across.a_block)
        ]
        step = 1
        while any(x + LETTER * (len(text) + 1) > other for (x, text), (other, _) in pairwise(ticks[::step])):
            step *= 2
        yield from ticks[::step]

    def _cell(self, svg: Element, row: int, column: int, cell: Cell) -> None:
        axis = self.shown.axes[-1]
        before = row * self.columns if self.is_strip else 0
        rows = "" if self.is_strip else f"{self.shown.axes[0].name} {self.labels[row]}, "
        said = f"{rows}{axis.name} {span(*axis.span(before + column))}: {tell(cell)}"
        if cell.error is not None:
            said += f"; the largest error is {100 * cell.error:.3g} %"
        group = SubElement(svg, "g", {"class": f"{CLASS}-cell"})
        SubElement(group, "title").text = said
        place = self.across.at(column), self.down.at(row)
        _box(group, *place, (self.across.size, HEIGHT), severity(cell), _filled(cell))


@dataclass(frozen=True)
class _Entry:
    x: float
    y: float
    one: Severity | None
    part: float
    words: str


def _legend(shown: ErrorMap, y: float, wide: float) -> Iterator[_Entry]:
    """What occurs, whole and in part, then what a cell is, in lines."""
    x = float(EDGE)
    mixed = next((cell for row in shown.cells for cell in row if _filled(cell) < 1), None)
    entries: list[tuple[Severity | None, float, str]] = [(one, 1.0, one.value) for one in occurring(shown)]
    entries += [] if mixed is None else [(severity(mixed), _filled(mixed), "in part")]
    for one, part, words in [*entries, (None, 1.0, scale(shown))]:
        takes = LETTER * len(words) + (SWATCH + 5 if one else 0)
        if x > EDGE and x + takes > wide:
            x, y = float(EDGE), y + HEIGHT + 2
        yield _Entry(x, y, one, part, words)
        x += takes + 2 * LETTER


def _filled(cell: Cell) -> float:
    """How much of its box."""
    return 1.0 if cell.part == 0 or cell.part >= MOSTLY else max(cell.part, LEAST)


def _in_a_block(axis: MapAxis) -> int:
    return max(1, axis.block // axis.cell) if axis.block else 1


def _box(parent: Element, x: float, y: float, size: tuple[float, float], one: Severity, part: float = 1.0) -> None:
    """A cell with its mark; filled from below as far as it is wrong."""
    wide, high = size[0] - 1, size[1] - 1
    if part < 1:
        _rectangle(parent, (x, y, wide, high), Severity.RIGHT)
    _rectangle(parent, (x, y + high * (1 - part), wide, high * part), one)
    if mark := MARKS[one].strip():
        # In the larger one of the two parts, so that it has one colour behind it.
        over, middle = (one, 1 - part / 2) if part >= 0.5 else (Severity.RIGHT, (1 - part) / 2)
        _write(parent, x + wide / 2, y + high * middle + 4, mark, on_cell(over), "middle")


def _rectangle(parent: Element, place: tuple[float, float, float, float], one: Severity) -> None:
    names = ("x", "y", "width", "height")
    numbers = {name: f"{value:.4g}" for name, value in zip(names, place, strict=True)}
    SubElement(parent, "rect", {**numbers, "class": of_cell(one)})


def _write(parent: Element, x: float, y: float, text: str, style: str = f"{CLASS}-word", anchor: str = "start") -> None:
    place = {"x": f"{x:.5g}", "y": f"{y:.5g}", "class": style}
    SubElement(parent, "text", place if anchor == "start" else {**place, "text-anchor": anchor}).text = text
