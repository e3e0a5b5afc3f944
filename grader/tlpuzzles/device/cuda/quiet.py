"""Keeps what compilers print away from the terminal, and for the caller."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Captured:
    """What was printed, once the block has ended."""

    text: str = ""


@contextlib.contextmanager
def captured() -> Iterator[Captured]:
    """Standard output and error, of Python (TileLang's logger) and of native code (TVM's warnings), go into `Captured`.

    The whole process's output is redirected: not for two threads at once.
    """
    result = Captured()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        kept = [os.dup(fd) for fd in (1, 2)]
        try:
            for fd in (1, 2):
                os.dup2(file.fileno(), fd)
            with contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
                yield result
        finally:
            file.flush()
            for fd, original in zip((1, 2), kept, strict=True):
                os.dup2(original, fd)
                os.close(original)
            file.seek(0)
            result.text = file.read()
