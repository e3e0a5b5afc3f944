"""Reports of gradings as pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from tlpuzzles.commands.html import write_page
from tlpuzzles.commands.of_workspace import graded_for
from tlpuzzles.commands.output import warn
from tlpuzzles.commands.remembering import pasts
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import NotWritten, UsageError
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
) -> bool:
    """Writes the page of one grading, or warns of what keeps it from that: whether it is written. `root`: the workspace
    in whose record the grading was kept."""

    def page() -> str:
        from tlpuzzles.report.page import grading_page

        past = pasts(root).get(exercise.slug, Past())
        now = datetime.now(timezone.utc)
        return grading_page(result, exercise, now, following=following, past=past, tiles=tiles, nvcc=nvcc)

    return _write(file, page)


def write_gradings(
    file: Path, results: Results, exercises: Sequence[Exercise], kept: Mapping[str, Path | None], *, nvcc: bool
) -> bool:
    """Writes one page of all gradings, as `write_grading` does. `kept`: by slug, the workspace that recorded it."""

    def page() -> str:
        from tlpuzzles.report.page import gradings_page

        past = {slug: pasts(root).get(slug, Past()) for slug, root in kept.items()}
        return gradings_page(results, exercises, datetime.now(timezone.utc), pasts=past, nvcc=nvcc)

    return _write(file, page)


def _write(file: Path, page: Callable[[], str]) -> bool:
    try:
        write_page(file, page())
    except NotWritten as error:
        warn(f"{error} The grading counts.")
    except Exception as error:  # noqa: BLE001 - no fault in a page may take a result away
        warn(f"--html: the page {file} is not written. {type(error).__name__}: {error}. The grading counts.")
    else:
        return True
    return False


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
