"""`tlpuzzles init`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tlpuzzles.commands.output import console
from tlpuzzles.course import catalog
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.copying import copy_exercises
from tlpuzzles.workspace.folders import current_folder, is_shipped, workspace_root


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
    here = current_folder()
    target = folder or workspace_root(here) or here / "exercises"
    exercises = catalog.exercises()
    shown = _shown(target, here)
    if is_shipped(exercises[0], here / target):
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
            out.print(f"  {path}", markup=False, soft_wrap=True)
    first = exercises[0]
    file = _shown(target / first.folder / first.file, here)
    out.print()
    out.print("Next:", style="bold")
    if workspace_root(here) != here / target:  # from here, other commands would work on another workspace, or on none
        out.print(f"  cd {shlex.quote(shown)}", markup=False, soft_wrap=True)
        file = str(Path(first.folder) / first.file)
    out.print(f"  tlpuzzles show {first.number}     reads the first lesson")
    out.print(f"  edit {file}", markup=False, soft_wrap=True)
    out.print(f"  tlpuzzles grade {first.number}    says what is right and what is not")


def _shown(path: Path, here: Path) -> str:
    absolute = here / path
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(path)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
