"""What the record tells of each exercise."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path

from tlpuzzles.verdict.outcomes import Verdict
from tlpuzzles.workspace.record import Record


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
    record = Record(root)
    with record.reading() as connection:
        if connection is None:
            return {}
        # One transaction, so that what another process adds meanwhile is in all of it or in none.
        connection.execute("BEGIN")
        ratios: dict[int, dict[str, float]] = {}
        for attempt, name, ratio in connection.execute("SELECT attempt, name, ratio FROM ratios"):
            ratios.setdefault(attempt, {})[name] = ratio
        try:
            attempts = _attempts(connection, ratios)
        except (TypeError, ValueError) as error:
            raise record.damaged(str(error)) from error
        hints = dict(connection.execute("SELECT exercise, max(level) FROM hints GROUP BY exercise"))
        given_up = {slug for (slug,) in connection.execute("SELECT exercise FROM given_up")}
    slugs = attempts.keys() | hints.keys() | given_up
    return {slug: Past(tuple(attempts.get(slug, ())), hints.get(slug, 0), slug in given_up) for slug in slugs}


def content(root: Path, attempt: Attempt) -> bytes | None:
    """The file as it was then; None if it was too long to keep. Raises Unusable."""
    with Record(root).reading() as connection:
        if connection is None or attempt.file is None:
            return None
        row = connection.execute("SELECT content FROM files WHERE hash = ?", (attempt.file,)).fetchone()
        return None if row is None else bytes(row[0])


_COLUMNS = (
    "id, exercise, number, at, origin, path, file, hint, verdict, only_case, earned, possible, not_graded, device, arch"
)


def _attempts(connection: sqlite3.Connection, ratios: Mapping[int, Mapping[str, float]]) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    rows: Iterable[
        tuple[int, str, int, str, str, str, str | None, int, str | None, str | None, int, int, int, str, str]
    ]
    rows = connection.execute(f"SELECT {_COLUMNS} FROM attempts ORDER BY exercise, number")
    for id_, slug, number, at, origin, path, file, hint, verdict, only, earned, possible, left, device, arch in rows:
        found.setdefault(slug, []).append(
            Attempt(
                number,
                datetime.fromisoformat(at),
                Origin(origin),
                path,
                file,
                hint,
                None if verdict is None else Verdict(verdict),
                only,
                earned or 0,
                possible or 0,
                left or 0,
                device or "",
                arch,
                ratios.get(id_, {}),
            )
        )
    return found
