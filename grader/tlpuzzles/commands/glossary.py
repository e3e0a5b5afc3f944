"""`tlpuzzles glossary`."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Annotated

import typer

from tlpuzzles.commands.output import console, on_terminal, print_markdown
from tlpuzzles.commands.reading import for_terminal
from tlpuzzles.workspace.documents import document
from tlpuzzles.workspace.glossary import Term, find, read_terms
from tlpuzzles.workspace.hints import read_text

WIDTH = 80


def glossary(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORD]", show_default=False, help="The word; without one, they are listed."),
    ] = None,
) -> None:
    """Look up a word of the course: tile, fragment, occupancy, ...

    Abbreviations and plurals are found too, and a word can be given by its beginning.

    \b
    Examples:
      tlpuzzles glossary
      tlpuzzles glossary fragment
      tlpuzzles glossary shared memory
    """
    terms = read_terms(read_text(document("glossary.md")))
    if not words:
        _list(terms)
        return
    term = find(terms, " ".join(words))
    out = console()
    out.print(f"[bold]{term.word}[/]")
    out.print()
    print_markdown(_filled(for_terminal(term.text)))
    names = {other.anchor: other.word for other in terms}
    related = [names[anchor] for anchor in term.links if anchor in names]
    if related:
        out.print()
        out.print(f"See also: {', '.join(map(in_a_sentence, related))}")


def _filled(text: str) -> str:
    """Paragraphs with lines of one length: where a link was, a line may have little left."""
    return "\n\n".join(fill(part, WIDTH, break_long_words=False, break_on_hyphens=False) for part in text.split("\n\n"))


def in_a_sentence(word: str) -> str:
    """A heading as it is written inside a sentence: only abbreviations keep their capitals."""
    first = word.split()[0]
    return word[0].lower() + word[1:] if first[1:].islower() or len(first) == 1 else word


def _list(terms: Sequence[Term]) -> None:
    words = [in_a_sentence(term.word) for term in terms]
    if not on_terminal():
        typer.echo("\n".join(words))
        return
    from rich.columns import Columns

    out = console()
    out.print(Columns(words, column_first=True, padding=(0, 3)))
    out.print()
    out.print("To look one up: [bold]tlpuzzles glossary WORD[/]")
