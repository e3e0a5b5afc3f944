"""hints.md: the hints of an exercise, one section a level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.folders import nearest

_LEVEL = re.compile(r"^## Level (\d+)[^\n]*$", re.MULTILINE)


def read_text(path: Path) -> str:
    """A lesson or the hints of an exercise. Raises UsageError if it cannot be read."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path} is missing. `tlpuzzles init` puts back what is missing in a workspace.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None


def read_hints(exercise: Exercise, start: Path) -> tuple[str, ...]:
    """The hints of an exercise: those of the workspace around `start`, else those shipped. Raises UsageError."""
    path = nearest(exercise, start).hints(exercise)
    text = read_text(path)
    try:
        hints = split_hints(text)
    except ValueError as error:
        raise UsageError(f'{path} cannot be used: {error}, not "## Level 1", "## Level 2", ...') from None
    if not hints:
        raise UsageError(f'{path} has no hints: no heading "## Level 1" was found in it.')
    return hints


def hint_at(exercise: Exercise, hints: Sequence[str], level: int) -> str:
    """One of the hints of an exercise, the first of which has level 1. Raises UsageError for a level that there is
    not."""
    if not 1 <= level <= len(hints):
        raise UsageError(f"Exercise {exercise.number} has {len(hints)} hints: --level goes from 1 to {len(hints)}.")
    return hints[level - 1]


def split_hints(text: str) -> tuple[str, ...]:
    """The hints under the headings "## Level 1", "## Level 2", ..., without those headings.

    Raises ValueError if the levels are not numbered 1, 2, 3, ...
    """
    parts = _LEVEL.split(text)[1:]
    levels = [int(level) for level in parts[::2]]
    if levels != list(range(1, len(levels) + 1)):
        raise ValueError(f"the hints are numbered {levels}")
    return tuple(hint.strip() for hint in parts[1::2])
