"""The course's own pages, which every learner has: the glossary and the cheat sheet."""

from __future__ import annotations

from pathlib import Path

import tlpuzzles
from tlpuzzles.errors import UsageError

PAGES = ("glossary.md", "cheatsheet.md", "speed.md")


def pages_folder() -> Path:
    """The folder of the course's pages: in the wheel, or beside the sources in a checkout.

    Raises UsageError if it is missing.
    """
    package = Path(tlpuzzles.__file__).parent
    candidates = (package / "_docs", package.parent.parent / "docs")
    for folder in candidates:
        if all((folder / name).is_file() for name in PAGES):
            return folder
    raise UsageError(
        f"The course's pages are missing from tlpuzzles: there is no {candidates[0]}. Install tlpuzzles again."
    )


def document(name: str) -> Path:
    """A page of the course, such as "glossary.md". Raises UsageError if it is missing."""
    return pages_folder() / name


def pages() -> tuple[Path, ...]:
    """The pages and the pictures that lessons link to. Raises UsageError if they are missing."""
    folder = pages_folder()
    return (*(folder / name for name in PAGES), *sorted((folder / "pictures").glob("*.svg")))
