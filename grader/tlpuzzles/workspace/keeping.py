"""Writes the record: what was graded, what was put away, and what help was taken."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.workspace import values
from tlpuzzles.workspace.attempts import Origin
from tlpuzzles.workspace.record import Record

if TYPE_CHECKING:
    from tlpuzzles.verdict.model import Result

MOST = 32 << 10
"""Characters that the document of one grading may take."""
RECENT = 200
"""Attempts of an exercise, the latest, whose documents are kept: who watches a file has it graded at every save."""

SECRET = ("seed", "expected", "found")
"""Fields of a check's detail that are left out. A learner's kernel could read them here in its next grading, which may
be told to draw the same problem again."""


def keep_grading(root: Path, exercise: Exercise, path: Path, text: bytes | None, result: Result) -> None:
    """Keeps one grading of a file of this workspace, whose `path` begins there. Raises Unusable."""
    document = _document(result)
    with Record(root).writing() as connection:
        attempt, number = _insert(connection, exercise, Origin.GRADED, path, text)
        points, device = result.points, result.device
        connection.execute(
            "UPDATE attempts SET verdict = ?, only_case = ?, earned = ?, possible = ?, not_graded = ?, device = ?, "
            "arch = ?, document = ? WHERE id = ?",
            (
                result.verdict.value,
                result.only,
                points.earned,
                points.possible,
                points.not_graded,
                _sane(device.name),
                device.arch,
                document,
                attempt,
            ),
        )
        connection.executemany(
            "INSERT INTO ratios VALUES (?, ?, ?, ?)",
            [(attempt, speed.case, speed.ratio, _sane(speed.baseline)) for speed in result.speed or ()],
        )
        connection.execute(
            "UPDATE attempts SET document = NULL WHERE exercise = ? AND number <= ? AND document IS NOT NULL",
            (exercise.slug, number - RECENT),
        )


def keep_file(root: Path, exercise: Exercise, path: Path, text: bytes) -> int:
    """Keeps a file before something else takes its place. Returns the number of the attempt that has its text, which is
    an earlier one if it was kept already. Raises Unusable."""
    with Record(root).writing() as connection:
        known = connection.execute(
            "SELECT coalesce(max(number), 0) FROM attempts WHERE exercise = ? AND file = ?",
            (exercise.slug, hash_of(text)),
        ).fetchone()[0]
        return values.whole(known, "number") or _insert(connection, exercise, Origin.KEPT, path, text)[1]


def keep_hint(root: Path, exercise: Exercise, level: int) -> None:
    """Keeps that a hint was read. Raises Unusable."""
    with Record(root).writing() as connection:
        connection.execute("INSERT INTO hints VALUES (?, ?, ?)", (exercise.slug, level, _now()))


def keep_given_up(root: Path, exercise: Exercise) -> None:
    """Keeps that the solution was looked at before the exercise was passed. Raises Unusable."""
    with Record(root).writing() as connection:
        connection.execute("INSERT OR IGNORE INTO given_up VALUES (?, ?)", (exercise.slug, _now()))


def hash_of(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _insert(
    connection: sqlite3.Connection, exercise: Exercise, origin: Origin, path: Path, text: bytes | None
) -> tuple[int, int]:
    """The attempt's id and its number."""
    file = None if text is None else hash_of(text)
    if file is not None:
        connection.execute("INSERT OR IGNORE INTO files VALUES (?, ?)", (file, text))
    latest = connection.execute(
        "SELECT coalesce(max(number), 0) FROM attempts WHERE exercise = ?", (exercise.slug,)
    ).fetchone()[0]
    number = values.whole(latest, "number") + 1
    inserted = connection.execute(
        "INSERT INTO attempts (exercise, number, at, origin, path, file, hint) SELECT ?1, ?2, ?3, ?4, ?5, ?6, "
        "coalesce(max(level), 0) FROM hints WHERE exercise = ?1",
        (exercise.slug, number, _now(), origin.value, _sane(str(path)), file),
    )
    assert inserted.lastrowid is not None
    return inserted.lastrowid, number


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _sane(text: str) -> str:
    """Text as SQLite takes it: the name of a file may hold bytes that are no characters."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _document(result: Result) -> str:
    """The result as JSON, without what must not be known and, where it is long, without what says least."""
    document = result.document()
    checks = document["checks"]
    assert isinstance(checks, list)
    details = [check["detail"] for check in checks if check["detail"]]
    for detail in details:
        for name in SECRET:
            detail.pop(name)
    shorter: dict[str, object] = {"output": "", "shortened": True}
    for less in ({}, shorter, {**shorter, "speed": None}, {**shorter, "speed": None, "checks": []}):
        text = json.dumps({**document, **less}, separators=(",", ":"))
        if len(text) <= MOST:
            return text
        for detail in details:
            detail.pop("raw", None)
    return text
