"""Where a notebook's workspace is: chosen once, and told."""

from __future__ import annotations

import os
from pathlib import Path

from tlpuzzles.course import catalog
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.copying import copy_exercises
from tlpuzzles.workspace.folders import is_shipped, workspace_root

COLAB = Path("/content")
DRIVE = COLAB / "drive"
MY_DRIVE = DRIVE / "MyDrive"
NAME = "tlpuzzles"
VARIABLE = "TLPUZZLES_WORKSPACE"
"""In the environment: the folder to take, whatever else there is."""


def usual(here: Path | None = None) -> Path:
    """The workspace to take where none was named: that around the notebook, else on a mounted Google Drive, else on
    Colab's disk, else in the home folder. `here`: the notebook's folder, if it is not the current one. Raises
    UsageError if the latter has been deleted."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    around = workspace_root(here or _current_folder())
    if around is not None and not is_shipped(catalog.exercises()[0], around):
        return around
    if MY_DRIVE.is_dir():
        return MY_DRIVE / NAME
    folder = (COLAB if COLAB.is_dir() else Path.home()) / NAME
    # A checkout has that name, where somebody took one.
    return folder.with_name(f"{NAME}-work") if (folder / "pyproject.toml").exists() else folder


def made(folder: Path) -> Path:
    """That workspace, from / on, with every file that it lacks. Raises UsageError if it cannot be one."""
    root = _from_root(folder)
    if is_shipped(catalog.exercises()[0], root):
        raise UsageError(
            f"{root} is where the course itself keeps its exercises. Name a folder of your own: %workspace ~/{NAME}"
        )
    try:
        copy_exercises(catalog.exercises(), root)
    except UsageError as error:
        raise UsageError(str(error).replace("tlpuzzles init DIR", "%workspace FOLDER")) from None
    return root


def _from_root(folder: Path) -> Path:
    """The same folder, from / on. Raises UsageError."""
    try:
        folder = folder.expanduser()
    except RuntimeError:
        raise UsageError(f"{folder} is in the home folder of nobody here. Name a folder from / on.") from None
    # Where a whole path was named, it does not matter what became of the current folder.
    whole = folder if folder.is_absolute() else _current_folder() / folder
    return Path(os.path.abspath(whole))  # noqa: PTH100 - links are not followed: it is told as it was named


def _current_folder() -> Path:
    """Raises UsageError if it has been deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "The folder that this notebook runs in no longer exists. Go to another one with %cd, or name your "
            "workspace from / on, as in %workspace ~/tlpuzzles"
        ) from None


def about(root: Path) -> str:
    """How long what is kept there lasts, where that is known; else nothing."""
    if root.is_relative_to(MY_DRIVE):
        return "That is on your Google Drive: it stays when this machine goes."
    if root.is_relative_to(COLAB):
        return "Colab takes that away with this machine. %workspace --drive keeps your work on your Google Drive."
    return ""


def mount() -> Path:
    """Mounts the learner's Google Drive, if it is not, and says where the workspace is there. Raises UsageError."""
    if not MY_DRIVE.is_dir():
        try:
            from google.colab import drive
        except ImportError:
            raise UsageError(
                "There is no Google Drive here: this is not Colab. Name a folder: %workspace ~/tlpuzzles"
            ) from None
        try:
            drive.mount(str(DRIVE))
        except Exception as error:  # noqa: BLE001 - Colab names no kinds: refused, not answered, out of time
            raise UsageError(
                f"Your Google Drive was not mounted: {error}. Run the cell again, or work without: %workspace"
            ) from None
    if not MY_DRIVE.is_dir():
        raise UsageError("Your Google Drive was not mounted. Run the cell again, or work without: %workspace")
    return MY_DRIVE / NAME
