"""One failed check in full: what happened, in which line, at which element, and in whose words."""

from __future__ import annotations

import os
from pathlib import Path

from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import STYLES, Marks
from tlpuzzles.verdict.model import Check, Detail, Location, Verdict

RAW_LINES = 8


def explain(check: Check, page: Page, marks: Marks) -> None:
    """Prints the check's title, its message and what its detail holds."""
    style = STYLES[check.verdict.value]
    lead = "Our error, not yours: " if check.verdict is Verdict.ERROR else ""
    title = Text.assemble((marks.of(check), style), " ", (lead + marks.clean(check.title), f"bold {style}"))
    rest = marks.line * max(page.width - 4 - title.cell_len, 2)
    page.line((marks.line * 2, style), " ", title, " ", (rest, style))
    page.blank()
    page.paragraph(marks.clean(check.message), lead="  ")
    if check.detail is None:
        return
    if check.detail.location is not None:
        _location(check.detail.location, page, marks)
    rows = _rows(check.detail, marks)
    if rows:
        page.blank()
        page.pairs(rows, indent=2)
    if check.detail.raw and not _adds_nothing(check.detail.raw, check.message):
        _raw(check.detail.raw, page, marks)


def _adds_nothing(raw: str, message: str) -> bool:
    """Whether all that was reported is in the message already."""
    told, said = " ".join(raw.split()), " ".join(message.split())
    # Python's own errors are reported with their type before them.
    return told in said or (told.partition(": ")[2] or told) in said


def _location(location: Location, page: Page, marks: Marks) -> None:
    file = marks.clean(location.file)
    page.blank()
    place = Text(file if location.line is None else f"{file}:{location.line}", style="bold")
    if os.environ.get("VTE_VERSION"):
        # Other terminals find FILE:LINE in the text by themselves; those built on VTE only follow links.
        place.stylize(f"link {Path(location.file).absolute().as_uri()}")
    page.line("  ", place)
    if location.source is not None and location.line is not None:
        page.cut(f"  {location.line:>4} ", (f"{marks.gutter} ", "cyan"), marks.clean(location.source).strip())


def _rows(detail: Detail, marks: Marks) -> list[tuple[str, Text]]:
    rows = []
    if detail.region and detail.mistake:
        # Other messages say where by themselves.
        rows.append(("where", Text(marks.clean(detail.region))))
    if detail.first_wrong is not None:
        rows.append(("first wrong", Text(_index(detail))))
    if detail.expected is not None and detail.found is not None:
        rows.append(("expected", Text(_number(detail.expected), style="green")))
        rows.append(("found", Text(_number(detail.found), style="red")))
    if detail.sizes is not None:
        sizes = ", ".join(f"{name} = {size}" for name, size in detail.sizes.items())
        rows.append(("problem", Text(sizes + (f", {detail.dtype}" if detail.dtype else ""))))
    return rows


def _index(detail: Detail) -> str:
    index = detail.first_wrong or ()
    if detail.axes is None or len(detail.axes) != len(index):
        return f"[{', '.join(map(str, index))}]"
    if len(index) == 2:
        return f"row {index[0]}, column {index[1]}"
    return ", ".join(f"{name} {place}" for name, place in zip(detail.axes, index, strict=True))


def _number(value: float) -> str:
    return {"nan": "NaN", "inf": "infinity", "-inf": "-infinity"}.get(str(value), f"{value:.5g}")


def _raw(raw: str, page: Page, marks: Marks) -> None:
    lines = marks.clean(raw).strip("\n").splitlines()
    page.blank()
    page.line(("  as it was reported", "dim"))
    for line in lines[:RAW_LINES]:
        page.cut((f"  {marks.gutter} ", "dim"), (line, "dim"))
    if len(lines) > RAW_LINES:
        page.line((f"  {marks.gutter} {marks.ellipsis} {len(lines) - RAW_LINES} more lines (see --json)", "dim"))
