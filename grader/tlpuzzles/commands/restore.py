"""`tlpuzzles restore`."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.output import console, on_terminal
from tlpuzzles.commands.remembering import content_of, numbered, own_workspace, put_in_place, recorded, tell
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.plain import one_line
from tlpuzzles.workspace.attempts import Attempt, Past
from tlpuzzles.workspace.folders import Folders
from tlpuzzles.workspace.keeping import hash_of
from tlpuzzles.workspace.replacing import read_present


def restore(
    name: ExerciseName,
    number: Annotated[
        Optional[int],  # noqa: UP045 - typer evaluates it on Python 3.10
        typer.Option("--attempt", metavar="NUMBER", help="The attempt to put back."),
    ] = None,
    best: Annotated[bool, typer.Option("--best", help="Put the best attempt back.")] = False,
) -> None:
    """List the attempts of an exercise, or put an earlier one back.

    What is in your file now is kept as an attempt first, so that it can be put back the same way. The best attempt is
    one that passed, if any did, with the most points, and of those the fastest.

    Into a pipe the list has a line for each attempt, with tabs between: number, time, verdict, points, speed, remark.

    \b
    Examples:
      tlpuzzles restore 6
      tlpuzzles restore 6 --attempt 3
      tlpuzzles restore 6 --best
    """
    if best and number is not None:
        raise UsageError("--attempt and --best name two attempts. Give one of them.")
    exercise = catalog.find(name)
    workspace = own_workspace(exercise)
    past = recorded(workspace.root, exercise)
    if number is None and not best:
        _list(exercise, past, workspace)
        return
    attempt = past.best if number is None else numbered(exercise, past, number)
    if attempt is None:
        raise UsageError(
            f"No attempt at exercise {exercise.number} has been graded as a whole yet. "
            f"`tlpuzzles restore {exercise.number}` lists what there is."
        )
    put = put_in_place(exercise, workspace, content_of(workspace.root, attempt))
    tell(put, exercise, workspace, f"attempt {attempt.number}")


def _list(exercise: Exercise, past: Past, workspace: Folders) -> None:
    file = workspace.file(exercise)
    present = read_present(file, workspace.root)
    same = None if present is None else hash_of(present)
    best, name = past.best, str(file.relative_to(workspace.root))
    # Of several with what the file has now, the newest.
    own = next((one for one in reversed(past.attempts) if one.file is not None and one.file == same), None)
    rows = [_row(attempt, attempt is best, attempt is own, name) for attempt in past.attempts]
    if not on_terminal():
        for row in rows:
            typer.echo("\t".join(row))
        return
    out = console()
    if not rows:
        out.print(f"No attempts yet: [bold]tlpuzzles grade {exercise.number}[/] makes one.")
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for title in ("", "when", "verdict", "points", "speed", ""):
        table.add_column(title, justify="right" if title in ("points", "speed") or not table.columns else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    out.print(table)
    out.print()
    out.print(f"To put one back: [bold]tlpuzzles restore {exercise.number} --attempt NUMBER[/]")


def _row(attempt: Attempt, is_best: bool, is_own: bool, file: str) -> tuple[str, ...]:
    verdict = "kept" if attempt.verdict is None else attempt.verdict.value.replace("_", " ")
    remarks = [attempt.only] if attempt.only is not None else []
    remarks += [one_line(attempt.path)] if attempt.path != file else []
    remarks += ["the best"] if is_best else []
    remarks += ["your file"] if is_own else []
    return (
        str(attempt.number),
        f"{attempt.at.astimezone():%Y-%m-%d %H:%M}",
        verdict,
        "" if attempt.verdict is None else f"{attempt.earned}/{attempt.of}",
        "" if attempt.ratio is None else f"{attempt.ratio:.2f}",
        ", ".join(remarks),
    )
