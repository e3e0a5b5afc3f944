"""The notebook of an exercise: its lesson, its skeleton as a cell that is graded, its hints, its words."""

from __future__ import annotations

from tools.notebooks import cells, lesson

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.workspace.documents import document
from tlpuzzles.workspace.folders import shipped
from tlpuzzles.workspace.glossary import read_terms

SET_UP = """\
## Set up

Run the next four cells, one after the other (Shift+Enter). Without a GPU everything works but the measuring of speed; to
have one on Colab: *Runtime*, *Change runtime type*, *T4 GPU*.
"""


def make(exercise: Exercise) -> str:
    """The notebook's file."""
    folders = shipped(exercise)
    page = folders.lesson(exercise).read_text("utf-8")
    head, *rest = lesson.sections(page)
    made = [cells.text("title", head.text), cells.text("set-up", SET_UP), *cells.set_up()]
    for number, section in enumerate(rest, 1):
        made.append(cells.text(f"lesson-{number}", section.text))
        if section.heading == lesson.TASK:
            made += _task(exercise, folders.file(exercise).read_text("utf-8"))
    made.append(cells.text("words", lesson.words(page, read_terms(document("glossary.md").read_text("utf-8")))))
    return cells.notebook(made)


def _task(exercise: Exercise, skeleton: str) -> list[cells.NotebookNode]:
    number = exercise.number
    kernel = f"""\
### Your kernel

`{exercise.file}` is the next cell. Edit it and run it: that saves it in your workspace, grades it, and says what is right,
what is wrong and why. Lines in the report are counted as in the cell (on Colab, Ctrl+M L shows their numbers).

`%%exercise` not found? Run the cells under "Set up" again: a runtime that was restarted has forgotten them.
"""
    stuck = f"""\
### If you are stuck

Each run of the next cell gives a further hint. The last one shows lines of the solution.
"""
    following = [other for other in catalog.exercises() if other.number > number]
    after = f"go on with `{following[0].folder}.ipynb`" if following else "you have done the course"
    done = f"""\
### How far you have come

Every grading is kept in your workspace. When this exercise has passed, {after}.
"""
    return [
        cells.text("kernel", kernel),
        cells.code("exercise", f"%%exercise {number}\n{skeleton}"),
        cells.text("stuck", stuck),
        cells.code("hint", f"%hint {number}"),
        cells.text("done", done),
        cells.code("progress", "%progress"),
    ]
