"""`tlpuzzles inspect`."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from tlpuzzles.border.limits import hide
from tlpuzzles.commands.arguments import ExerciseName
from tlpuzzles.commands.files import file_of, made
from tlpuzzles.commands.of_workspace import graded_for
from tlpuzzles.commands.output import console, print_quiet, warn
from tlpuzzles.commands.working import warm_process
from tlpuzzles.course import catalog
from tlpuzzles.device.limits import ARCHITECTURES
from tlpuzzles.errors import NotWritten
from tlpuzzles.workspace.folders import shipped

Arch = Enum("Arch", {gpu.name: gpu.name for gpu in ARCHITECTURES}, type=str)  # type: ignore[misc]


def inspect(
    name: ExerciseName,
    file: Annotated[
        Optional[Path],  # noqa: UP045 - typer evaluates it on Python 3.10
        typer.Argument(metavar="FILE", show_default=False, help="The file to look at; your workspace's if left out."),
    ] = None,
    arch: Annotated[
        Optional[Arch],  # noqa: UP045
        typer.Option(show_default=False, help="GPU to compile for; your course's or your machine's if left out."),
    ] = None,
    case: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="NAME",
            help="The case whose kernel to look at. A name that does not exist, as in --case '?', lists those that do.",
        ),
    ] = None,
    svg: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="DIR", help="Also draw each tile into a file there (.svg)."),
    ] = None,
    source: Annotated[bool, typer.Option("--source", help="Show the whole CUDA source, with its landmarks.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also show messages of TileLang and Python as they came.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON document and nothing else.")] = False,
) -> None:
    """See what TileLang made of a kernel: the CUDA source, where each element of a tile lies, what the pipeline became,
    and what of a multiprocessor a block takes.

    Nothing is run, and no GPU is needed. With nvcc there are registers, too.

    \b
    Examples:
      tlpuzzles inspect 2
      tlpuzzles inspect 2 mine.py --arch sm_80 --case speed-4096
      tlpuzzles inspect 6 --source | less
      tlpuzzles inspect 6 --svg pictures

    \b
    Exit status: 0 the kernel compiles,
    1 it does not or is not written,
    2 wrong usage, 3 our own error, 130 interrupted.
    """
    exercise = catalog.find(name)
    path = file_of(exercise, file, "inspect")
    gpu = next(gpu for gpu in ARCHITECTURES if gpu.name == arch.value) if arch is not None else graded_for(path)
    skeleton = shipped(exercise).file(exercise).read_text(encoding="utf-8")
    drawings = None if svg is None else made(svg, "--svg")
    hide()
    with warm_process() as (warm, scratch):
        from tlpuzzles.grading.inspecting import Inspector
        from tlpuzzles.grading.plan import new_seed
        from tlpuzzles.report.progress import progress
        from tlpuzzles.verdict.model import ExitStatus, Verdict

        title = f"Exercise {exercise.number}  {exercise.title}"
        seed = new_seed(path.read_bytes() if path.is_file() else b"")
        with progress(console(stderr=True), title, wanted=not as_json) as steps:
            inspector = Inspector(warm, exercise, gpu, seed, scratch, lambda step: steps.step(step.value))
            found = inspector.inspect(path, skeleton, case)
    if as_json:
        sys.stdout.write(json.dumps(found.document(), indent=2) + "\n")
    else:
        from tlpuzzles.report.inspection import show

        show(found, console(), title=title, whole=source, verbose=verbose)
    if drawings is not None and found.seen is not None:
        from tlpuzzles.report.tile_pictures import draw

        try:
            files = draw(found.seen.tiles, drawings)
        except NotWritten as error:
            warn(str(error))
        else:
            if not as_json:
                print_quiet(
                    f"Drawn in {svg}: {len(files)} tiles." if files else "--svg drew nothing: the kernel has no tiles."
                )
    if found.problem is not None:
        ours = found.problem.verdict is Verdict.ERROR
        raise typer.Exit(ExitStatus.UNDECIDED if ours else ExitStatus.FAILED)
