"""The course's own pages, which every learner has: the glossary and the cheat sheet."""

from __future__ import annotations

from pathlib import Path

import tlpuzzles
from tlpuzzles.errors import UsageError


def document(name: str) -> Path:
    """A page of the course, such as "glossary.md": in the wheel, or beside the sources in a checkout.

    Raises UsageError if it is missing.
    """
    package = Path(tlpuzzles.__file__).parent
    candidates = (package / "_docs" / name, package.parent.parent / "docs" / name)
    for path in candidates:
        if path.is_file():
            return path
    raise UsageError(
        f"The page {name} is missing from tlpuzzles: there is no {candidates[0]}. Install tlpuzzles again."
    )
