"""Reports as pages: one self-contained HTML file that needs no script and fetches nothing, in light and in dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.report.journey import Stage
from tlpuzzles.report.page.course import course
from tlpuzzles.report.page.grading import Graded, graded
from tlpuzzles.report.page.rendering import render
from tlpuzzles.report.page.tiles import Tiles
from tlpuzzles.report.page.together import together
from tlpuzzles.report.worded import worded
from tlpuzzles.verdict.model import Result, Results
from tlpuzzles.workspace.attempts import Past

FRAGMENTS_LEVEL = 3
"""Level of a fragment's heading: below those that a notebook has."""


def fragment(
    result: Result,
    exercise: Exercise,
    *,
    following: Exercise | None = None,
    past: Past | None = None,
    nvcc: bool = False,
) -> str:
    """The report of one grading as HTML to stand in another page, a notebook's output cell perhaps.

    It brings its own style, which holds for nothing around it, and its own ground, so that it can be read whatever it
    stands on. `following` is the next exercise, `past` what is recorded of this one; `nvcc`: whether kernels were
    compiled for other GPUs to the end.
    """
    told = _graded(result, exercise, following, past, nvcc)
    return render("fragment.html", graded=told, level=FRAGMENTS_LEVEL)


def grading_page(
    result: Result,
    exercise: Exercise,
    at: datetime,
    *,
    following: Exercise | None = None,
    past: Past | None = None,
    tiles: Tiles | None = None,
    nvcc: bool = False,
) -> str:
    """The same as a page, with pictures of the kernel's tiles. `at` is when it was graded."""
    return render("one.html", graded=_graded(result, exercise, following, past, nvcc, tiles), at=at)


def gradings_page(
    results: Results,
    exercises: Sequence[Exercise],
    at: datetime,
    *,
    pasts: Mapping[str, Past],
    nvcc: bool = False,
) -> str:
    """The reports of all exercises, which are in the order of the results, as one page. `pasts` by slug."""
    told = [
        _graded(result, exercise, None, pasts.get(exercise.slug), nvcc)
        for result, exercise in zip(results.exercises, exercises, strict=True)
    ]
    return render("all.html", all=together(results, told), at=at)


def course_page(stages: Sequence[Stage], at: datetime) -> str:
    """The course as it has gone, as a page. `at` is now."""
    return render("course.html", course=course(stages), at=at)


def _graded(
    result: Result,
    exercise: Exercise,
    following: Exercise | None,
    past: Past | None,
    nvcc: bool,
    tiles: Tiles | None = None,
) -> Graded:
    after = None if following is None else (following.number, following.title)
    return graded(
        worded(result), exercise.title, following=after, past=past, tiles=tiles, tiled=exercise.tiled, nvcc=nvcc
    )
