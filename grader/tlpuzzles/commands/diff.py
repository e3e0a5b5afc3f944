"""`tlpuzzles diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.output import console
from tlpuzzles.commands.remembering import content_of, numbered, own_workspace, recorded
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.report.differences import Version, show
from tlpuzzles.workspace.attempts import Attempt, Past, State
from tlpuzzles.workspace.keeping import hash_of
from tlpuzzles.workspace.reference import reference
from tlpuzzles.workspace.replacing import read_present

YOURS = "your file"


def diff(
    name: ExerciseName,
    against: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="WHAT",
            help="previous, best, passed (the best that passed), solution, or the number of an attempt.",
        ),
    ] = "previous",
) -> None:
    """See what differs between your file and an earlier attempt, or the reference solution.

    The previous attempt is the latest one that is not just like your file. Lines with a plus are in your file, lines
    with a minus were in the attempt. With the solution it is the other way round: pluses are what it has and your file
    has not. It can be seen when you have passed the exercise, or given it up: `tlpuzzles solution N`.

    \b
    Examples:
      tlpuzzles diff 6
      tlpuzzles diff 6 --with best
      tlpuzzles diff 6 --with 3
      tlpuzzles diff 6 --with solution
    """
    exercise = catalog.find(name)
    workspace = own_workspace(exercise)
    file = workspace.file(exercise)
    present = read_present(file, workspace.root)
    if present is None:
        raise UsageError(
            f"There is no file {file} to compare. `tlpuzzles restore {exercise.number}` lists what can be put there."
        )
    yours = Version(YOURS, present)
    past = recorded(workspace.root, exercise)
    if against == "solution":
        if past.state not in (State.PASSED, State.GIVEN_UP):
            raise UsageError(
                f"You have not passed exercise {exercise.number} ({exercise.slug}) yet. To see the solution all the "
                f"same: tlpuzzles solution {exercise.number} --give-up"
            )
        show(yours, Version("the solution", reference(exercise).text.encode()), console())
        return
    attempt = _chosen(exercise, past, against, present)
    show(Version(f"attempt {attempt.number}", content_of(workspace.root, attempt)), yours, console())


def _chosen(exercise: Exercise, past: Past, against: str, present: bytes) -> Attempt:
    number = exercise.number
    if not past.attempts:
        raise UsageError(
            f"Exercise {number} ({exercise.slug}) has no attempts yet: `tlpuzzles grade {number}` makes one."
        )
    if against == "previous":
        others = [attempt for attempt in past.attempts if attempt.file not in (None, hash_of(present))]
        return others[-1] if others else past.attempts[-1]
    if against in ("best", "passed"):
        found = past.best if against == "best" else past.best_passed
        if found is None:
            raise UsageError(
                f"No attempt at exercise {number} has {'passed' if against == 'passed' else 'been graded as a whole'} "
                f"yet. `tlpuzzles restore {number}` lists the attempts."
            )
        return found
    if not (against.isascii() and against.isdigit()):
        raise UsageError(f"--with {against}: give previous, best, passed, solution, or the number of an attempt.")
    return numbered(exercise, past, int(against))
