"""`tlpuzzles hint`."""

from __future__ import annotations

from typing import Annotated

import typer

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.output import console, print_markdown
from tlpuzzles.course import catalog
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.folders import current_folder, nearest
from tlpuzzles.workspace.hints import read_text, split_hints


def hint(
    name: ExerciseName,
    level: Annotated[int, typer.Option(metavar="K", help="Which hint; each goes further than the one before.")] = 1,
) -> None:
    """Get a hint for an exercise.

    The first hint asks a question, the last one shows the lines that matter. Without --level you get the first.

    \b
    Examples:
      tlpuzzles hint 6
      tlpuzzles hint 6 --level 2
    """
    exercise = catalog.find(name)
    path = nearest(exercise, current_folder()).hints(exercise)
    text = read_text(path)
    try:
        hints = split_hints(text)
    except ValueError as error:
        raise UsageError(f'{path} cannot be used: {error}, not "## Level 1", "## Level 2", ...') from None
    if not hints:
        raise UsageError(f'{path} has no hints: no heading "## Level 1" was found in it.')
    if not 1 <= level <= len(hints):
        raise UsageError(f"Exercise {exercise.number} has {len(hints)} hints: --level goes from 1 to {len(hints)}.")
    out = console()
    out.print(f"[bold]{exercise.number} {exercise.slug}[/]: hint {level} of {len(hints)}")
    out.print()
    print_markdown(hints[level - 1])
    out.print()
    if level < len(hints):
        out.print(f"More help: [bold]tlpuzzles hint {exercise.number} --level {level + 1}[/]")
    else:
        out.print(f"This was the last hint. The lesson: [bold]tlpuzzles show {exercise.number}[/]")
