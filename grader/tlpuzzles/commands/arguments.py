"""Arguments that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer


def exercise_names(incomplete: str) -> list[tuple[str, str]]:
    """What a shell may complete an exercise's name to, each with its title."""
    from tlpuzzles.course import catalog
    from tlpuzzles.errors import UsageError

    try:
        exercises = catalog.exercises()
    except UsageError:  # to be told when the command is run, and not between two keys
        return []
    names = [(str(e.number) if incomplete.isdigit() else e.slug, e.title) for e in exercises]
    return [(name, title) for name, title in names if name.startswith(incomplete)]


def case_names(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """What a shell may complete a case's name to, once an exercise is named, each with its title."""
    from tlpuzzles.course import catalog
    from tlpuzzles.errors import UsageError
    from tlpuzzles.grading.plan import names

    # An option that still lacks its value leaves the words unread.
    name = context.params.get("name") or next(iter(context.args), None)
    try:
        exercise = catalog.find(str(name))
    except UsageError:
        return []
    titles = {case.id: case.title for case in (*exercise.cases, *(timing.case for timing in exercise.timings))}
    return [(name, titles.get(name, "")) for name in names(exercise) if name.startswith(incomplete)]


NAME = typer.Argument(
    metavar="N",
    show_default=False,
    help="The exercise: number, name or start of its name.",
    autocompletion=exercise_names,
)
ExerciseName = Annotated[str, NAME]
