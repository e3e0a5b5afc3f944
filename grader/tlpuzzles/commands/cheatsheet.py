"""`tlpuzzles cheatsheet`."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from tlpuzzles.commands.fitting import fitted
from tlpuzzles.commands.output import console, on_terminal
from tlpuzzles.workspace.documents import document
from tlpuzzles.workspace.hints import read_text


def cheatsheet() -> None:
    """See the TileLang language on one screen: what there is, and what to look out for.

    It holds for the TileLang that tlpuzzles is installed with. Into a pipe it writes plain lines.

    \b
    Examples:
      tlpuzzles cheatsheet
      tlpuzzles cheatsheet | grep -i copy
    """
    text = read_text(document("cheatsheet.md"))
    if not on_terminal():
        typer.echo("\n".join(line for _, line in _lines(text)))
        return
    _print(text)


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """The page's lines without Markdown's marks, and whether each is code. One blank line before each group."""
    code = False
    for line in text.splitlines():
        if line.startswith("```"):
            code = not code
        elif line.startswith("#") and not code:
            if line.startswith("## "):
                yield False, ""
            yield False, line.lstrip("# ")
        elif line:
            yield code, line


def _print(text: str) -> None:
    from rich.syntax import Syntax
    from rich.text import Text

    out = console()
    headings = {line.lstrip("# ") for line in text.splitlines() if line.startswith("#")}
    python = Syntax("", "python", theme="ansi_dark")
    for code, line in fitted(_lines(text), out.width):
        if code:
            shown = python.highlight(line)
            shown.rstrip()
            out.print(shown, soft_wrap=True)
        else:
            out.print(Text(line, style="bold" if line in headings else ""), soft_wrap=True)
