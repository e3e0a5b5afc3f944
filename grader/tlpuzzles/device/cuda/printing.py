"""Tells the device prints of one launch from those of another: all of them go to this process's standard output."""

from __future__ import annotations

import ctypes
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

_NONCE = secrets.token_hex(8)
"""A kernel that prints what looks like a mark would have to guess it; each process has its own."""


@contextmanager
def launch(case: str, number: int) -> Iterator[None]:
    """Marks what the first launch of a case prints inside; what others print is dropped, for it is the same again.

    The launch must have ended when this does.
    """
    if number > 0:
        with _dropped():
            yield
        return
    _mark(f"begin {case}")
    try:
        yield
    finally:
        _mark(f"end {case}")


@contextmanager
def _dropped() -> Iterator[None]:
    _flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    try:
        yield
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def nonce() -> str:
    """What this process's marks are known by; for the parent, over a channel that a kernel cannot write to."""
    global _NONCE
    # Drawn in the process that launches: a process forked from one that has drawn it would share it.
    _NONCE = secrets.token_hex(8)
    return _NONCE


def of_launches(output: str, nonce: str) -> dict[str, str]:
    """What the first launch of each case printed."""
    mark = re.compile(rf"<{nonce} (begin|end) (\S+)>\n?")
    found: dict[str, str] = {}
    begun: str | None = None
    at = 0
    for match in mark.finditer(output):
        if begun is not None:
            found[begun] = output[at : match.start()]
        begun = match[2] if match[1] == "begin" else None
        at = match.end()
    if begun is not None:
        found[begun] = output[at:]
    return found


def unmarked(output: str) -> str:
    """The output without marks."""
    return re.sub(r"<[0-9a-f]{16} (begin|end) \S+>\n?", "", output)


def _mark(text: str) -> None:
    _flush()
    os.write(1, f"<{_NONCE} {text}>\n".encode())


def _flush() -> None:
    # The driver writes device prints through C's buffered standard output when a launch is waited for.
    ctypes.CDLL(None).fflush(None)
