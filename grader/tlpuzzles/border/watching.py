"""Follows a child of the warm process to its end: reads its pipes, and ends it when it overruns."""

from __future__ import annotations

import json
import os
import selectors
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tlpuzzles.border.limits import Limits

MAX_OUTPUT = 64 << 10
"""Bytes kept of what a child prints; the rest is counted and dropped."""
MAX_MESSAGES = 64 << 20
"""Bytes accepted of a child's messages."""

Message = dict[str, Any]


PATIENCE = 5.0
"""Seconds in which the warm process must tell of a child that was killed; after that it is itself in trouble."""


START = 120.0
"""Seconds in which a child must have been forked; the first one waits for torch and tilelang to be imported."""


class End(Enum):
    """How a child ended. Whatever its messages say, only FINISHED means that it did all it was asked."""

    FINISHED = "finished"
    EXITED = "exited before it was done"
    SIGNALLED = "was ended by a signal"
    TIMED_OUT = "took too long"
    FLOODED = "sent more than may be sent"


@dataclass(frozen=True)
class Report:
    """What the parent knows of a child that has ended."""

    end: End
    messages: list[Message]
    output: str
    """What it printed to standard output and error, at most MAX_OUTPUT bytes."""
    dropped: int
    """Bytes of output beyond that."""
    code: int | None = None
    """Exit status, or minus the signal's number."""
    seconds: float = 0.0

    def of(self, kind: str) -> list[Message]:
        return [message for message in self.messages if message.get("kind") == kind]


@dataclass
class _Stream:
    """Bytes from a pipe, up to a limit."""

    limit: int
    data: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def add(self, chunk: bytes) -> None:
        room = self.limit - len(self.data)
        self.data += chunk[:room]
        self.dropped += max(0, len(chunk) - room)


class Watch:
    """Reads a child's pipes until it has ended, and ends it when it overruns."""

    def __init__(
        self, messages: int, output: int, status: int, limits: Limits, on_message: Callable[[Message], None] | None
    ) -> None:
        self.pid: int | None = None
        self.code: int | None = None
        self.killed: End | None = None
        self._fds = {messages: _Stream(MAX_MESSAGES), output: _Stream(MAX_OUTPUT), status: _Stream(4096)}
        self._messages, self._output, self._status = messages, output, status
        self._limits, self._on_message = limits, on_message
        self._received: list[Message] = []
        self._heard = self._killed_at = 0.0
        self._parsed = 0

    def run(self) -> None:
        try:
            self._loop()
        except BaseException:
            self.kill()
            raise

    def _loop(self) -> None:
        end: float | None = None
        begin = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for fd in self._fds:
                os.set_blocking(fd, False)
                selector.register(fd, selectors.EVENT_READ)
            while self.code is None and self._status in selector.get_map():
                now = time.monotonic()
                if (self.killed and now > self._killed_at + PATIENCE) or (self.pid is None and now > begin + START):
                    return
                # The clock starts when the child does: before that it waits for the warm process to be ready.
                if end is None and self.pid is not None:
                    end = time.monotonic() + self._limits.seconds
                    self._heard = time.monotonic()
                deadline = self._deadline(end)
                wait = max(0.0, (begin + START if deadline is None else deadline) - time.monotonic())
                for key, _ in selector.select(wait):
                    if not self._read(key.fd):
                        selector.unregister(key.fd)
                self._read_status()
                deadline = self._deadline(end)
                if end is not None and deadline is not None and time.monotonic() >= deadline and self.code is None:
                    self.killed = self.killed or End.TIMED_OUT
                    self.kill()
                    end = self._heard = time.monotonic() + PATIENCE
                if self._fds[self._messages].dropped:
                    self.killed = End.FLOODED
                    self.kill()
        for fd in (self._messages, self._output):
            self._read(fd)
        self._parse()

    def _deadline(self, end: float | None) -> float | None:
        """When the child must have ended, or have been heard of."""
        if end is None or self._limits.silence is None:
            return end
        return min(end, self._heard + self._limits.silence)

    def _read(self, fd: int) -> bool:
        """Reads what is there; False at the end of the pipe."""
        while True:
            try:
                chunk = os.read(fd, 1 << 16)
            except BlockingIOError:
                break
            if not chunk:
                return False
            self._fds[fd].add(chunk)
            if fd == self._messages:
                self._parse()
            if fd != self._status and self._fds[fd].dropped:
                break
        return True

    def _parse(self) -> None:
        data = self._fds[self._messages].data
        while (end := data.find(b"\n", self._parsed)) >= 0:
            line, self._parsed = bytes(data[self._parsed : end]), end + 1
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            if isinstance(message, dict):
                self._heard = time.monotonic()
                self._received.append(message)
                if self._on_message is not None:
                    self._on_message(message)

    def _read_status(self) -> None:
        for line in bytes(self._fds[self._status].data).splitlines():
            record = json.loads(line)
            self.pid = record.get("pid", self.pid)
            self.code = record.get("status", self.code)

    def kill(self) -> None:
        """Ends the child, if it has begun."""
        if self.pid is None:
            return
        self._killed_at = self._killed_at or time.monotonic()
        for end in (os.killpg, os.kill):
            try:
                end(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def report(self, seconds: float) -> Report:
        output = self._fds[self._output]
        return Report(
            self._end(),
            [message for message in self._received if message.get("kind") != "done"],
            output.data.decode(errors="replace"),
            output.dropped,
            self.code,
            seconds,
        )

    def _end(self) -> End:
        if self.killed is not None:
            return self.killed
        if self.code is not None and self.code < 0:
            return End.SIGNALLED
        done = any(message.get("kind") == "done" for message in self._received)
        return End.FINISHED if done and self.code == 0 else End.EXITED
