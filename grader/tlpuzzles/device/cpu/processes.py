"""Child processes that end with us: in a group of their own, killed whole on a time limit or an interrupt."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO


@dataclass(frozen=True)
class Ended:
    """How a child process ended."""

    returncode: int
    """Negative: the number of the signal that ended it."""
    timed_out: bool


def run_to_end(
    command: Sequence[str | Path],
    seconds: float,
    stdout: IO[bytes] | int = subprocess.DEVNULL,
    stderr: IO[bytes] | int = subprocess.DEVNULL,
    environment: dict[str, str] | None = None,
) -> Ended:
    """Runs `command` for at most `seconds`. Raises OSError if it cannot be started."""
    with subprocess.Popen(
        [os.fspath(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        env=environment,
        start_new_session=True,
    ) as child:
        timed_out = False
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            # Also what the child started, and also on KeyboardInterrupt: a terminal's Ctrl-C does not reach its group.
            if child.returncode is None or timed_out:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
    return Ended(child.returncode, timed_out)
