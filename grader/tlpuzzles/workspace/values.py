"""What is read from the record, value by value.

SQLite keeps any kind of value in any column, and others write into a file, too. What comes from here is what its type
says, and safe to be printed. Each function raises Wrong for what nobody of ours wrote.
"""

from __future__ import annotations

import math
from datetime import datetime
from enum import Enum
from typing import TypeVar

from tlpuzzles.plain import one_line

Named = TypeVar("Named", bound=Enum)

MOST = 1 << 53
"""Whatever is counted here: a float holds each whole number up to it."""
YEARS = range(1970, 9999)
"""In which every time zone has a time for a moment."""


class Wrong(ValueError):
    """A value that nobody of ours wrote."""


def whole(value: object, column: str, least: int = 0) -> int:
    """A number that counts something."""
    if type(value) is not int or not least <= value <= MOST:
        raise _wrong(value, column, "is no such number")
    return value


def ratio(value: object, column: str) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:  # type: ignore[arg-type,operator]
        raise _wrong(value, column, "is no ratio")
    return float(value)  # type: ignore[arg-type]


def text(value: object, column: str) -> str:
    """A text that may hold anything, like the path of a file."""
    if not isinstance(value, str):
        raise _wrong(value, column, "is no text")
    return value


def name(value: object, column: str) -> str:
    """A text that can be printed as it is: the name of a case, or of a GPU."""
    found = text(value, column)
    if not found.isprintable():
        raise _wrong(value, column, "is no name")
    return found


def moment(value: object, column: str) -> datetime:
    try:
        found = datetime.fromisoformat(text(value, column))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None or found.year not in YEARS:
        raise _wrong(value, column, "is no time")
    return found


def one_of(kind: type[Named], value: object, column: str) -> Named:
    try:
        return kind(value)
    except ValueError:
        raise _wrong(value, column, f"is none of {', '.join(one.value for one in kind)}") from None


def blob(value: object, column: str) -> bytes:
    if not isinstance(value, bytes):
        raise _wrong(value, column, "is no content of a file")
    return value


def _wrong(value: object, column: str, why: str) -> Wrong:
    return Wrong(f"{column} is {one_line(repr(value)[:60])}, which {why}")
