"""Saves a cell as the file of its exercise; what was there before stays to be had."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace import attempts, keeping
from tlpuzzles.workspace.attempts import Past
from tlpuzzles.workspace.folders import Folders, shipped
from tlpuzzles.workspace.record import Unusable
from tlpuzzles.workspace.replacing import MOST, put_aside, read_present, replace


@dataclass(frozen=True)
class Saved:
    """Where a cell was saved, and as what."""

    file: Path
    text: str
    remark: str = ""
    """Where to find what was there before, if that is news to the learner."""


def save(exercise: Exercise, root: Path, cell: str) -> Saved:
    """Raises UsageError if that cannot be done; the file is as it was then."""
    file = Folders(root).file(exercise)
    text = as_file(exercise, cell)
    content = _encoded(text)
    before = read_present(file, root)
    remark = "" if before is None or before == content else _keep(exercise, root, file, before, cell)
    if before != content:
        replace(file, content, root)
    return Saved(file, text, remark)


def as_file(exercise: Exercise, cell: str) -> str:
    """The cell with a comment in the place of its first line, so that line 12 of the file is line 12 of the cell."""
    return f"# %%exercise {exercise.number}\n{cell.rstrip()}\n"


def _encoded(text: str) -> bytes:
    """Raises UsageError for what could be saved but not be graded, or not even be saved."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        line, code = text.count("\n", 0, error.start) + 1, ord(text[error.start])
        raise UsageError(
            f"Line {line} of the cell has half a character (U+{code:04X}), as a paste leaves it at times, and no file "
            "can hold that. Take it out, and run the cell again. Nothing was saved."
        ) from None
    if len(content) > MOST:
        raise UsageError(
            f"The cell has more than {MOST >> 10} KiB, and no file of that length is graded. Is it the right cell? "
            "Nothing was saved."
        )
    return content


def _keep(exercise: Exercise, root: Path, file: Path, before: bytes, cell: str) -> str:
    """Sees to it that what was there is an attempt. Says so where the learner does not expect that it was replaced."""
    skeleton = shipped(exercise).file(exercise).read_text("utf-8")
    if before in (skeleton.encode("utf-8"), as_file(exercise, skeleton).encode("utf-8")):
        return ""
    try:
        known = {attempt.file for attempt in attempts.read(root).get(exercise.slug, Past()).attempts}
        number = keeping.keep_file(root, exercise, file.relative_to(root), before)
    except Unusable as error:
        return f"What {file.name} had before is in {put_aside(file, before, root)}. {error}"
    is_next_try = keeping.hash_of(before) in known and cell.strip() != skeleton.strip()
    if is_next_try:
        return ""
    return (
        f"What {file.name} had before is kept as attempt {number}. To have it in a cell again: "
        f"%tlpuzzles restore {exercise.number} --attempt {number}, and then %load {file}"
    )
