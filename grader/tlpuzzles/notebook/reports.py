"""The report of a grading as a notebook shows it: as HTML, and as text for who shows no HTML."""

from __future__ import annotations

import io

from rich.console import Console

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.report import terminal
from tlpuzzles.report.layout import WIDEST
from tlpuzzles.report.page import fragment
from tlpuzzles.verdict.model import Result


def as_html(result: Result, exercise: Exercise) -> str:
    return fragment(result, exercise, following=_following(exercise))


def as_text(result: Result, exercise: Exercise) -> str:
    """What the command line prints, without colours."""
    written = io.StringIO()
    console = Console(file=written, width=WIDEST, force_terminal=False, force_jupyter=False, highlight=False)
    following = _following(exercise)
    after = None if following is None else (following.number, following.title)
    terminal.show(result, console, title=exercise.title, following=after)
    return "\n".join(line.rstrip() for line in written.getvalue().strip("\n").splitlines())


def _following(exercise: Exercise) -> Exercise | None:
    """The exercise that comes next."""
    return next((other for other in catalog.exercises() if other.number > exercise.number), None)
