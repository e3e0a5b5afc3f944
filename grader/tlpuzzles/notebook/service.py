"""The notebook's side of the process that grades for it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import IO

from tlpuzzles.notebook.messages import Answer, Asked, Working, read_answer, write_asked
from tlpuzzles.notebook.starting import environment, words

PATIENCE = 5.0
"""Seconds that it has to clean up after itself."""


class Ended(Exception):
    """The process ended in the middle of a grading. The message says what it left."""


class Service:
    """Started when it is needed, or a little before, and again after it was stopped."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._rest = b""

    def start(self) -> None:
        """Starts it if it does not run. It takes seconds to be ready; what is asked meanwhile waits for it."""
        if self._process is not None and self._process.poll() is None:
            return
        self.stop()
        self._rest = b""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in stop()
        self._process = subprocess.Popen(
            words("tlpuzzles.notebook.serving"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment(),
            # The button that stops a cell may reach a whole group of processes.
            start_new_session=True,
        )

    def ask(self, asked: Asked, pause: float) -> Iterator[Answer | None]:
        """What it answers, up to the answer that is none of `Working`; None whenever `pause` seconds have passed.

        Raises Ended.
        """
        self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(write_asked(asked).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        while True:
            line = self._line(pause)
            answer = None if line is None else read_answer(line)
            yield answer
            if answer is not None and not isinstance(answer, Working):
                return

    def stop(self) -> None:
        """Ends it, and whatever it is at. Nothing happens where it does not run."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            _wait(process)
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def _line(self, pause: float) -> str | None:
        """The next line, or None if there is none within `pause` seconds. Raises Ended."""
        assert self._process is not None
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        deadline = time.monotonic() + pause
        while b"\n" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([source], [], [], left)[0]:
                return None
            chunk = os.read(source, 1 << 16)
            if not chunk:
                raise self._ended()
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8")

    def _ended(self) -> Ended:
        """Stops what is left of it, and tells its last words."""
        assert self._errors is not None
        if self._process is not None:
            _wait(self._process)
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        self.stop()
        return Ended(lines[-1] if lines else "it left no message")


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Until it has ended, by force if that takes long or the wait is interrupted."""
    try:
        process.wait(PATIENCE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()
