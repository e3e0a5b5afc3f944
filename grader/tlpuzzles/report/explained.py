"""One failed check in full: what happened, in which line, at which element, and in whose words."""

from __future__ import annotations

import os
from pathlib import Path

from rich.text import Text

from tlpuzzles.report.error_map import show_error_map
from tlpuzzles.report.layout import Page, nearby, together
from tlpuzzles.report.marks import STYLES, Marks
from tlpuzzles.report.reported import Reported
from tlpuzzles.report.severity import first_row
from tlpuzzles.verdict.error_map import CellState
from tlpuzzles.verdict.model import Check, Detail, Kind, Location, Verdict

SOURCE_ROWS = 2
"""Rows that a line of the learner's file may take: what is wrong with it often stands at its end."""


def explain(check: Check, page: Page, marks: Marks, reported: Reported) -> None:
    """Prints the check's title, its message and what its detail holds."""
    style = STYLES[check.verdict.value]
    mark = Text.assemble((marks.line * 2, style), " ", (marks.of(check), style), " ")
    title = Text(marks.one_line(title_of(check)), style=f"bold {style}")
    rest = page.width - mark.cell_len - title.cell_len - 1
    if rest >= 2:
        page.line(mark, title, " ", (marks.line * rest, style))
    else:
        page.paragraph(title, lead=mark)
    page.blank()
    page.paragraph(marks.clean(check.message), lead="  ")
    if check.detail is None:
        return
    if check.detail.location is not None:
        _location(check.detail.location, page, marks)
    if check.detail.error_map is not None:
        page.blank()
        show_error_map(check.detail.error_map, page, marks)
    rows = facts(check.detail, marks)
    if rows:
        page.blank()
        page.pairs(rows, indent=2)
    reported.show(check, "  ")


def title_of(check: Check) -> str:
    """What is explained, and whose fault it is where it is ours."""
    lead = "Our error, not yours: " if check.verdict is Verdict.ERROR else ""
    return lead + ("speed, " if check.kind is Kind.SPEED and check.title != "speed" else "") + check.title


def _location(location: Location, page: Page, marks: Marks) -> None:
    file = marks.one_line(nearby(location.file))
    page.blank()
    place = Text(file if location.line is None else f"{file}:{location.line}", style="bold")
    if os.environ.get("VTE_VERSION"):
        # Other terminals find FILE:LINE in the text by themselves; those built on VTE only follow links.
        place.stylize(f"link {Path(location.file).absolute().as_uri()}")
    page.line("  ", place)
    if location.source is not None and location.line is not None:
        gutter = Text.assemble(f"  {location.line:>4} ", (f"{marks.gutter} ", "cyan"))
        below = Text.assemble(" " * (gutter.cell_len - 2), (f"{marks.gutter} ", "cyan"))
        page.rows(marks.clean(location.source).strip(), lead=gutter, below=below, most=SOURCE_ROWS)


def facts(detail: Detail, marks: Marks) -> list[tuple[str, Text]]:
    """What is known of a wrong element and of the problem: names and values."""
    rows = []
    if detail.region and detail.mistake:
        # Other messages say where by themselves.
        rows.append(("where", Text(marks.clean(detail.region))))
    if detail.error_map is not None and (broken := first_row(detail.error_map)) is not None:
        rows.append(("breaks first in", Text(marks.clean(broken))))
    if detail.first_wrong is not None:
        rows.append(("first wrong element", Text(_index(detail))))
    if detail.expected is not None and detail.found is not None:
        rows.append(("expected", Text(_number(detail.expected), style="green")))
        rows.append(("found", Text(_found(detail, detail.found), style="red")))
    if detail.sizes is not None:
        sizes = [f"{name} = {size}" for name, size in detail.sizes.items()]
        parts = [*sizes, detail.dtype] if detail.dtype else sizes
        rows.append(("problem", Text(together(parts))))
    return rows


def _found(detail: Detail, found: float) -> str:
    if detail.error_map is not None and detail.error_map.first is CellState.UNWRITTEN:
        return "nothing: it was never written"
    return _number(found)


def _index(detail: Detail) -> str:
    index = detail.first_wrong or ()
    if detail.axes is None or len(detail.axes) != len(index):
        return f"[{', '.join(map(str, index))}]"
    if len(index) == 1:
        return f"index {index[0]}"
    if len(index) == 2:
        return f"row {index[0]}, column {index[1]}"
    return together([f"{name} = {place}" for name, place in zip(detail.axes, index, strict=True)])


def _number(value: float) -> str:
    return {"nan": "NaN", "inf": "infinity", "-inf": "-infinity"}.get(str(value), f"{value:.5g}")
