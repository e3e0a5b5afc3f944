"""`tlpuzzles progress`."""

from __future__ import annotations

from tlpuzzles.commands.output import console
from tlpuzzles.commands.remembering import pasts
from tlpuzzles.course import catalog
from tlpuzzles.verdict.worth import worth
from tlpuzzles.workspace.attempts import Past
from tlpuzzles.workspace.folders import current_folder, find_workspace


def progress() -> None:
    """See how you have come through the course: every attempt, how points and speed grew, and what is next.

    A mark stands for each grading of your workspace's files, the first one on the left. `tlpuzzles restore N` lists the
    attempts of an exercise with their numbers, `tlpuzzles diff N` shows what has changed since.

    \b
    Examples:
      tlpuzzles progress
    """
    from tlpuzzles.report.journey import Stage, show

    recorded = pasts(find_workspace(current_folder()).root)
    stages = [
        Stage(exercise.number, exercise.title, recorded.get(exercise.slug, Past()), worth(timed=bool(exercise.timings)))
        for exercise in catalog.exercises()
    ]
    show(stages, console())
