"""`tlpuzzles hint`."""

from __future__ import annotations

from typing import Annotated

import typer

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.output import console, on_terminal, print_markdown
from tlpuzzles.commands.reading import for_terminal
from tlpuzzles.commands.remembering import keep_hint
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.workspace.folders import current_folder
from tlpuzzles.workspace.hints import hint_at, read_hints


def hint(
    name: ExerciseName,
    level: Annotated[int, typer.Option(metavar="K", help="Which hint. The last one shows lines of the solution.")] = 1,
) -> None:
    """Get a hint for an exercise.

    The first hint asks a question, the next ones tell more and more. The last one shows the lines of the solution that
    matter, and only you decide whether to see it: without --level you get the first.

    \b
    Examples:
      tlpuzzles hint 6
      tlpuzzles hint 6 --level 2
    """
    exercise = catalog.find(name)
    print_hint(
        exercise,
        level,
        further=f"[bold]tlpuzzles hint {exercise.number} --level {level + 1}[/]",
        lesson=f"[bold]tlpuzzles show {exercise.number}[/]",
    )


def print_hint(exercise: Exercise, level: int, *, further: str, lesson: str) -> None:
    """Prints a hint, and how to get the next one, or the lesson after the last (with rich's markup). Raises UsageError
    for a level that there is not."""
    here = current_folder()
    hints = read_hints(exercise, here)
    text = hint_at(exercise, hints, level)
    out = console()
    is_piped = not out.is_terminal
    out.print(f"[bold]{exercise.number} {exercise.slug}[/]: hint {level} of {len(hints)}", soft_wrap=is_piped)
    out.print()
    print_markdown(for_terminal(text) if on_terminal() else text)
    out.print()
    if level < len(hints) - 1:
        out.print(f"More help: {further}", soft_wrap=is_piped)
    elif level == len(hints) - 1:
        told = f"One hint is left. Level {level + 1} shows lines of the solution: try once more before you look."
        out.print(told, soft_wrap=is_piped)
        out.print(f"To see it: {further}", soft_wrap=is_piped)
    else:
        out.print(f"This was the last hint. The lesson: {lesson}", soft_wrap=is_piped)
    keep_hint(exercise, level, here)
