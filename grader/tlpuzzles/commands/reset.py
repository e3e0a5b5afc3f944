"""`tlpuzzles reset`."""

from __future__ import annotations

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.remembering import own_workspace, put_in_place, tell
from tlpuzzles.course import catalog
from tlpuzzles.workspace.folders import shipped


def reset(name: ExerciseName) -> None:
    """Start an exercise over: its skeleton is put in the place of your file.

    What is in your file is kept first, as an attempt that `tlpuzzles restore` can put back.

    \b
    Examples:
      tlpuzzles reset 6
    """
    exercise = catalog.find(name)
    workspace = own_workspace(exercise)
    put = put_in_place(exercise, workspace, shipped(exercise).file(exercise).read_bytes())
    tell(put, exercise, workspace, "the skeleton")
