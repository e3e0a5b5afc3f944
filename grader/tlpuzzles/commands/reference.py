"""`tlpuzzles solution`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.output import on_terminal, print_markdown
from tlpuzzles.commands.paging import paged
from tlpuzzles.commands.remembering import own_workspace, pasts, warn
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.attempts import Past, State
from tlpuzzles.workspace.folders import Folders
from tlpuzzles.workspace.keeping import keep_given_up
from tlpuzzles.workspace.record import Unusable
from tlpuzzles.workspace.reference import Reference, reference

if TYPE_CHECKING:
    from rich.console import Console


def solution(
    name: ExerciseName,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="See it before you have passed. That you did is recorded.")
    ] = False,
) -> None:
    """Read the reference solution of an exercise that you have passed, with a guide to what it does, and why.

    The solutions are a distribution of their own, tlpuzzles-solutions, which a teacher may give you. Into a pipe the
    guide is written as comments, so that all of it is Python.

    \b
    Examples:
      tlpuzzles solution 6
      tlpuzzles solution 6 --give-up
      tlpuzzles solution 6 > reference.py
    """
    exercise = catalog.find(name)
    workspace = own_workspace(exercise)
    found = reference(exercise)
    past = pasts(workspace.root).get(exercise.slug, Past())
    if past.state not in (State.PASSED, State.GIVEN_UP):
        _give_up(exercise, workspace, give_up)
    with paged() as out:
        _print(exercise, found, out)


def _give_up(exercise: Exercise, workspace: Folders, wanted: bool) -> None:
    """Raises UsageError if it is not wanted, and typer.Abort if it is not meant."""
    number = exercise.number
    if not wanted:
        raise UsageError(
            f"You have not passed exercise {number} ({exercise.slug}) yet, and its solution is shown when you have.\n"
            f"To go on: tlpuzzles hint {number}. To give up and see it now: tlpuzzles solution {number} --give-up"
        )
    if on_terminal() and sys.stdin.isatty():
        question = f"See the solution of exercise {number} before you have passed it? That you looked is recorded."
        typer.confirm(question, abort=True)
    try:
        keep_given_up(workspace.root, exercise)
    except Unusable as error:
        warn(f"That you looked is not kept. {error}")


def _print(exercise: Exercise, found: Reference, out: Console) -> None:
    if not on_terminal():
        typer.echo(found.text, nl=False)
        if found.guide is not None:
            typer.echo("\n" + "\n".join(f"# {line}".rstrip() for line in found.guide.rstrip().split("\n")))
        return
    from rich.syntax import Syntax

    # The terminal's own colours, as lessons have them, on its own ground.
    out.print(Syntax(found.text.rstrip(), "python", theme="ansi_dark", line_numbers=True, word_wrap=True))
    if found.guide is not None:
        out.print()
        print_markdown(found.guide, out)
    out.print()
    out.print(f"Beside your own: [bold]tlpuzzles diff {exercise.number} --with solution[/]", soft_wrap=True)
