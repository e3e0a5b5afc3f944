"""What a file says, put into a sentence of ours: short, and without what would drive a terminal."""

from __future__ import annotations

import datetime
import reprlib

LONGEST = 60
"""Characters that are shown of a name or a value."""


def bare(text: object, most: int = LONGEST) -> str:
    """A name without quotes, on one line. What is no text is `quoted`."""
    whole = text if isinstance(text, str) else quoted(text)
    shown = whole if len(whole) <= most else f"{whole[:most]}..."
    return "".join(char if char.isprintable() else "?" for char in shown)


def quoted(value: object) -> str:
    """A value of a TOML file: as Python writes it, but for dates and truth values, which look as in the file."""
    return _SHORT.repr(value)


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 2
        self.maxlist = self.maxdict = 3
        self.maxstring = self.maxlong = self.maxother = LONGEST

    def repr_int(self, number: int, level: int) -> str:
        try:
            return super().repr_int(number, level)
        except ValueError:  # Python does not write out numbers of thousands of digits
            return "a number of thousands of digits"

    def repr_bool(self, value: bool, level: int) -> str:
        return "true" if value else "false"

    def repr_date(self, value: datetime.date, level: int) -> str:
        return value.isoformat()

    repr_datetime = repr_date

    def repr_time(self, value: datetime.time, level: int) -> str:
        return value.isoformat()


_SHORT = _Short()
