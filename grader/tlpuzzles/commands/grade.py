"""`tlpuzzles grade`."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from tlpuzzles.border.limits import hide
from tlpuzzles.commands.arguments import NAME, case_names
from tlpuzzles.commands.files import file_of, made, workspace_here
from tlpuzzles.commands.grading_pages import tiles_of, write_grading, write_gradings
from tlpuzzles.commands.html import page_file
from tlpuzzles.commands.of_workspace import class_arch, marks
from tlpuzzles.commands.output import console, print_quiet
from tlpuzzles.commands.remembering import keep_grading
from tlpuzzles.commands.working import warm_process
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.grading.choices import DeviceChoice, Portability
from tlpuzzles.grading.plan import SPEED
from tlpuzzles.grading.submission import MAX_BYTES
from tlpuzzles.plain import read_plain
from tlpuzzles.workspace.folders import shipped

if TYPE_CHECKING:
    from tlpuzzles.report.page.tiles import Tiles
    from tlpuzzles.verdict.model import Result, Results


def grade(
    name: Annotated[
        Optional[str],  # noqa: UP045 - typer evaluates it on Python 3.10
        NAME,
    ] = None,
    file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(metavar="FILE", show_default=False, help="The file to grade; your workspace's if left out."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Grade every exercise of the workspace.")] = False,
    device: Annotated[DeviceChoice, typer.Option(help="Where the kernel runs; auto takes a GPU if there is one.")] = (
        DeviceChoice.AUTO
    ),
    case: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            metavar="NAME",
            autocompletion=case_names,
            help="Grade this case alone. A name that does not exist, as in --case '?', lists those that do.",
        ),
    ] = None,
    seed: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(metavar="S", min=0, help="Draw the same problems as an earlier grading."),
    ] = None,
    dump: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="DIR", help="Leave inputs, expected and found outputs of failing cases there (.pt)."),
    ] = None,
    portability: Annotated[
        Portability,
        typer.Option(
            help="Other GPUs: check asks whether TileLang compiles the kernel for each, full asks nvcc as well (slow)."
        ),
    ] = Portability.CHECK,
    speed: Annotated[
        bool, typer.Option("--speed/--no-speed", help="Whether to time a kernel that is right, where there is a GPU.")
    ] = True,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Also show how speed was measured, and messages of TileLang, Python and compilers as they came.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON document and nothing else.")] = False,
    html: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Write the report as a page there, too: one .html file that stands alone."),
    ] = None,
) -> None:
    """Check a kernel: what is right, what is wrong and why.

    Inputs are drawn anew each time, and sizes when the file changes: a kernel must be right for all of them. A failed
    case says how to draw it again: --case NAME --seed S.

    \b
    Examples:
      tlpuzzles grade 6
      tlpuzzles grade 6 mine.py --device cpu
      tlpuzzles grade 6 --case causal-ragged --seed 4711
      tlpuzzles grade --all --json > results.json
      tlpuzzles grade 6 --html report.html

    \b
    Exit status: 0 passed, 1 failed or not started,
    2 wrong usage, 3 undecided or our own error,
    130 interrupted. A page that cannot be written,
    as on a full disk, is a warning and changes none.
    """
    if every:
        if name is not None or case is not None:
            raise UsageError("--all grades every exercise: name neither an exercise nor a case with it.")
        workspace = workspace_here()
        jobs = [(exercise, workspace.file(exercise)) for exercise in catalog.exercises()]
    else:
        jobs = [_job(name, file)]
        if not speed and case in (SPEED, *(timing.case.id for timing in jobs[0][0].timings)):
            raise UsageError(f"--case {case} asks for what --no-speed leaves out. Give one of the two.")
    page = None if html is None else page_file(html, [path for _, path in jobs])
    hide()  # it knows the seed
    with warm_process() as (warm, scratch):
        from tlpuzzles.grading import caches
        from tlpuzzles.grading.grader import Grader
        from tlpuzzles.grading.options import Options
        from tlpuzzles.grading.plan import new_seed
        from tlpuzzles.grading.selection import select
        from tlpuzzles.report.progress import Following, progress
        from tlpuzzles.verdict.model import exit_status

        chosen = select(device, warm, scratch)
        options = Options(
            seed=0 if seed is None else seed,
            only=case,
            dump=None if dump is None else made(dump, "--dump"),
            portability=portability,
            class_arch=class_arch(jobs[0][1]),
            speed=speed,
            thresholds=marks(jobs[0][1], chosen.shown),
        )
        grader = Grader(warm, scratch, chosen)
        results: list[Result] = []
        kept: dict[str, Path | None] = {}
        tiles: Tiles | None = None
        for exercise, path in jobs:
            skeleton = shipped(exercise).file(exercise).read_text(encoding="utf-8")
            title = f"Exercise {exercise.number}  {exercise.title}"
            with progress(console(stderr=True), title, wanted=not as_json) as steps:
                grader.progress = Following(steps).show
                drawn = options if seed is not None else replace(options, seed=new_seed(_content(path)))
                results.append(grader.grade(exercise, path, skeleton, drawn))
                if page is not None and not every:
                    steps.step("drawing the kernel's tiles")
                    tiles = tiles_of(results[-1], exercise, path, skeleton, warm, scratch)
            kept[exercise.slug] = keep_grading(exercise, grader.handed_in, results[-1])
            if not as_json:
                _print(results[-1], exercise, verbose=verbose, nvcc=portability is Portability.FULL)
                if options.dump is not None:
                    _print_dumped(options.dump, results[-1])
        caches.prune()
    if as_json:
        _write_json(results, every)
    elif every:
        _print_summary(results)
    if page is not None:
        exercises, nvcc = [exercise for exercise, _ in jobs], portability is Portability.FULL
        if every:
            written = write_gradings(page, _together(results), exercises, kept, nvcc=nvcc)
        else:
            following, root = _after(exercises[0]), kept[exercises[0].slug]
            written = write_grading(page, results[0], exercises[0], root, following=following, tiles=tiles, nvcc=nvcc)
        if written and not as_json:
            print_quiet(f"The report as a page: {page}")
    raise typer.Exit(exit_status(*(result.verdict for result in results)))


def _job(name: str | None, file: Path | None) -> tuple[Exercise, Path]:
    if name is None:
        raise UsageError("Which exercise? Name one, as in `tlpuzzles grade 1`, or give --all.")
    exercise = catalog.find(name)
    return exercise, file_of(exercise, file, "grade")


def _content(file: Path) -> bytes:
    """Nothing of a file that cannot be read: that is for the grading to say."""
    try:
        return read_plain(file, MAX_BYTES)
    except OSError:
        return b""


def _print(result: Result, exercise: Exercise, *, verbose: bool, nvcc: bool) -> None:
    from tlpuzzles.report import terminal

    after = _after(exercise)
    following = None if after is None else (after.number, after.title)
    terminal.show(result, console(), title=exercise.title, following=following, verbose=verbose, nvcc=nvcc)


def _after(exercise: Exercise) -> Exercise | None:
    return next((other for other in catalog.exercises() if other.number > exercise.number), None)


def _print_dumped(folder: Path, result: Result) -> None:
    """Says what --dump has left, and where."""
    cases = [check.id for check in result.checks if (folder / check.id).is_dir() and check.verdict.value != "passed"]
    if not cases:
        print_quiet("--dump left nothing: no case gave a wrong result.")
    for case in cases:
        names = ", ".join(sorted(file.stem for file in (folder / case).glob("*.pt")))
        print_quiet(f"{folder / case} has {names} (.pt, for torch.load).")


def _print_summary(results: list[Result]) -> None:
    from tlpuzzles.report.summary import show_all

    show_all(_together(results), console(), titles={e.number: e.title for e in catalog.exercises()})


def _write_json(results: list[Result], every: bool) -> None:
    document = _together(results).document() if every else results[0].document()
    # Escaped: what a learner's file printed may hold what the terminal's encoding cannot.
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def _together(results: list[Result]) -> Results:
    from tlpuzzles.verdict.model import Points, Results

    parts = [result.points for result in results]
    total = Points(
        earned=sum(p.earned for p in parts),
        possible=sum(p.possible for p in parts),
        not_graded=sum(p.not_graded for p in parts),
    )
    return Results(exercises=tuple(results), points=total)
