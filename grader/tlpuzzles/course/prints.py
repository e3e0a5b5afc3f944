"""Lines that T.print writes on a device: how they are read."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"(?:msg='(?P<msg>.*?)' )?BlockIdx=\((?P<block>[-\d, ]+)\), ThreadIdx=\((?P<thread>[-\d, ]+)\)"
    r"(?:.*? value=(?P<value>\S+))?"
)


@dataclass(frozen=True)
class PrintedLine:
    """One line of T.print, as TileLang 0.1.15 writes it on a GPU and the CPU device does after it."""

    message: str
    block: tuple[int, ...]
    """Index of the block, (x, y, z)."""
    thread: tuple[int, ...]
    """Index of the thread in its block, (x, y, z)."""
    value: float | None
    """The number printed; None for a message alone."""


def printed_lines(output: str) -> tuple[PrintedLine, ...]:
    """The lines of T.print in what a run printed; others are left out."""
    return tuple(_read(match) for line in output.splitlines() if (match := _LINE.search(line)) is not None)


def _read(match: re.Match[str]) -> PrintedLine:
    try:
        value = None if match["value"] is None else float(match["value"].rstrip(","))
    except ValueError:
        value = None
    return PrintedLine(match["msg"] or "", _index(match["block"]), _index(match["thread"]), value)


def _index(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part.strip())
