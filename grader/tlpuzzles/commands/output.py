"""How commands print: with rich on a terminal, as plain lines into a pipe or file."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tlpuzzles.plain import one_line
from tlpuzzles.wording import here

if TYPE_CHECKING:
    from rich.console import Console


def on_terminal() -> bool:
    """Whether standard output is looked at by a person. Asks before rich is imported, which takes its time."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def console(*, stderr: bool = False) -> Console:
    """A console that colours nothing by guess: numbers and paths in our sentences stay as they are."""
    from tlpuzzles.commands.telling import Telling

    return Telling(stderr=stderr, highlight=False)


def print_error(message: str) -> None:
    """Prints an error to standard error, for a person."""
    from rich.text import Text

    # Not wrapped when piped: a path that is broken over two lines cannot be found by a program.
    out = console(stderr=True)
    out.print(Text.assemble(("Error: ", "bold red"), plain(here(message))), soft_wrap=not out.is_terminal)


def warn(text: str) -> None:
    """One line on standard error."""
    console(stderr=True).print(f"Warning: {one_line(text)}", style="yellow", markup=False, soft_wrap=True)


def plain(text: str) -> str:
    """Text of several lines, like an error's, without what would drive the terminal."""
    return "".join(char if char == "\n" or char.isprintable() else "?" for char in text)


def print_quiet(message: str) -> None:
    """Prints a remark below a report, on one line."""
    console().print(f"  {one_line(message)}", style="dim", markup=False, soft_wrap=True)


def print_markdown(text: str, out: Console | None = None) -> None:
    """Prints a lesson or a hint: rendered on a terminal, there perhaps with this console, else as it was written."""
    text = here(text)
    if not on_terminal():
        import typer

        typer.echo(text.rstrip())
        return
    from rich.markdown import Markdown

    (out or console()).print(Markdown(text, code_theme="ansi_dark"))
