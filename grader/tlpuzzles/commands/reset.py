"""`tlpuzzles reset`."""

from __future__ import annotations

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.output import console
from tlpuzzles.commands.remembering import own_workspace, put_in_place
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
    file = workspace.file(exercise)
    out = console()
    if not put.changed:
        out.print(f"{file} is the skeleton already.", soft_wrap=True, markup=False)
        return
    out.print(f"The skeleton is back in {file}", soft_wrap=True, markup=False)
    if put.kept is not None:
        again = f"tlpuzzles restore {exercise.number} --attempt {put.kept}"
        out.print(f"What was there is attempt {put.kept}: [bold]{again}[/]", soft_wrap=True)
