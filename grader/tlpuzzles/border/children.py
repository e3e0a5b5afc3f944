"""The parent's side of the border: starts the warm process and its children, and learns how each one ended."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tlpuzzles.border.limits import Limits, adopt_orphans, children
from tlpuzzles.border.watching import Message, Report, Watch

MARK = "TLPUZZLES_WARM"
"""Variable by which the processes that come from one warm process are known."""


class WarmDied(Exception):
    """The process that every child is forked from is gone, or never came up."""

    def __init__(self, message: str, *, had_child: bool) -> None:
        super().__init__(message)
        self.had_child = had_child
        """Whether a child was running when it died, which may have done it."""


class Warm:
    """The warm process. Start it early: it takes seconds to be ready, and jobs given meanwhile wait for it."""

    def __init__(self, scratch: Path) -> None:
        """`scratch`: a folder for what TileLang writes when it is imported."""
        self._scratch = scratch
        self._lock = threading.Lock()
        # A child that kills the warm process would leave its own children to nobody.
        adopt_orphans()
        self._start()

    def _start(self) -> None:
        self._had_children = False
        self._dead = False
        self._watches: set[Watch] = set()
        self._mark = secrets.token_hex(16)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        self._control.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self._errors = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - closed in close()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _BOOT, json.dumps(import_path()), str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                pass_fds=(theirs.fileno(),),
                cwd=self._scratch,
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
            MARK: self._mark,
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
        cache: Path | None = None,
    ) -> Report:
        """Runs one child to its end, with `folder` for its files. Raises WarmDied if there is nothing to fork it from.

        What a learner's process has been able to write must not be read by another: give them different folders.
        `cache`: where TileLang keeps what it compiles, for later children to find; None: in `folder`.
        """
        begin = time.monotonic()
        with _pipe() as messages, _pipe() as output, _pipe() as status:
            request = {
                "role": role,
                "job": job,
                "limits": asdict(limits),
                "folder": str(folder),
                "sees_gpu": sees_gpu,
                "environment": {
                    "TMPDIR": str(folder),
                    "TILELANG_CACHE_DIR": str(cache or folder / "tilelang"),
                    **({} if sees_gpu else {"CUDA_VISIBLE_DEVICES": ""}),
                },
            }
            try:
                with self._lock:
                    socket.send_fds(
                        self._control, [json.dumps(request).encode()], [messages.write, output.write, status.write]
                    )
            except OSError as error:
                self._dead = True
                raise WarmDied(self._why(), had_child=False) from error
            for pipe in (messages, output, status):
                pipe.close_write()
            watch = Watch(messages.read, output.read, status.read, limits, on_message)
            self._watches.add(watch)
            try:
                watch.run()
            finally:
                self._watches.discard(watch)
            self._had_children = self._had_children or watch.pid is not None
            if watch.pid is None or watch.code is None:
                self._dead = True
                raise WarmDied(self._why(), had_child=watch.pid is not None)
            return watch.report(time.monotonic() - begin)

    def end_children(self) -> None:
        """Kills the children that there are now: for who no longer wants to know what they say."""
        for watch in list(self._watches):
            watch.kill()

    def revive(self) -> None:
        """Starts it anew if it has died."""
        if self._dead:
            self.close()
            self._start()

    def close(self) -> None:
        """Ends the warm process and every child of it."""
        self._control.close()
        try:
            # It ends its children first. Before it has had any it may still be importing, and would not notice.
            self._process.wait(timeout=2 if self._had_children else 0)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._end_strays()
        self._errors.close()

    def _end_strays(self) -> None:
        """Kills what outlived the warm process: it is a child of this one now, and its environment has the mark. Again
        and again, for one that is killed may just have started another."""
        mark = f"{MARK}={self._mark}"
        while strays := {pid for pid in children() if mark in _environment_of(pid)}:
            for pid in strays:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)

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


def import_path() -> list[str]:
    """Where a process of ours imports from: as this one, without the current folder, where a learner's torch.py could
    stand in for torch."""
    ours = str(Path(__file__).resolve().parents[2])
    here = _current_folder()
    return [path for path in sys.path if path not in ("", ".") and (path != here or path == ours)]


def _environment_of(pid: int) -> str:
    """What a process was given when it was started; empty once it is gone."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def _current_folder() -> str | None:
    """None if it has been deleted: then nothing can be imported from it."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return None


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
