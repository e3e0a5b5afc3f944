"""The map of a wrong output in a terminal: a few characters for each cell, in rows of the output's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks
from tlpuzzles.report.severity import MOSTLY, Severity, occurring, others, scale, severity, slices, span, where
from tlpuzzles.verdict.error_map import Cell, ErrorMap, MapAxis

WIDEST = 48
"""Columns of the cells at most, without what stands between blocks."""
WIDEST_CELL = 4
FOLDED = 3
"""Rows that are left, about, of a map in which all are alike."""
LINES = 9
"""Of rows and what stands between blocks; more rows stand without."""

STYLES = {
    Severity.RIGHT: "green",
    Severity.SLIGHT: "yellow",
    Severity.SOME: "yellow",
    Severity.MUCH: "red",
    Severity.ALL: "bold red",
    Severity.INFINITE: "bold magenta",
    Severity.NAN: "bold magenta",
    Severity.UNWRITTEN: "bold cyan",
}
_STEPS = (Severity.RIGHT, Severity.SLIGHT, Severity.SOME, Severity.MUCH, Severity.ALL)
_LETTERS = {Severity.INFINITE: "I", Severity.NAN: "N", Severity.UNWRITTEN: "U"}
_UNICODE = _LETTERS | dict(zip(_STEPS, "·░▒▓█", strict=True))
_ASCII = _LETTERS | dict(zip(_STEPS, ".1234", strict=True))


def show_error_map(shown: ErrorMap, page: Page, marks: Marks) -> None:
    """Prints the map with its axes and a legend: a dozen lines, about."""
    drawn = _Drawn(shown, page, marks)
    page.paragraph(drawn.title(), lead="  ")
    for line in (drawn.header(), *drawn.lines()):
        page.line(line)
    page.flow(drawn.legend(), lead="  ", separator=Text("   "))


class _Drawn:
    def __init__(self, shown: ErrorMap, page: Page, marks: Marks) -> None:
        self.shown = shown
        self.marks = marks
        self.glyphs = _ASCII if marks.is_ascii else _UNICODE
        self.down, self.across = shown.axes[0], shown.axes[-1]
        self.is_strip = len(shown.axes) == 1
        self.fold = self._fold()
        self.rows = [(self._label(start), shown.cells[start]) for start in range(0, len(shown.cells), self.fold)]
        self.corner = marks.clean(" \\ ".join(axis.name for axis in shown.axes))
        self.indent = 2 + max(len(label) for label in (*(label for label, _ in self.rows), self.corner)) + 1
        self.columns = max(map(len, shown.cells))
        self.a_block = _in_a_block(self.across)
        gaps = (self.columns - 1) // self.a_block if self.a_block > 1 else 0
        apart, close = (self._width(page.width - self.indent - taken) for taken in (gaps, 0))
        # A cell of one character cannot show that only a part of it is wrong.
        self.has_gaps = gaps > 0 and (apart > 1 or apart == close)
        self.width = max(1, apart if self.has_gaps else close)

    def _width(self, room: int) -> int:
        return min(WIDEST_CELL, min(WIDEST, room) // self.columns)

    def title(self) -> Text:
        text = Text.assemble((self.marks.clean(f"Where {where(self.shown)}"), "bold"))
        rest = slices(self.shown)
        return text.append(f" ({rest})", style="dim") if rest else text

    def header(self) -> Text:
        """The indices at which cells begin: the first of every block, or of as many as there is room for."""
        row = Text(f"{self.corner:>{self.indent - 1}} ", style="dim")
        ticks = [self._tick(cell) for cell in range(self.columns)]
        step = self.a_block
        while self._overlaps(ticks, step):
            step *= 2
        for cell in range(0, self.columns, step):
            row.append(" " * (self._column(cell) - row.cell_len) + ticks[cell])
        return row

    def _overlaps(self, ticks: Sequence[str], step: int) -> bool:
        places = range(0, self.columns, step)
        return any(self._column(one) + len(ticks[one]) >= self._column(other) for one, other in pairwise(places))

    def _tick(self, cell: int) -> str:
        index = self.across.span(cell)[0]
        return f"+{index}" if self.is_strip and len(self.rows) > 1 else str(index)

    def lines(self) -> Iterator[Text]:
        """The rows, with a blank line between those of different blocks where there is room for it."""
        block = _in_a_block(self.down)
        between = (len(self.rows) - 1) // block
        has_gaps = not self.is_strip and self.fold == 1 and block > 1 and len(self.rows) + between <= LINES
        for number, (label, cells) in enumerate(self.rows):
            if has_gaps and number and number % block == 0:
                yield Text()
            row = Text.assemble((f"{label:>{self.indent - 1}} ", "dim"))
            for place, same in groupby(enumerate(cells), key=lambda numbered: self._gap(numbered[0])):
                row.append(" " * (self._column(place * self.a_block) - row.cell_len) if self.has_gaps else "")
                row.append_text(self._characters([one for _, cell in same for one in self._shown(cell)]))
            yield row

    def _gap(self, cell: int) -> int:
        """How many stand between the first cell of a row and this one."""
        return cell // self.a_block if self.has_gaps else 0

    def _shown(self, cell: Cell) -> list[Severity]:
        """As many of its characters as of its elements are wrong, but one in any case, and one for what is rarer."""
        filled = self.width
        if cell.part < MOSTLY:
            filled = max(1, min(self.width - 1, round(cell.part * self.width)))
        shown = [severity(cell)] * filled + [Severity.RIGHT] * (self.width - filled)
        if (rare := others(cell)) and self.width > 1:
            shown[max(1, filled - 1)] = rare[0]
        return shown

    def _characters(self, shown: Sequence[Severity]) -> Text:
        runs = ((one, len(list(same))) for one, same in groupby(shown))
        return Text.assemble(*((self.glyphs[one] * count, STYLES[one]) for one, count in runs))

    def legend(self) -> list[Text]:
        items = [Text.assemble((self.glyphs[one], STYLES[one]), f" {one.value}") for one in occurring(self.shown)]
        mixed = next((cell for row in self.shown.cells for cell in row if 0 < cell.part < MOSTLY), None)
        if mixed is not None and self.width > 1:
            items.append(Text.assemble(self._characters(self._shown(mixed)), " in part"))
        return [*items, Text(scale(self.shown), style="dim")]

    def _column(self, cell: int) -> int:
        return self.indent + cell * self.width + self._gap(cell)

    def _fold(self) -> int:
        """How many rows make one, in a map of which a row tells all."""
        rows = [[(severity(cell), *others(cell), cell.part < MOSTLY) for cell in row] for row in self.shown.cells]
        alike = len({one for row in rows for one in row}) == 1 if self.is_strip else all(row == rows[0] for row in rows)
        if not alike:
            return 1
        block = 1 if self.is_strip else _in_a_block(self.down)
        return -(-len(rows) // FOLDED // block) * block

    def _label(self, row: int) -> str:
        rows = self.shown.cells
        if not self.is_strip:
            return span(*self.down.span(row, self.fold))
        return span(*self.down.span(row * len(rows[0]), sum(map(len, rows[row : row + self.fold]))))


def _in_a_block(axis: MapAxis) -> int:
    """Cells of a block along an axis, 1 where it has none or a cell holds several."""
    return max(1, axis.block // axis.cell) if axis.block else 1
