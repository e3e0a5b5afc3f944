"""Setting text into the columns of a terminal, where rich has no block for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

WIDEST = 100
"""Columns that a report uses at most: longer lines are hard to read."""


BELOW = 6
"""Columns that a text is indented by which has no room beside what it belongs to."""

_JOINED = "\ue000"
"""Stands for a space at which no line may end, while lines are made; it is never printed."""


def together(parts: Iterable[str]) -> str:
    """A list such as "M = 3, N = 4" that a paragraph breaks between its parts only."""
    return ", ".join(part.replace(" ", _JOINED) for part in parts)


def unbroken(text: str) -> str:
    """The same list for a page that breaks lines by itself, but at no no-break space."""
    return text.replace(_JOINED, "\u00a0")


def nearby(file: str) -> str:
    """The name of a file as short as it can be given from here: a report has little room, and FILE:LINE can only be
    clicked where it is not broken over two lines."""
    try:
        return str(Path(file).relative_to(Path.cwd()))
    except (ValueError, OSError):  # elsewhere, or the current folder is gone
        return file


class Page:
    """A console that is written to line by line, each line already as wide as it shall be."""

    def __init__(self, console: Console, ellipsis: str) -> None:
        self.console = console
        self.width = min(console.width, WIDEST)
        self.ellipsis = ellipsis

    def blank(self) -> None:
        self.console.print()

    def line(self, *parts: str | Text | tuple[str, str]) -> None:
        """One line as it is: a terminal that is too narrow breaks it, and copying still gives one line."""
        self.console.print(Text.assemble(*parts), soft_wrap=True)

    def cut(self, *parts: str | Text | tuple[str, str]) -> None:
        """One line, its end left out where there is no room."""
        text = Text.assemble(*parts)
        if text.cell_len > self.width:
            text.truncate(self.width - cell_len(self.ellipsis))
            text.rstrip()
            text.append(self.ellipsis)
        self.line(text)

    def rows(self, text: str, *, lead: Text, below: Text, most: int) -> None:
        """Wrapped into `most` rows, the end of the last one left out where there is no room. `lead` stands before the
        first row, `below` before the others."""
        rows = [line.plain for line in self._wrapped(Text(text), max(self.width - lead.cell_len, 16))]
        if len(rows) > most:
            rows[most - 1 :] = [" ".join(rows[most - 1 :])]
        for row in rows:
            self.cut(lead, row)
            lead = below

    def paragraph(self, text: str | Text, *, lead: str | Text = "", style: str = "") -> None:
        """Wrapped between words; `lead` stands before the first line, and the others are indented by its width.

        Where the longest word has no room beside `lead`, the text begins below it.
        """
        text = Text(text, style=style) if isinstance(text, str) else text
        lead = Text(lead) if isinstance(lead, str) else lead
        indent = lead.cell_len
        longest = max((cell_len(word) for word in text.plain.split()), default=0)
        if indent > BELOW and longest > self.width - indent:
            lead.rstrip()
            self.line(lead)
            indent, lead = BELOW, Text(" " * BELOW)
        for line in self._wrapped(text, max(self.width - indent, 16)):
            self.line(lead, line)
            lead = Text(" " * indent)

    def _wrapped(self, text: Text, width: int) -> Iterator[Text]:
        for part in text.split("\n", allow_blank=True):
            part.plain = part.plain.replace(" %", f"{_JOINED}%")
            lines = part.wrap(self.console, width)
            for line in lines:
                line.rstrip()
                line.plain = line.plain.replace(_JOINED, " ")
                yield line
            if not lines:
                yield Text()

    def flow(self, items: Iterable[Text], *, lead: str | Text, separator: Text) -> None:
        """Items one behind the other, broken into lines between items; one that is too long for a line is wrapped.

        `lead` as in a paragraph.
        """
        row = Text(lead) if isinstance(lead, str) else lead
        indent = row.cell_len
        is_empty = True
        for item in items:
            if indent + item.cell_len > self.width:
                if not is_empty:
                    self.line(row)
                    row = Text(" " * indent)
                self.paragraph(item, lead=row)
                row, is_empty = Text(" " * indent), True
                continue
            if not is_empty and row.cell_len + separator.cell_len + item.cell_len > self.width:
                self.line(row)
                row, is_empty = Text(" " * indent), True
            row = Text.assemble(row, "" if is_empty else separator, item)
            is_empty = False
        if not is_empty:
            self.line(row)

    def pairs(self, rows: Sequence[tuple[str, Text]], *, indent: int) -> None:
        """Names and values in two columns, values wrapped."""
        widest = max((cell_len(name) for name, _ in rows), default=0)
        for name, value in rows:
            self.paragraph(value, lead=Text.assemble(" " * indent, (name.ljust(widest + 2), "dim")))
