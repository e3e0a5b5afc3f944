"""Reports of gradings as pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from tlpuzzles.commands.html import write_page
from tlpuzzles.commands.of_workspace import graded_for
from tlpuzzles.commands.remembering import pasts
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.attempts import Past

if TYPE_CHECKING:
    from tlpuzzles.border.children import Warm
    from tlpuzzles.report.page.tiles import Tiles
    from tlpuzzles.verdict.model import Result, Results


def write_grading(
    file: Path,
    result: Result,
    exercise: Exercise,
    root: Path | None,
    *,
    following: Exercise | None,
    tiles: Tiles | None,
    nvcc: bool,
) -> None:
    """Writes the page of one grading. `root`: the workspace in whose record it was kept. Raises UsageError."""
    from tlpuzzles.report.page import grading_page

    past = pasts(root).get(exercise.slug, Past())
    now = datetime.now(timezone.utc)
    write_page(file, grading_page(result, exercise, now, following=following, past=past, tiles=tiles, nvcc=nvcc))


def write_gradings(
    file: Path, results: Results, exercises: Sequence[Exercise], kept: Mapping[str, Path | None], *, nvcc: bool
) -> None:
    """Writes one page of all gradings. `kept`: by slug, the workspace that recorded it. Raises UsageError."""
    from tlpuzzles.report.page import gradings_page

    past = {slug: pasts(root).get(slug, Past()) for slug, root in kept.items()}
    write_page(file, gradings_page(results, exercises, datetime.now(timezone.utc), pasts=past, nvcc=nvcc))


def tiles_of(result: Result, exercise: Exercise, path: Path, skeleton: str, warm: Warm, scratch: Path) -> Tiles | None:
    """Where the elements of the kernel's tiles lie; None for a file that gives no kernel, or one that has changed into
    such a file since it was graded, and where the process that is to look ends: the grading is not lost for that."""
    from tlpuzzles.border.children import WarmDied
    from tlpuzzles.grading.inspecting import Inspector
    from tlpuzzles.report.page.tiles import Tiles
    from tlpuzzles.verdict.model import Kind, Verdict

    if any(check.kind is Kind.BUILD and check.verdict is not Verdict.PASSED for check in result.checks):
        return None
    if result.verdict is Verdict.NOT_STARTED:
        return None
    try:
        found = Inspector(warm, exercise, graded_for(path), 0, scratch, nvcc=False).inspect(path, skeleton, None)
    except (UsageError, WarmDied, OSError):
        return None
    return None if found.seen is None else Tiles(found.seen.tiles, found.title, f"{found.gpus} ({found.arch})")
