"""What commands do with the record of a workspace, and what they say where it cannot be used."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tlpuzzles.commands import output
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.plain import one_line
from tlpuzzles.workspace import attempts
from tlpuzzles.workspace.attempts import Attempt, Past
from tlpuzzles.workspace.folders import Folders, current_folder, is_shipped, required_root, shipped, workspace_root
from tlpuzzles.workspace.marker import MARKER
from tlpuzzles.workspace.record import Unusable

if TYPE_CHECKING:
    from tlpuzzles.grading.submission import Submission
    from tlpuzzles.verdict.model import Result


warn = cache(output.warn)
"""Says the same once, however many exercises `grade --all` grades."""


def keep_grading(exercise: Exercise, handed_in: Submission | None, result: Result) -> Path | None:
    """Keeps a grading, if the file is one of a workspace: that one. Whatever keeps it from that, the grading counts."""
    from tlpuzzles.workspace import keeping

    if handed_in is None:
        return None
    try:
        path = Path(os.path.abspath(handed_in.shown))  # noqa: PTH100 - links are not followed: it is where it was named
        root = _root_of(exercise, path)
        if root is not None:
            keeping.keep_grading(root, exercise, path.relative_to(root), handed_in.content, result)
            return root
    except Unusable as error:
        warn(f"This grading is not kept. {error}")
    except Exception as error:  # noqa: BLE001 - no fault in what keeps a record may take a result away
        warn(f"This grading is not kept. {type(error).__name__}: {error}")
    return None


def keep_hint(exercise: Exercise, level: int, start: Path) -> None:
    """Keeps that a hint was read, if the folder `start` is in a workspace."""
    from tlpuzzles.workspace import keeping

    root = workspace_root(start)
    if root is None or not (root / exercise.folder).is_dir() or is_shipped(exercise, root):
        return
    try:
        keeping.keep_hint(root, exercise, level)
    except Unusable as error:
        warn(f"That you read this hint is not kept. {error}")


def pasts(root: Path | None) -> dict[str, Past]:
    """What is recorded in a workspace, by slug: nothing, and a warning, where the record cannot be read."""
    try:
        return {} if root is None else attempts.read(root)
    except Unusable as error:
        warn(f"Your attempts cannot be read. {error}")
        return {}


def recorded(root: Path, exercise: Exercise) -> Past:
    """What is recorded of an exercise, for a command that needs it. Raises UsageError."""
    try:
        return attempts.read(root).get(exercise.slug, Past())
    except Unusable as error:
        raise UsageError(f"Your attempts cannot be read. {error}") from None


def numbered(exercise: Exercise, past: Past, number: int) -> Attempt:
    """Raises UsageError if there is no such attempt."""
    found = past.numbered(number)
    if found is None:
        raise UsageError(
            f"Exercise {exercise.number} has no attempt {number}. `tlpuzzles restore {exercise.number}` lists those "
            "that there are."
        )
    return found


def content_of(root: Path, attempt: Attempt) -> bytes:
    """The file of an attempt. Raises UsageError if it was not kept or cannot be read."""
    try:
        content = attempts.content(root, attempt)
    except Unusable as error:
        raise UsageError(f"Attempt {attempt.number} cannot be read. {error}") from None
    if content is None:
        raise UsageError(f"The file of attempt {attempt.number} was too long to be kept.")
    return content


def put_in_place(exercise: Exercise, workspace: Folders, content: bytes) -> Put:
    """Puts this content in the place of the learner's file, when what is there now has been kept as an attempt. The
    skeleton is not: `tlpuzzles reset` has it.

    Raises UsageError where either cannot be done; the file is as it was then.
    """
    from tlpuzzles.workspace import keeping
    from tlpuzzles.workspace.replacing import read_present, replace

    file = workspace.file(exercise)
    present = read_present(file, workspace.root)
    if present == content:
        return Put(changed=False)
    kept = None
    if present is not None and present != shipped(exercise).file(exercise).read_bytes():
        try:
            kept = keeping.keep_file(workspace.root, exercise, file.relative_to(workspace.root), present)
        except Unusable as error:
            raise UsageError(f"What is in {file} cannot be kept, and so was not replaced. {error}") from None
    replace(file, content, workspace.root)
    return Put(changed=True, kept=kept)


@dataclass(frozen=True)
class Put:
    """What putting a content in a file's place did."""

    changed: bool
    kept: int | None = None
    """Number of the attempt that has what was there before; None: nothing was."""


def tell(put: Put, exercise: Exercise, workspace: Folders, what: str) -> None:
    """Says what became of the learner's file. `what` was to be put there: "attempt 3"."""
    out, file = output.console(), one_line(workspace.file(exercise))
    if not put.changed:
        out.print(f"{file} is {what} already.", soft_wrap=True, markup=False)
        return
    out.print(f"{what[:1].upper()}{what[1:]} is back in {file}", soft_wrap=True, markup=False)
    if put.kept is not None:
        again = f"tlpuzzles restore {exercise.number} --attempt {put.kept}"
        out.print(f"What was there is attempt {put.kept}: [bold]{again}[/]", soft_wrap=True)


def own_workspace(exercise: Exercise) -> Folders:
    """The learner's exercises, to change files there. Raises NoWorkspace, and UsageError in a checkout of tlpuzzles."""
    root = required_root(current_folder())
    if is_shipped(exercise, root):
        raise UsageError(
            f"{root} is where the course itself keeps its exercises (you are in a checkout of tlpuzzles), and no "
            "attempts are kept there.\n"
            "Make a folder of your own, outside of what git tracks: tlpuzzles init ~/my-kernels"
        )
    return Folders(root)


def _root_of(exercise: Exercise, file: Path) -> Path | None:
    """The workspace in whose folder for this exercise the file lies."""
    for folder in file.parents:
        if folder.name == exercise.folder and (folder.parent / MARKER).is_file():
            return None if is_shipped(exercise, folder.parent) else folder.parent
    return None
