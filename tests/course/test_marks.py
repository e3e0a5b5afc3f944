"""The marks that lessons and docs/speed.md name are those that grade."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.calibrating import share_of
from tlpuzzles.verdict.thresholds import FILE, read, shipped
from tlpuzzles.workspace.folders import shipped as folders

DOCS = Path(__file__).parents[2] / "docs"
SPEED = (DOCS / "speed.md").read_text("utf-8")
CALIBRATE = (DOCS / "calibrate.md").read_text("utf-8")
FAMILIES = ("sm_90", "sm_80", "sm_89", "sm_75")
"""Of the columns of the table in docs/speed.md."""
BASELINES = {
    "a copy": "copy",
    "cuBLAS": "cublas",
    "three kernels": "eager",
    "SDPA, cuDNN": "cudnn-sdpa",
    "SDPA, FlashAttention": "flash-sdpa",
    "SDPA, memory-efficient": "efficient-sdpa",
}
TIMED = [exercise for exercise in catalog.exercises() if exercise.timings]


def _marks(exercise: Exercise, family: str, against: str) -> set[tuple[str, str]]:
    found = [
        one for one in shipped().entries if (one.exercise, one.gpu, one.against) == (exercise.slug, family, against)
    ]
    return {(f"{one.pass_at:.2f}", f"{one.full_at:.2f}") for one in found}


@pytest.mark.parametrize("exercise", TIMED, ids=lambda exercise: exercise.slug)
def test_a_lesson_names_the_marks_that_grade(exercise: Exercise) -> None:
    lesson = " ".join(folders(exercise).lesson(exercise).read_text("utf-8").split())
    first = exercise.timings[0].against[0].id

    told = re.findall(r"passes from a ratio of (\d\.\d\d)\b.*? all points from (\d\.\d\d)\b", lesson)

    assert set(told) == _marks(exercise, "sm_90", first)


def test_the_example_of_an_entry_keeps_the_rule_that_is_told_beside_it(tmp_path: Path) -> None:
    """docs/calibrate.md: the marks are the course's shares of `reference`."""
    file = tmp_path / FILE
    file.write_text(textwrap.dedent(re.findall(r"```toml\n(.*?)```", CALIBRATE, re.DOTALL)[0]), "utf-8")
    (entry,) = read(file).entries
    exercise = next(one for one in TIMED if one.slug == entry.exercise)
    timing = next(one for one in exercise.timings if one.case.id == entry.case)
    share = share_of(exercise, timing, shipped())

    assert entry.reference is not None
    assert share.of_course
    assert (entry.pass_at, entry.full_at) == tuple(
        round(part * entry.reference, 3) for part in (share.passing, share.full)
    )


def test_the_table_of_marks_is_that_which_grades() -> None:
    rows = re.findall(r"^" + r"\| ([^|]*) " * 6 + r"\|$", SPEED, re.MULTILINE)[2:]
    number, seen = 0, 0

    for name, baseline, *cells in rows:
        number = int(name[0]) if name.strip() else number
        exercise = next(one for one in TIMED if one.number == number)
        for family, cell in zip(FAMILIES, cells, strict=True):
            marks = _marks(exercise, family, BASELINES[baseline])
            if "the same bar" in cell:
                assert len(marks) > 1, "problems have marks of their own"
            else:
                told = set(cell.strip().split("; ")) - {""}
                assert {f"{low} to {high}" for low, high in marks} == told, (name, baseline, family)
            seen += len(marks)

    assert seen > 30
