"""The file that `--html` names."""

from __future__ import annotations

import os
from pathlib import Path

from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.replacing import write_whole

ENDINGS = (".html", ".htm")


def page_file(named: Path) -> Path:
    """Where the page is to be written, with links followed; to be asked before there is anything to write.

    Raises UsageError if no page can be written there.
    """
    if named.suffix.lower() not in ENDINGS:
        # What follows the option may be meant as the file to grade.
        raise UsageError(
            f"--html takes the name of the page to write, and {named} does not end in .html. So that no other file is "
            "replaced by mistake, that is asked for: --html report.html"
        )
    try:
        file = named.resolve()
        if not file.parent.is_dir():
            raise UsageError(f"--html: there is no folder {file.parent}. Make it first, or name a file elsewhere.")
        if file.is_dir():
            raise UsageError(f"--html: {named} is a folder. Name a file in it: --html {named / 'report.html'}")
        if file.exists() and not file.is_file():
            raise UsageError(f"--html: {named} is no plain file, and is not replaced. Name another one.")
    except (OSError, RuntimeError) as error:  # the latter tells links in a circle, before Python 3.13
        raise UsageError(f"--html: {named} cannot be looked at: {error}. Name another file.") from None
    if not os.access(file.parent, os.W_OK | os.X_OK):
        raise UsageError(f"--html: you may not write in the folder {file.parent}. Name a file elsewhere.")
    return file


def write_page(file: Path, page: str) -> None:
    """Writes it: all of it, or nothing. Raises UsageError."""
    try:
        write_whole(file, page.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(
            f"--html: the page {file} cannot be written: {error.strerror}. What stood there is as it was."
        ) from None
