"""The parent's side of the border: starts the warm process and its children, and learns how each one ended."""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from tlpuzzles.border.limits import Limits

MAX_OUTPUT = 64 << 10
"""Bytes kept of what a child prints; the rest is counted and dropped."""
MAX_MESSAGES = 64 << 20
"""Bytes accepted of a child's messages."""

Message = dict[str, Any]


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


class WarmDied(Exception):
    """The process that every child is forked from is gone, or never came up."""


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


class Warm:
    """The warm process. Start it early: it takes seconds to be ready, and jobs given meanwhile wait for it."""

    def __init__(self, scratch: Path) -> None:
        """`scratch`: a folder for what TileLang writes when it is imported."""
        self._scratch = scratch
        self._lock = threading.Lock()
        self._had_children = False
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        self._control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self._errors = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - closed in close()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _BOOT, json.dumps(_import_path()), str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                pass_fds=(theirs.fileno(),),
                cwd=scratch,
                env=self._environment(),
                start_new_session=True,
            )

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TILELANG_", "TVM_", "TL_"))}
        cache = self._scratch / "tilelang"
        cache.mkdir(exist_ok=True)
        return {
            **kept,
            "TILELANG_CACHE_DIR": str(cache),
            "TILELANG_PRINT_ON_COMPILATION": "0",
            "TMPDIR": str(self._scratch),
            # One thread each: a thread pool started by an import would not survive the forks.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            # TileLang asks whether there is a GPU when it is imported; asking the driver itself would rule out GPUs in
            # forked children, asking NVML does not.
            "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def run(
        self,
        role: str,
        job: Mapping[str, Any],
        limits: Limits,
        folder: Path,
        *,
        sees_gpu: bool = False,
        on_message: Callable[[Message], None] | None = None,
    ) -> Report:
        """Runs one child to its end, with `folder` for its files. Raises WarmDied if there is nothing to fork it from.

        What a learner's process has been able to write must not be read by another: give them different folders.
        """
        begin = time.monotonic()
        with _pipe() as messages, _pipe() as output, _pipe() as status:
            request = {
                "role": role,
                "job": job,
                "limits": asdict(limits),
                "folder": str(folder),
                "environment": {
                    "TMPDIR": str(folder),
                    "TILELANG_CACHE_DIR": str(folder / "tilelang"),
                    **({} if sees_gpu else {"CUDA_VISIBLE_DEVICES": ""}),
                },
            }
            try:
                with self._lock:
                    socket.send_fds(
                        self._control, [json.dumps(request).encode()], [messages.write, output.write, status.write]
                    )
            except OSError as error:
                raise WarmDied(self._why()) from error
            for pipe in (messages, output, status):
                pipe.close_write()
            watch = _Watch(messages.read, output.read, status.read, limits, on_message)
            watch.run()
            self._had_children = self._had_children or watch.pid is not None
            if watch.pid is None or (watch.code is None and not watch.killed):
                raise WarmDied(self._why())
            return watch.report(time.monotonic() - begin)

    def close(self) -> None:
        """Ends the warm process and every child of it."""
        self._control.close()
        try:
            # It ends its children first. Before it has had any it may still be importing, and would not notice.
            self._process.wait(timeout=2 if self._had_children else 0)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._errors.close()

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _why(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else "it left no message"
        return f"the process that prepares torch and tilelang ended: {last}"


_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from tlpuzzles.border.warm import main; main(*map(int, sys.argv[2:]))"
)


def _import_path() -> list[str]:
    """The parent's import path without the current folder, where a learner's torch.py could stand in for torch."""
    ours = str(Path(__file__).resolve().parents[2])
    here = str(Path.cwd())
    return [path for path in sys.path if path not in ("", ".") and (path != here or path == ours)]


class _pipe:  # noqa: N801 - used like a function
    def __enter__(self) -> _pipe:
        self.read, self.write = os.pipe()
        self._open = {self.read, self.write}
        return self

    def close_write(self) -> None:
        self._open.discard(self.write)
        os.close(self.write)

    def __exit__(self, *_: object) -> None:
        for fd in self._open:
            os.close(fd)


class _Watch:
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
        self._heard = 0.0
        self._parsed = 0

    def run(self) -> None:
        try:
            self._loop()
        except BaseException:
            self._kill()
            raise

    def _loop(self) -> None:
        end: float | None = None
        with selectors.DefaultSelector() as selector:
            for fd in self._fds:
                os.set_blocking(fd, False)
                selector.register(fd, selectors.EVENT_READ)
            while self.code is None and self._status in selector.get_map():
                # The clock starts when the child does: before that it waits for the warm process to be ready.
                if end is None and self.pid is not None:
                    end = time.monotonic() + self._limits.seconds
                    self._heard = time.monotonic()
                deadline = self._deadline(end)
                wait = None if deadline is None else max(0.0, deadline - time.monotonic())
                for key, _ in selector.select(wait):
                    if not self._read(key.fd):
                        selector.unregister(key.fd)
                self._read_status()
                deadline = self._deadline(end)
                if end is not None and deadline is not None and time.monotonic() >= deadline and self.code is None:
                    self.killed = self.killed or End.TIMED_OUT
                    self._kill()
                    end = self._heard = time.monotonic() + 5
                if self._fds[self._messages].dropped:
                    self.killed = End.FLOODED
                    self._kill()
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

    def _kill(self) -> None:
        if self.pid is None:
            return
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
