"""The file that `--html` names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tlpuzzles.errors import NotWritten, UsageError
from tlpuzzles.plain import one_line
from tlpuzzles.workspace.folders import from_here
from tlpuzzles.workspace.replacing import write_whole

ENDINGS = (".html", ".htm")


def page_file(named: Path, learners: Iterable[Path] = ()) -> Path:
    """Where the page is to be written, with links followed; to be asked before there is anything to write.

    Raises UsageError if no page can be written there, or one would take the place of a file of the learner's.
    """
    shown = one_line(named)
    if not _is_page(named):
        # What follows the option may be meant as the file to grade.
        raise UsageError(
            f"--html takes the name of the page to write, and {shown} does not end in .html. So that no other file is "
            "replaced by mistake, that is asked for: --html report.html"
        )
    try:
        file = from_here(named).resolve()
        if not _is_page(file):
            raise UsageError(
                f"--html: {shown} is a link to {one_line(file)}, which does not end in .html, and what is no page is "
                "not replaced. Name another file."
            )
        if not file.parent.is_dir():
            raise UsageError(
                f"--html: there is no folder {one_line(file.parent)}. Make it first, or name a file elsewhere."
            )
        if file.is_dir():
            raise UsageError(
                f"--html: {shown} is a folder. Name a file in it: --html {one_line(named / 'report.html')}"
            )
        if file.exists() and not file.is_file():
            raise UsageError(f"--html: {shown} is no plain file, and is not replaced. Name another one.")
    except (OSError, RuntimeError) as error:  # the latter tells links in a circle, before Python 3.13
        raise UsageError(f"--html: {shown} cannot be looked at: {one_line(error)}. Name another file.") from None
    for learners_file in learners:
        if _is_same(file, learners_file):
            raise UsageError(
                f"--html: {shown} is your kernel, {one_line(learners_file)}, and the page would take its place. Name "
                "another file: --html report.html"
            )
    if not os.access(file.parent, os.W_OK | os.X_OK):
        raise UsageError(f"--html: you may not write in the folder {one_line(file.parent)}. Name a file elsewhere.")
    return file


def write_page(file: Path, page: str) -> None:
    """Writes it: all of it, or nothing. Raises NotWritten, for what `page_file` could not foresee."""
    try:
        write_whole(file, page.encode("utf-8", "replace"))
    except OSError as error:
        raise NotWritten(
            f"--html: the page {one_line(file)} cannot be written: {error.strerror}. What stood there is as it was."
        ) from None


def _is_page(file: Path) -> bool:
    return file.suffix.lower() in ENDINGS


def _is_same(file: Path, other: Path) -> bool:
    """Whether both names lead to one file, by a link or as two names of it."""
    try:
        return file.samefile(other)
    except OSError:  # one of them is not there
        return False
