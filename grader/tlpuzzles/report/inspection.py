"""The answer of `tlpuzzles inspect` for a person at a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from tlpuzzles.report.explained import explain
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks, marks_for
from tlpuzzles.report.pipelined import pipelined
from tlpuzzles.report.reported import Reported
from tlpuzzles.report.sights import landmark_lines, whole_source
from tlpuzzles.report.taken import taken
from tlpuzzles.report.tile_grids import tile_grids
from tlpuzzles.report.worded import worded_check
from tlpuzzles.seeing.model import Inspection
from tlpuzzles.verdict.model import Verdict


def show(found: Inspection, console: Console, *, title: str, whole: bool = False, verbose: bool = False) -> None:
    """Prints it. `title`: of the exercise. `whole`: with the source from end to end. `verbose`: with the messages of
    TileLang as they came."""
    marks = marks_for(console)
    page = Page(console, marks.ellipsis)
    _head(found, title, page, marks)
    check = None if found.problem is None else worded_check(found.problem)
    if check is not None and check.verdict is Verdict.SKIPPED:
        page.blank()
        page.paragraph(marks.clean(check.message), lead="  ")
    elif check is not None:
        page.blank()
        reported = Reported(page, marks, check, verbose=verbose)
        explain(check, page, marks, reported)
        reported.note()
    seen = found.seen
    if seen is None:
        page.blank()
        return
    heading(page, marks, "The source" if whole else "The source's landmarks")
    (whole_source if whole else landmark_lines)(seen, page, marks)
    heading(page, marks, "The tiles")
    tile_grids(seen.tiles, page, marks)
    heading(page, marks, "The pipeline" if len(seen.pipelines) < 2 else "The pipelines")
    pipelined(seen, page, marks)
    heading(page, marks, f"What a block takes of {_article(found.gpus)}")
    taken(seen, page, marks)
    page.blank()


def heading(page: Page, marks: Marks, title: str) -> None:
    """A line across the page with the title of what follows."""
    page.blank()
    lead = Text.assemble((marks.line * 2, "cyan"), " ")
    rest = max(page.width - lead.cell_len - len(title) - 1, 0)
    page.cut(lead, (title, "bold"), " ", (marks.line * rest, "cyan"))


def _head(found: Inspection, title: str, page: Page, marks: Marks) -> None:
    page.blank()
    page.paragraph(Text(f"{title}  for {_article(found.gpus)} ({found.arch})", style="bold"))
    parts = [marks.one_line(found.file)]
    if found.case:
        parts += [
            f"case {found.case}",
            *(f"{name} = {marks.one_line(value)}" for name, value in found.arguments.items()),
        ]
    separator = Text(f" {marks.separator} ", style="dim")
    page.flow([Text(part, style="dim") for part in parts], lead="", separator=separator)


def _article(gpus: str) -> str:
    name = gpus.partition(" and ")[0]
    return f"{'an' if name[0] in 'AHL' else 'a'} {gpus.replace(' and ', ' or ')}"
