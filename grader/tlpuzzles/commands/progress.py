"""`tlpuzzles progress`."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Optional

import typer

from tlpuzzles.commands.files import workspace_here
from tlpuzzles.commands.html import page_file, write_page
from tlpuzzles.commands.output import console, print_quiet
from tlpuzzles.commands.remembering import pasts
from tlpuzzles.course import catalog
from tlpuzzles.verdict.worth import worth
from tlpuzzles.workspace.attempts import Past


def progress(
    html: Annotated[
        Optional[Path],  # noqa: UP045 - typer evaluates it on Python 3.10
        typer.Option(metavar="FILE", help="Write it as a page there, too: one .html file that stands alone."),
    ] = None,
) -> None:
    """See how you have come through the course: every attempt, how points and speed grew, and what is next.

    A mark stands for each grading of your workspace's files, the first one on the left. `tlpuzzles restore N` lists the
    attempts of an exercise with their numbers, `tlpuzzles diff N` shows what has changed since.

    \b
    Examples:
      tlpuzzles progress
      tlpuzzles progress --html progress.html
    """
    from tlpuzzles.report.journey import Stage, show

    workspace, exercises = workspace_here(), catalog.exercises()
    page = None if html is None else page_file(html, map(workspace.file, exercises))
    recorded = pasts(workspace.root)
    stages = [
        Stage(exercise.number, exercise.title, recorded.get(exercise.slug, Past()), worth(timed=bool(exercise.timings)))
        for exercise in exercises
    ]
    show(stages, console())
    if page is not None:
        from tlpuzzles.report.page import course_page

        write_page(page, course_page(stages, datetime.now(timezone.utc)))
        print_quiet(f"The same as a page: {page}")
