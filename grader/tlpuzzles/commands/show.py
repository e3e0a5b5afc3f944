"""`tlpuzzles show`."""

from __future__ import annotations

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.output import print_markdown
from tlpuzzles.course import catalog
from tlpuzzles.workspace.folders import current_folder, nearest
from tlpuzzles.workspace.hints import read_text


def show(name: ExerciseName) -> None:
    """Read the lesson of an exercise: the idea, the functions it needs, the task, and what is checked.

    Into a pipe it writes the lesson's Markdown as it is. No workspace is needed.

    \b
    Examples:
      tlpuzzles show 6
      tlpuzzles show flash_attention
      tlpuzzles show 6 > lesson.md
    """
    exercise = catalog.find(name)
    print_markdown(read_text(nearest(exercise, current_folder()).lesson(exercise)))
