"""Which file a command is about, and what is known of where it lies."""

from __future__ import annotations

from pathlib import Path

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.folders import current_folder, find_workspace, workspace_root
from tlpuzzles.workspace.marker import MARKER, read_marker


def file_of(exercise: Exercise, named: Path | None, command: str) -> Path:
    """The file that was named, else the workspace's. Raises UsageError where there is none to take."""
    if named is not None:
        _check_path(exercise, named, command)
        return named
    path = find_workspace(current_folder()).file(exercise)
    if not path.exists():
        raise UsageError(f"Your workspace has no file {path}. `tlpuzzles init` puts back what is missing.")
    return path


def class_arch(file: Path) -> str | None:
    """The GPU that the course.toml around here names, or, without one here, the one around the file."""
    root = workspace_root(current_folder()) or workspace_root(file.resolve().parent)
    return None if root is None else read_marker(root / MARKER).arch


def _check_path(exercise: Exercise, file: Path, command: str) -> None:
    """Raises UsageError for the name of an exercise where the path of a file is due."""
    if file.exists() or file.suffix or len(file.parts) != 1:
        return
    called = [other for other in (exercise, *catalog.exercises()) if catalog.resembles(other, file.name)]
    if called:
        raise UsageError(
            f"There is no file {file}. If you mean the exercise {called[0].slug}, leave the path of a file out: "
            f"`tlpuzzles {command} {called[0].number}` takes your workspace's."
        )
