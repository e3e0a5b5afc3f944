"""`tlpuzzles init`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tlpuzzles.commands.output import console
from tlpuzzles.course import catalog
from tlpuzzles.errors import UsageError
from tlpuzzles.plain import one_line
from tlpuzzles.workspace.copying import copy_exercises
from tlpuzzles.workspace.folders import current_folder, current_folder_if_any, from_here, is_shipped, workspace_root


def init(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            show_default=False,
            help='Where to; made if missing. If not given: the workspace you are in, else a new folder "exercises".',
        ),
    ] = None,
) -> None:
    """Copy the exercises into a folder of yours, to work on them there.

    A file that is already there is never touched: running it again only puts back what is missing. To start an exercise
    over: `tlpuzzles reset N`.

    \b
    Examples:
      tlpuzzles init
      tlpuzzles init ~/gpu-course
    """
    target = folder or workspace_root(current_folder()) or current_folder() / "exercises"
    whole, here = from_here(target), current_folder_if_any()
    exercises = catalog.exercises()
    shown = _shown(target, here)
    if is_shipped(exercises[0], whole):
        raise UsageError(
            f"{shown} is where the course itself keeps its exercises (you are in a checkout of tlpuzzles), so there is "
            "nothing to copy.\nMake a folder of your own, outside of what git tracks: tlpuzzles init ~/my-kernels"
        )
    copied = copy_exercises(exercises, target)

    out = console()
    if copied.written:
        out.print(f"Copied {_files(len(copied.written))} into {shown}", soft_wrap=True, markup=False)
    else:
        out.print(f"Nothing was missing in {shown}", soft_wrap=True, markup=False)
    if copied.kept:
        out.print(f"Kept as they were, because they are there already ({_files(len(copied.kept))}):")
        for path in copied.kept:
            out.print(f"  {one_line(path)}", markup=False, soft_wrap=True)
    first = exercises[0]
    file = _shown(target / first.folder / first.file, here)
    out.print()
    out.print("Next:", style="bold")
    # From here, other commands would work on another workspace, or on none.
    if here is None or workspace_root(here) != whole:
        out.print(f"  cd {shlex.quote(shown)}", markup=False, soft_wrap=True)
        file = str(Path(first.folder) / first.file)
    out.print(f"  tlpuzzles show {first.number}     reads the first lesson")
    out.print(f"  edit {file}", markup=False, soft_wrap=True)
    out.print(f"  tlpuzzles grade {first.number}    says what is right and what is not")


def _shown(path: Path, here: Path | None) -> str:
    """As short as it can be given from here."""
    whole = from_here(path)
    return one_line(whole.relative_to(here) if here is not None and whole.is_relative_to(here) else path)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
