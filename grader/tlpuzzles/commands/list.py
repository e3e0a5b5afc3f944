"""`tlpuzzles list`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from tlpuzzles.commands.files import tell_of_checkout
from tlpuzzles.commands.output import console, on_terminal
from tlpuzzles.commands.remembering import pasts
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.workspace.attempts import Past
from tlpuzzles.workspace.folders import current_folder, workspace_root


def list_exercises() -> None:
    """List the exercises: number, name, what each is about, and how far you have come with it.

    Into a pipe it writes a line for each, with tabs between: number, name, summary, state ("not tried", "tried", "given
    up" or "passed"), points of the best attempt as in 60/60, its speed beside the library's, and how many tries there
    were. What is not known is left empty.

    \b
    Examples:
      tlpuzzles list
      tlpuzzles list | cut -f2,4
    """
    exercises = catalog.exercises()
    root = workspace_root(current_folder())
    tell_of_checkout(root)
    recorded = pasts(root)
    if not on_terminal():
        for exercise in exercises:
            typer.echo("\t".join(_row(exercise, recorded.get(exercise.slug, Past()))))
        return
    _print_table(exercises, recorded)
    out = console()
    out.print()
    if root is None:
        out.print("To work on them, copy them with [bold]tlpuzzles init[/].")
    elif recorded:
        out.print("All attempts: [bold]tlpuzzles progress[/].")
    else:
        number = exercises[0].number
        out.print(
            f"The lesson: [bold]tlpuzzles show {number}[/]. To check what you wrote: [bold]tlpuzzles grade {number}[/]."
        )


def _row(exercise: Exercise, past: Past) -> tuple[str, ...]:
    best, ratio = past.best, past.best_ratio
    return (
        str(exercise.number),
        exercise.slug,
        exercise.summary,
        past.state.value,
        "" if best is None else f"{best.earned}/{best.of}",
        "" if ratio is None else f"{ratio:.3f}",
        str(past.tries),
    )


def _print_table(exercises: Sequence[Exercise], recorded: Mapping[str, Past]) -> None:
    from rich.table import Table
    from rich.text import Text

    from tlpuzzles.report.history import standing, state_mark
    from tlpuzzles.report.marks import marks_for

    out = console()
    marks = marks_for(out)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    for exercise in exercises:
        past = recorded.get(exercise.slug, Past())
        text = Text(exercise.summary)
        if told := standing(past):
            separator = Text(f" {marks.separator} ", style="dim")
            text = Text.assemble(text, "\n", state_mark(past, marks), " ", separator.join(map(Text, told)))
        table.add_row(str(exercise.number), exercise.slug, text)
    out.print(table)
