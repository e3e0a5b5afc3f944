"""Reports as pages: one self-contained HTML file that needs no script and fetches nothing, in light and in dark."""

from __future__ import annotations

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.report.page.grading import graded
from tlpuzzles.report.page.rendering import render
from tlpuzzles.verdict.model import Result
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
    after = None if following is None else (following.number, following.title)
    told = graded(result, exercise.title, following=after, past=past, nvcc=nvcc)
    return render("fragment.html", graded=told, level=FRAGMENTS_LEVEL)
