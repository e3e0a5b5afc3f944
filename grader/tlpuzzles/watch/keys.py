"""Single keys from a terminal, without Enter."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import threading
import tty
from collections.abc import Callable
from types import TracebackType
from typing import Any

LOOK = 0.2
"""Seconds until it is noticed that no more keys are wanted."""
LOCAL_MODES = 3
"""Where termios has them."""


class Keys:
    """Tells the keys that are pressed on standard input, as long as the `with` block lasts; none if that is no
    terminal. At its end the terminal is as it was before, however it ends."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._fd = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
        self._before: list[Any] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)

    @property
    def are_there(self) -> bool:
        return self._fd is not None

    def __enter__(self) -> Keys:
        if self._fd is not None:
            self._before = termios.tcgetattr(self._fd)
            # Ctrl-C still interrupts, and what is printed still begins at the left.
            tty.setcbreak(self._fd)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._fd is not None and self._before is not None:
            self._stop.set()
            self._thread.join(2 * LOOK)
            # What was typed meanwhile was meant for us, and not for the shell.
            termios.tcsetattr(self._fd, termios.TCSAFLUSH, self._before)

    def _take_back(self) -> None:
        """A shell that has stopped us and lets us go on gives the terminal back as it likes it."""
        assert self._fd is not None
        if termios.tcgetattr(self._fd)[LOCAL_MODES] & termios.ICANON and os.tcgetpgrp(self._fd) == os.getpgrp():
            tty.setcbreak(self._fd)

    def _read(self) -> None:
        assert self._fd is not None
        while not self._stop.is_set():
            ready, _, _ = select.select([self._fd], [], [], LOOK)
            if not ready:
                with contextlib.suppress(OSError, termios.error):  # the terminal is gone
                    self._take_back()
                continue
            data = os.read(self._fd, 64)
            if not data:  # the terminal is gone
                self._tell("q")
                return
            # Arrows and the like come as several bytes after an escape: no key of ours.
            if not data.startswith(b"\x1b"):
                for char in data.decode(errors="ignore"):
                    self._tell(char.lower())
