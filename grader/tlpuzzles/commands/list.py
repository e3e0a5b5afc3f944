"""`tlpuzzles list`."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from tlpuzzles.commands.output import console, on_terminal
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.workspace.folders import current_folder, workspace_root


def list_exercises() -> None:
    """List the exercises: number, name, and what each is about.

    Into a pipe it writes a line for each: number, name and summary, with tabs between them.

    \b
    Examples:
      tlpuzzles list
      tlpuzzles list | cut -f2
    """
    exercises = catalog.exercises()
    if not on_terminal():
        for exercise in exercises:
            typer.echo(f"{exercise.number}\t{exercise.slug}\t{exercise.summary}")
        return
    _print_table(exercises)


def _print_table(exercises: Sequence[Exercise]) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for exercise in exercises:
        table.add_row(str(exercise.number), exercise.slug, exercise.summary)
    out = console()
    out.print(table)
    out.print()
    if workspace_root(current_folder()) is None:
        out.print("To work on them, copy them with [bold]tlpuzzles init[/].")
    else:
        number = exercises[0].number
        out.print(
            f"The lesson: [bold]tlpuzzles show {number}[/]. To check what you wrote: [bold]tlpuzzles grade {number}[/]."
        )
