"""Files of which anything may be true: where they lie others can write, or somebody named them by mistake."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_plain(path: Path, most: int) -> bytes:
    """The content of a plain file. What is none, like a pipe, is not waited for.

    Raises OSError if it cannot be read, is no plain file (EINVAL) or has more than `most` bytes (EFBIG).
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 10} KiB")
    return content


def one_line(text: object) -> str:
    """The name of a file, or other text from outside, as one line without what would drive a terminal: a name may hold
    line breaks, and what follows one would look like a line of ours."""
    return "".join(char if char.isprintable() else "?" for char in str(text))
