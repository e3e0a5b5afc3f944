"""Grades a source text as if a learner had saved it, for tests on any device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tlpuzzles.course import catalog
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.options import Options
from tlpuzzles.verdict.model import Result
from tlpuzzles.workspace.folders import shipped


def grades(grader: Grader, folder: Path, usual: Options) -> Callable[..., Result]:
    """A function (name of the exercise, text, **options that differ from the usual ones) -> result."""

    def grade(name: str, text: str, **options: object) -> Result:
        exercise = catalog.find(name)
        file = folder / exercise.file
        file.write_text(text, encoding="utf-8")
        skeleton = shipped(exercise).file(exercise).read_text(encoding="utf-8")
        return grader.grade(exercise, file, skeleton, replace(usual, **options))  # type: ignore[arg-type]

    return grade
