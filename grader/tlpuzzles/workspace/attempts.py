"""What the record tells of each exercise."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TypeVar

from tlpuzzles.verdict.outcomes import Verdict
from tlpuzzles.workspace import values
from tlpuzzles.workspace.record import Record
from tlpuzzles.workspace.replacing import MOST

Value = TypeVar("Value")


class Origin(str, Enum):
    """Why a file was kept."""

    GRADED = "graded"
    KEPT = "kept"
    """Before something else was put in its place."""


class State(str, Enum):
    """How far an exercise has come."""

    UNTRIED = "not tried"
    TRIED = "tried"
    GIVEN_UP = "given up"
    PASSED = "passed"


@dataclass(frozen=True)
class Attempt:
    """A grading of the learner's file, or a file that was kept."""

    number: int
    at: datetime
    origin: Origin
    path: str
    """Of the file, from the workspace on."""
    file: str | None
    """Hash of its text; None for one that was too long to keep."""
    hint: int
    """Highest level of the hints read by then."""
    verdict: Verdict | None
    """None for what was only kept."""
    only: str | None
    """The one case that was graded; None: all."""
    earned: int
    possible: int
    not_graded: int
    device: str
    arch: str | None
    ratios: Mapping[str, float] = field(default_factory=dict)
    """By timed case."""

    @property
    def is_whole(self) -> bool:
        """Whether it is a grading of the whole exercise."""
        return self.origin is Origin.GRADED and self.only is None

    @property
    def is_try(self) -> bool:
        """Whether it says something of what the learner wrote: no skeleton, no error of ours."""
        return self.origin is Origin.GRADED and self.verdict not in (Verdict.NOT_STARTED, Verdict.ERROR)

    @property
    def passed(self) -> bool:
        return self.is_whole and self.verdict is Verdict.PASSED

    @property
    def of(self) -> int:
        """The points that it could have had where it was graded."""
        return self.possible - self.not_graded

    @property
    def ratio(self) -> float | None:
        """The lowest: an exercise is as fast as its slowest case."""
        return min(self.ratios.values(), default=None)


@dataclass(frozen=True)
class Past:
    """All that is recorded of one exercise."""

    attempts: tuple[Attempt, ...] = ()
    """By number."""
    hint: int = 0
    """Highest level of the hints read; 0: none."""
    given_up: bool = False
    """Whether the solution was looked at before the exercise was passed."""

    @property
    def tries(self) -> int:
        return sum(attempt.is_try for attempt in self.attempts)

    @property
    def whole(self) -> list[Attempt]:
        """The gradings of the whole exercise that say something of the file."""
        return [attempt for attempt in self.attempts if attempt.is_whole and attempt.is_try]

    @property
    def state(self) -> State:
        if any(attempt.passed for attempt in self.attempts):
            return State.PASSED
        if self.given_up:
            return State.GIVEN_UP
        return State.TRIED if self.tries else State.UNTRIED

    @property
    def best(self) -> Attempt | None:
        """Of those that passed if there are any, the one with most points, then the fastest, then the latest."""
        return max(self.whole, key=lambda a: (a.passed, a.earned, a.ratio or 0, a.number), default=None)

    @property
    def best_passed(self) -> Attempt | None:
        best = self.best
        return best if best is not None and best.passed else None

    @property
    def best_ratio(self) -> float | None:
        return max((attempt.ratio for attempt in self.whole if attempt.ratio is not None), default=None)

    def numbered(self, number: int) -> Attempt | None:
        return next((attempt for attempt in self.attempts if attempt.number == number), None)


def read(root: Path) -> dict[str, Past]:
    """By slug, what is recorded in this workspace. Raises Unusable."""
    with Record(root).reading() as connection:
        if connection is None:
            return {}
        # One transaction, so that what another process adds meanwhile is in all of it or in none.
        connection.execute("BEGIN")
        ratios: dict[int, dict[str, float]] = {}
        for attempt, case, ratio in connection.execute("SELECT attempt, name, ratio FROM ratios"):
            ratios.setdefault(attempt, {})[values.name(case, "name")] = values.ratio(ratio, "ratio")
        attempts = _attempts(connection, ratios)
        hints = {
            values.name(slug, "exercise"): values.whole(level, "level")
            for slug, level in connection.execute("SELECT exercise, max(level) FROM hints GROUP BY exercise")
        }
        given_up = {values.name(slug, "exercise") for (slug,) in connection.execute("SELECT exercise FROM given_up")}
    slugs = attempts.keys() | hints.keys() | given_up
    return {slug: Past(tuple(attempts.get(slug, ())), hints.get(slug, 0), slug in given_up) for slug in slugs}


def content(root: Path, attempt: Attempt) -> bytes | None:
    """The file as it was then; None if it was too long to keep. Raises Unusable."""
    with Record(root).reading() as connection:
        if connection is None or attempt.file is None:
            return None
        # What is longer was never kept, and is not even read.
        row = connection.execute(
            "SELECT CASE WHEN length(content) <= ? THEN content END FROM files WHERE hash = ?", (MOST, attempt.file)
        ).fetchone()
        return None if row is None else values.blob(row[0], "content")


_COLUMNS = (
    "id, exercise, number, at, origin, path, file, hint, verdict, only_case, earned, possible, not_graded, device, arch"
)


def _attempts(connection: sqlite3.Connection, ratios: Mapping[int, Mapping[str, float]]) -> dict[str, list[Attempt]]:
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    found: dict[str, list[Attempt]] = {}
    for row in cursor.execute(f"SELECT {_COLUMNS} FROM attempts ORDER BY exercise, number"):
        found.setdefault(values.name(row["exercise"], "exercise"), []).append(_attempt(row, ratios.get(row["id"], {})))
    return found


def _attempt(row: sqlite3.Row, ratios: Mapping[str, float]) -> Attempt:
    def optional(read: Callable[[object, str], Value], column: str) -> Value | None:
        return None if row[column] is None else read(row[column], column)

    earned, possible, not_graded = (
        optional(values.whole, column) or 0 for column in ("earned", "possible", "not_graded")
    )
    if earned + not_graded > possible:
        raise values.Wrong(f"earned is {earned}, which is more than could be had")
    return Attempt(
        number=values.whole(row["number"], "number", 1),
        at=values.moment(row["at"], "at"),
        origin=values.one_of(Origin, row["origin"], "origin"),
        path=values.text(row["path"], "path"),
        file=optional(values.name, "file"),
        hint=values.whole(row["hint"], "hint"),
        verdict=None if row["verdict"] is None else values.one_of(Verdict, row["verdict"], "verdict"),
        only=optional(values.name, "only_case"),
        earned=earned,
        possible=possible,
        not_graded=not_graded,
        device=optional(values.text, "device") or "",
        arch=optional(values.text, "arch"),
        ratios=ratios,
    )
