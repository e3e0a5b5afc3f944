"""Finds an exercise's files: in a learner's workspace, in a checkout, or in an installed wheel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.marker import MARKER, Marker, read_marker


class NoWorkspace(UsageError):
    """Neither this folder nor one above it is a workspace."""


@dataclass(frozen=True)
class Folders:
    """A folder that holds a folder for each exercise."""

    root: Path

    def file(self, exercise: Exercise) -> Path:
        """The kernel: the skeleton, or what the learner made of it."""
        return self.root / exercise.folder / exercise.file

    def lesson(self, exercise: Exercise) -> Path:
        return self.root / exercise.folder / "lesson.md"

    def hints(self, exercise: Exercise) -> Path:
        return self.root / exercise.folder / "hints.md"


@dataclass(frozen=True)
class Workspace(Folders):
    """A learner's exercises, marked by a course.toml."""

    marker: Marker

    @property
    def arch(self) -> str | None:
        """The architecture of the class's GPU, e.g. "sm_75"; None where course.toml does not say."""
        return self.marker.arch


def shipped(exercise: Exercise) -> Folders:
    """An exercise's files as its distribution ships them: in the wheel, or beside the sources in a checkout.

    Raises UsageError if they are missing.
    """
    origin = catalog.entry(exercise)
    candidates = (origin.package / "_exercises", origin.package.parent.parent / "exercises")
    for root in candidates:
        if (root / exercise.folder).is_dir():
            return Folders(root)
    raise UsageError(
        f"The files of exercise {exercise.number} ({exercise.slug}) are missing from {origin.distribution}: "
        f"there is no folder {candidates[0] / exercise.folder}. Install it again."
    )


def find_workspace(start: Path) -> Workspace:
    """The workspace that `start` is in, or whose folder is called "exercises" in `start` or above.

    Raises NoWorkspace, and UsageError for a course.toml that cannot be used.
    """
    root = required_root(start)
    return Workspace(root, read_marker(root / MARKER))


def required_root(start: Path) -> Path:
    """As `workspace_root`. Raises NoWorkspace where there is none."""
    root = workspace_root(start)
    if root is None:
        raise NoWorkspace(
            f"There is no workspace in {start} or above it: no {MARKER} was found.\n"
            "Make one with `tlpuzzles init`, or go to the folder that has yours."
        )
    return root


def workspace_root(start: Path) -> Path | None:
    """The folder of the nearest course.toml at `start` or above, unread; None if there is none."""
    for folder in (start, *start.parents):
        for root in (folder, folder / "exercises"):
            if _is_file(root / MARKER):
                return root
    return None


def nearest(exercise: Exercise, start: Path) -> Folders:
    """The exercise's files in the workspace around `start` if it has them, else as shipped: to read, not to write."""
    root = workspace_root(start)
    if root is not None and (root / exercise.folder).is_dir():
        return Folders(root)
    return shipped(exercise)


def is_shipped(exercise: Exercise, root: Path) -> bool:
    """Whether that is no workspace of a learner but where the course itself keeps the exercise, in a checkout."""
    return root.resolve() == shipped(exercise).root.resolve()


def current_folder() -> Path:
    """The current folder. Raises UsageError if it has been deleted."""
    folder = current_folder_if_any()
    if folder is None:
        raise UsageError("The folder you are in no longer exists. Go to another one with `cd` and try again.")
    return folder


def current_folder_if_any() -> Path | None:
    """The current folder; None if it has been deleted, for what can do without one."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def from_here(path: Path) -> Path:
    """A path that was named, from / on. Raises UsageError if it begins in the current folder and that is deleted."""
    return path if path.is_absolute() else current_folder() / path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError:  # a folder above that we may not look into is no workspace of this user
        return False
