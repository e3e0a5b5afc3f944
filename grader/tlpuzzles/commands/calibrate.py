"""`tlpuzzles calibrate`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from tlpuzzles.commands.arguments import exercise_names
from tlpuzzles.commands.output import console, on_terminal
from tlpuzzles.commands.working import warm_process
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.cuda import devices
from tlpuzzles.errors import UsageError
from tlpuzzles.grading.choices import DeviceChoice, Portability
from tlpuzzles.plain import one_line
from tlpuzzles.wording import here
from tlpuzzles.workspace.folders import current_folder, find_workspace, from_here, shipped

if TYPE_CHECKING:
    from tlpuzzles.grading.calibrating import Calibrated
    from tlpuzzles.grading.grader import Grader
    from tlpuzzles.report.progress import Steps
    from tlpuzzles.verdict.model import Result
    from tlpuzzles.verdict.thresholds import Thresholds


REPEATS = 5


def calibrate(
    names: Annotated[
        Optional[list[str]],  # noqa: UP045 - typer evaluates it on Python 3.10
        typer.Argument(
            metavar="[N ...]",
            show_default=False,
            help="Exercises; all that have a speed part if left out.",
            autocompletion=exercise_names,
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(metavar="R", min=1, help="Gradings of each reference solution; their median counts.")
    ] = REPEATS,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="The file to write; thresholds.toml in the workspace if left out."),
    ] = None,
) -> None:
    """For teachers: measure marks for the speed on the GPU at hand.

    Times the reference solutions as `grade` times a learner's file, and writes thresholds.toml, from which `grade`
    takes the marks for this GPU. Entries that are in the file for other exercises or other GPUs stay. The reference
    solutions are a distribution of their own: tlpuzzles-solutions. docs/calibrate.md in the sources of tlpuzzles tells
    it step by step.

    \b
    Examples:
      tlpuzzles calibrate
      tlpuzzles calibrate 2 4 6 --repeats 10
      tlpuzzles calibrate --output t4.toml

    \b
    Exit status: 0 all of it was measured, 2 wrong usage,
    3 something was left out (the rest is written),
    130 interrupted (what was finished is written).
    """
    jobs, missing = _jobs(names or [])
    file, known = _file(output)
    driver = _driver()
    with warm_process() as (warm, scratch):
        from tlpuzzles.grading import caches, calibrating, versions
        from tlpuzzles.grading.grader import Grader
        from tlpuzzles.grading.selection import select
        from tlpuzzles.report.progress import progress
        from tlpuzzles.verdict import thresholds
        from tlpuzzles.verdict.model import ExitStatus

        grader = Grader(warm, scratch, select(DeviceChoice.CUDA, warm, scratch))
        day = datetime.now(timezone.utc).strftime("%Y-%m-%d")
        if not calibrating.can_have_marks(grader.device.shown.name):
            raise UsageError(
                f"The driver calls this GPU {grader.device.shown.name!r}, which no entry can have as its gpu. Write "
                "the entries by hand, with the GPU's family, like sm_75."
            )
        machine = calibrating.Machine(grader.device.shown.name, day, versions.software(driver))
        found: list[Calibrated] = []
        for job in jobs:
            title = f"Exercise {job.exercise.number}  {job.exercise.title}, the reference solution"
            with progress(console(stderr=True), title) as steps:
                cases = calibrating.measure(job.exercise, repeats, _grading(grader, job, repeats, steps))
            done = [case for case in cases if case.is_done(repeats)]
            missing += [_Missing(job.exercise, case.id, case.why_not()) for case in cases if case not in done]
            found += [calibrating.calibrate(job.exercise, case, machine, thresholds.shipped()) for case in done]
            if done:
                # After each exercise: who stops it then keeps what was measured.
                known = calibrating.merge(known, [one.threshold for one in found])
                thresholds.write(file, known, calibrating.header(machine, found, _command(names, repeats, output)))
        caches.prune()
    _print(found)
    _print_remarks(found, missing)
    _print_next(file, found, known)
    raise typer.Exit(ExitStatus.UNDECIDED if missing else ExitStatus.PASSED)


@dataclass(frozen=True)
class _Job:
    exercise: Exercise
    solution: Path


@dataclass(frozen=True)
class _Missing:
    exercise: Exercise
    case: str | None
    """None: all of the exercise."""
    why: str


def _jobs(names: Sequence[str]) -> tuple[list[_Job], list[_Missing]]:
    """The exercises to calibrate with their solutions, and those that were not named and have none."""
    every = [exercise for exercise in catalog.exercises() if exercise.timings]
    chosen = list({(one := catalog.find(name)).slug: one for name in names}.values()) if names else every
    for exercise in chosen:
        if not exercise.timings:
            numbers = ", ".join(str(other.number) for other in every)
            raise UsageError(
                f"Exercise {exercise.number} ({exercise.slug}) has no speed part. Those that have: {numbers}."
            )
    solution = _solutions()
    jobs, missing = [], []
    for exercise in chosen:
        try:
            jobs.append(_Job(exercise, solution(exercise.slug)))
        except FileNotFoundError:
            why = "tlpuzzles-solutions has no reference solution of it"
            if names:
                raise UsageError(
                    f"Exercise {exercise.number} ({exercise.slug}): {why}. Leave it out, or write its entries by hand."
                ) from None
            missing.append(_Missing(exercise, None, why))
    return jobs, missing


def _solutions() -> Callable[[str], Path]:
    """Where a slug's reference solution lies. Raises UsageError if the distribution is not there: learners lack it."""
    try:
        from tlpuzzles_solutions import path
    except ModuleNotFoundError:
        raise UsageError(
            "tlpuzzles calibrate times the reference solutions, and they are not installed. They are a distribution of "
            "their own, for teachers: pip install ./solutions in a checkout of tlpuzzles, or pip install "
            "tlpuzzles-solutions where it is published."
        ) from None
    solution: Callable[[str], Path] = path
    return solution


def _file(output: Path | None) -> tuple[Path, Thresholds]:
    """The file to write, and what is in it already. Whatever speaks against it is said before anything is measured."""
    from tlpuzzles.verdict.thresholds import FILE, NotMarks, Thresholds, read
    from tlpuzzles.workspace.marker import MARKER

    file = find_workspace(current_folder()).root / FILE if output is None else from_here(output)
    if file.is_dir():
        raise UsageError(f"{file} is a folder. Name a file: --output {file.name}/{FILE}")
    if file.is_symlink() and not file.exists():
        raise UsageError(f"{file} is a link to what is not there. Delete it, or name another file with --output.")
    if not file.parent.is_dir():
        raise UsageError(f"There is no folder {file.parent}. Make it first, or name another file with --output.")
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"The folder {file.parent} cannot be written to. Name another file with --output.")
    not_marks = UsageError(f"{file} is not a file of marks. Name another with --output.")
    if file.name == MARKER:  # also where there is none yet: it would make a workspace of the folder
        raise not_marks
    try:
        return file, read(file) if file.exists() else Thresholds(entries=())
    except NotMarks:
        raise not_marks from None


def _driver() -> str | None:
    """Version of the GPU's driver. Raises UsageError where there is no GPU."""
    found = devices.find()
    if found.presence is not devices.Presence.PRESENT:
        raise UsageError(
            f"tlpuzzles calibrate measures on a GPU, and none can be used: {found.why}. Run it on a machine with the "
            "GPU that your class uses; `tlpuzzles doctor` says what is missing there."
        )
    return found.driver


def _grading(grader: Grader, job: _Job, repeats: int, steps: Steps) -> Callable[[str], Result]:
    """Grades the solution as `grade --case NAME` does, each time with a seed and processes of its own."""
    from tlpuzzles.grading.options import Options
    from tlpuzzles.grading.plan import new_seed
    from tlpuzzles.verdict.thresholds import Thresholds

    skeleton = shipped(job.exercise).file(job.exercise).read_text(encoding="utf-8")
    content = job.solution.read_bytes()
    count = 0

    def grade(only: str) -> Result:
        nonlocal count
        count += 1
        again = "" if count <= repeats else f", again for {only}"
        steps.step(f"grading {min(count, repeats)} of {repeats}{again}")
        options = Options(
            seed=new_seed(content), only=only, portability=Portability.OFF, thresholds=Thresholds(entries=())
        )
        return grader.grade(job.exercise, job.solution, skeleton, options)

    grader.progress = lambda step, note: steps.advance(note or step.value)
    return grade


def _command(names: Sequence[str] | None, repeats: int, output: Path | None) -> str:
    """What was typed, to type it again."""
    parts = ["tlpuzzles", "calibrate", *(names or [])]
    parts += [] if repeats == REPEATS else ["--repeats", str(repeats)]
    parts += [] if output is None else ["--output", output.name]
    return shlex.join(parts)


_COLUMNS = ("exercise", "case", "against", "reference", "noise", "pass", "full")


def _print(found: Sequence[Calibrated]) -> None:
    """A table on a terminal, else a line for each case with tabs."""
    rows = [_row(one) for one in found]
    if not on_terminal():
        for row in (_COLUMNS, *rows) if rows else ():
            typer.echo("\t".join(row))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")  # fits 80 columns
    for number, name in enumerate(_COLUMNS):
        table.add_column(name, justify="right" if number > 2 else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    if rows:
        console().print(table)


def _row(one: Calibrated) -> tuple[str, ...]:
    mark = one.threshold
    number = catalog.find(mark.exercise).number
    ratios = (f"{one.reference:.3f}", f"{one.noise:.3f}", f"{mark.pass_at:.3f}", f"{mark.full_at:.3f}")
    return (f"{number} {mark.exercise}", mark.case, mark.against, *ratios)


def _print_remarks(found: Sequence[Calibrated], missing: Sequence[_Missing]) -> None:
    """What is not as it should be, to standard error."""
    from tlpuzzles.grading.calibrating import UNKNOWN, percent

    out = console(stderr=True)

    def say(text: str, style: str) -> None:
        out.print()
        out.print(text, style=style, markup=False, soft_wrap=not out.is_terminal)

    unknown = [one for one in found if not one.of_course]
    if unknown:
        say(
            f"The course does not say what share of the reference these ask for, so they have {UNKNOWN.passing:g} and "
            f"{UNKNOWN.full:g} of it: {_names(unknown)}.",
            "yellow",
        )
    unsteady = [one for one in found if one.is_unsteady]
    if unsteady:
        widest = percent(2 * max(one.noise / one.reference for one in unsteady))
        say(
            f"Gradings of the same kernel lay up to {widest} apart: {_names(unsteady)}. Find out what else the machine "
            "does, and calibrate these again.",
            "yellow",
        )
    for left in missing:
        name = f"{left.exercise.number} {left.exercise.slug}" + ("" if left.case is None else f" {left.case}")
        say(f"Left out: {name}: {left.why}", "bold red")


def _names(found: Sequence[Calibrated]) -> str:
    return ", ".join(f"{one.threshold.exercise} {one.threshold.case}" for one in found)


def _print_next(file: Path, found: Sequence[Calibrated], known: Thresholds) -> None:
    typer.echo()
    if not found:
        typer.echo("Nothing was measured, and no file was written.")
        return
    from tlpuzzles.verdict.quoting import bare
    from tlpuzzles.verdict.thresholds import FILE
    from tlpuzzles.workspace.marker import MARKER

    new, kept = len(found), len(known.entries) - len(found)
    others = f", and {kept} that {'was' if kept == 1 else 'were'} there before" if kept else ""
    typer.echo(f"Written: {one_line(file)}")
    typer.echo(f"It has {new} {'entry' if new == 1 else 'entries'} for {bare(found[0].threshold.gpu)}{others}.")
    typer.echo()
    number = catalog.find(found[0].threshold.exercise).number
    typer.echo("Next: read it, and try it on a kernel that should pass and on one that should not, as in")
    typer.echo(here(f"  tlpuzzles grade {number} my-kernel.py"))
    typer.echo(f"`grade` takes it from beside {MARKER}, by the name {FILE}. So learners get it with their workspace.")
