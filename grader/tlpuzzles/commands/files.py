"""The files and folders that a command line names."""

from __future__ import annotations

from pathlib import Path

from tlpuzzles.commands.output import warn
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.plain import one_line
from tlpuzzles.workspace.folders import Workspace, current_folder, find_workspace, from_here, is_shipped
from tlpuzzles.workspace.marker import MARKER


def file_of(exercise: Exercise, named: Path | None, command: str) -> Path:
    """The file that was named, else the workspace's. Raises UsageError where there is none to take."""
    if named is not None:
        from_here(named)  # that the current folder is gone is said before that there is no such file in it
        _check_path(exercise, named, command)
        return named
    path = workspace_here().file(exercise)
    if not path.exists():
        raise UsageError(f"Your workspace has no file {path}. `tlpuzzles init` puts back what is missing.")
    return path


def workspace_here() -> Workspace:
    """The workspace that the current folder is in. Raises NoWorkspace.

    Warns of one that is none: in a checkout of tlpuzzles the course's own exercises are found from everywhere.
    """
    workspace = find_workspace(current_folder())
    tell_of_checkout(workspace.root)
    return workspace


def tell_of_checkout(root: Path | None) -> None:
    """A warning, if the course itself keeps its exercises there."""
    first = catalog.exercises()[0]
    if root is None or not is_shipped(first, root):
        return
    below = (marker.parent for marker in current_folder().glob(f"*/{MARKER}"))
    mine = sorted(folder for folder in below if not is_shipped(first, folder))
    go = f"Yours may be in {mine[0]}." if mine else "Go to the folder that `tlpuzzles init` made for you, or run it."
    warn(f"{root} is the course's own copy: you are in a checkout of tlpuzzles. {go}")


def made(folder: Path, option: str) -> Path:
    """The folder that an option names, from / on. Raises UsageError if it cannot be made."""
    folder = from_here(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option}: the folder {one_line(folder)} cannot be made: {error.strerror}.") from None
    return folder.resolve()


def _check_path(exercise: Exercise, file: Path, command: str) -> None:
    """Raises UsageError for the name of an exercise where the path of a file is due."""
    if file.exists() or file.suffix or len(file.parts) != 1:
        return
    called = [other for other in (exercise, *catalog.exercises()) if catalog.resembles(other, file.name)]
    if called:
        raise UsageError(
            f"There is no file {one_line(file)}. If you mean the exercise {called[0].slug}, leave the path of a file "
            f"out: `tlpuzzles {command} {called[0].number}` takes your workspace's."
        )
