"""The reference of an exercise, and the guide to reading it: a distribution of its own, which learners may not have."""

from __future__ import annotations

from dataclasses import dataclass

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError


@dataclass(frozen=True)
class Reference:
    """How an exercise can be done."""

    text: str
    guide: str | None
    """Markdown: what it does, and why, by its lines; None if nobody wrote one."""


def reference(exercise: Exercise) -> Reference:
    """Raises UsageError if tlpuzzles-solutions is not installed, or has none of this exercise."""
    try:
        from tlpuzzles_solutions import guide, path
        from tlpuzzles_solutions.cut import whole
    except ModuleNotFoundError:
        raise UsageError(
            "The reference solutions are not installed: they are a distribution of their own, tlpuzzles-solutions. Ask "
            "your teacher for it, or, in a checkout of tlpuzzles, run: pip install ./solutions"
        ) from None
    try:
        text = whole(path(exercise.slug).read_text("utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"tlpuzzles-solutions has no reference solution of exercise {exercise.number} ({exercise.slug})."
        ) from None
    try:
        return Reference(text, guide(exercise.slug).read_text("utf-8"))
    except FileNotFoundError:
        return Reference(text, None)
