"""A generated CUDA source: its landmarks alone, or all of it with a margin."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks
from tlpuzzles.seeing.model import Seen, Sight

STYLES = {
    "launch bounds": "bold",
    "loop": "bold",
    "warps": "bold magenta",
    "cp.async": "blue",
    "TMA load": "blue",
    "TMA store": "blue",
    "vector load": "blue",
    "vector store": "blue",
    "barrier": "red",
    "mbarrier": "red",
    "ldmatrix": "cyan",
    "stmatrix": "cyan",
    "mma": "green",
    "wgmma": "green",
    "reduction": "yellow",
}
"""By kind: what moves data, what waits, what computes."""
PLACES = 11
"""The most columns for lines' numbers."""
NARROW = 76


def landmark_lines(seen: Seen, page: Page, marks: Marks) -> None:
    """One row for each landmark: lines, kind, plain words."""
    widest = max((len(sight.kind) for sight in seen.sights), default=0)
    places = [_places(sight.lines, marks) for sight in seen.sights]
    for sight, where in zip(seen.sights, places, strict=True):
        lead = Text.assemble("  ", (where.rjust(max(map(len, places))), "dim"), "  ")
        name = Text(sight.kind, style=STYLES.get(sight.kind, "default"))
        if page.width < NARROW:
            page.paragraph(Text.assemble(name, "  ", sight.says), lead=lead)
        else:
            page.paragraph(sight.says, lead=Text.assemble(lead, name, " " * (widest + 2 - len(sight.kind))))
    page.blank()
    count = len(seen.source.splitlines())
    page.paragraph(f"{count} lines; --source shows them all.", lead="  ", style="dim")


def whole_source(seen: Seen, page: Page, marks: Marks) -> None:
    """Every line with its number, and above a landmark what it is. Lines are not cut: they can be copied."""
    says: dict[int, list[Sight]] = {}
    for sight in seen.sights:
        for number in sight.lines:
            says.setdefault(number, []).append(sight)
    lines = seen.source.splitlines()
    digits = len(str(len(lines)))
    for number, line in enumerate(lines, 1):
        for sight in says.get(number, ()):
            lead = Text.assemble(" " * digits, " ", (marks.arrow, STYLES.get(sight.kind, "bold")), " ")
            page.paragraph(Text(sight.says, style=STYLES.get(sight.kind, "bold")), lead=lead)
        gutter = (f"{number:>{digits}} {marks.gutter} ", "dim")
        page.line(gutter, (marks.clean(line), "" if number in says else "dim"))


def _places(lines: Sequence[int], marks: Marks) -> str:
    """ "35, 39"; "36-43"; of many the first and how many more."""
    if len(lines) > 1 and lines[-1] - lines[0] == len(lines) - 1:
        return f"{lines[0]}-{lines[-1]}"
    text = ", ".join(map(str, lines))
    return text if len(text) <= PLACES else f"{lines[0]} {marks.ellipsis} {lines[-1]}"
