"""Copies the exercises into a learner's folder, without ever replacing a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace import editor
from tlpuzzles.workspace.documents import pages, pages_folder
from tlpuzzles.workspace.folders import shipped
from tlpuzzles.workspace.marker import MARKER


@dataclass
class Copied:
    """What a copying did; paths relative to the target."""

    target: Path
    written: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    """Files that were there already and were left as they are."""


def copy_exercises(exercises: tuple[Exercise, ...], target: Path) -> Copied:
    """Copies every exercise's files and the course.toml that marks a workspace, and makes tasks for an editor.

    Raises UsageError if the target is no folder or cannot be written.
    """
    copied = Copied(target)
    sources: dict[Path, Path] = {}
    for exercise in exercises:
        folders = shipped(exercise)
        # The first distribution's course.toml is ours: it is the one that has exercise 1.
        if (folders.root / MARKER).is_file():
            sources.setdefault(Path(MARKER), folders.root / MARKER)
        for source in sorted((folders.root / exercise.folder).rglob("*")):
            if source.is_file() and not _is_litter(source):
                sources[source.relative_to(folders.root)] = source
    for page in pages():
        sources[Path("docs") / page.relative_to(pages_folder())] = page
    _make_folder(target)
    contents = {relative: _as_copied(source) for relative, source in sources.items()}
    place = target / editor.FILE.parent
    if place.is_dir() or not os.path.lexists(place):  # anything else of that name is the learner's
        contents[editor.FILE] = editor.tasks()
    for relative, content in contents.items():
        if _write_new(target / relative, content):
            copied.written.append(relative)
        else:
            copied.kept.append(relative)
    return copied


def _as_copied(source: Path) -> bytes:
    """A file's content, with links between lessons and pages that lead there from where the copy lies.

    In a workspace the exercises' folders and docs/ lie side by side.
    """
    content = source.read_bytes()
    if source.suffix != ".md":
        return content
    return content.replace(b"](../../docs/", b"](../docs/").replace(b"](../exercises/", b"](../")


def _is_litter(path: Path) -> bool:
    return "__pycache__" in path.parts or path.name.startswith(".")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        blocking = next((path for path in (folder, *folder.parents) if path.exists() or path.is_symlink()), folder)
        raise UsageError(f"{blocking} is a file, not a folder. Choose another place: tlpuzzles init DIR") from None
    except OSError as error:
        raise _cannot_write(folder, error) from None


def _write_new(path: Path, content: bytes) -> bool:
    """Writes a file that is not there yet, whole or not at all; False if something of that name is."""
    _make_folder(path.parent)
    try:
        file = path.open("xb")
    except FileExistsError:
        return False
    except OSError as error:
        raise _cannot_write(path, error) from None
    try:
        with file:
            file.write(content)
    except BaseException as error:  # Ctrl-C too: what is half written would be kept by the next init
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _cannot_write(path, error) from None
        raise
    return True


def _cannot_write(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {error.strerror}. Choose a folder of your own: tlpuzzles init DIR")
