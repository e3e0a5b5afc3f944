"""Child processes that end with us: in groups of their own, killed whole on a time limit or an interrupt."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

PAUSE = 0.002
"""Seconds between two looks at processes that run side by side."""


@dataclass(frozen=True)
class Command:
    """A process to be run."""

    words: Sequence[str | Path]
    seconds: float
    """Time limit."""
    stdout: IO[bytes] | int = subprocess.DEVNULL
    stderr: IO[bytes] | int = subprocess.DEVNULL
    environment: dict[str, str] | None = None


@dataclass(frozen=True)
class Ended:
    """How a child process ended."""

    returncode: int
    """Negative: the number of the signal that ended it."""
    seconds: float
    timed_out: bool


_living: set[subprocess.Popen[bytes]] = set()
"""Those that run, of all threads."""


@dataclass
class _Running:
    number: int
    child: subprocess.Popen[bytes]
    begin: float
    seconds: float


def cores() -> int:
    """How many processes that compute are worth running side by side."""
    return len(os.sched_getaffinity(0))


def run_each(
    commands: Sequence[Command], at_once: int, on_end: Callable[[int], None] = lambda number: None
) -> list[Ended]:
    """Runs commands in their order, `at_once` at a time, and calls `on_end` with the number of each that has ended.

    All have ended when this returns or raises, KeyboardInterrupt included. Raises OSError if one cannot be started.
    """
    ended: dict[int, Ended] = {}
    waiting = list(enumerate(commands))
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                number, command = waiting.pop(0)
                running.append(_Running(number, _start(command), time.monotonic(), command.seconds))
            alone = len(running) == 1
            for one in list(running):
                result = _look(one, alone=alone)
                if result is not None:
                    running.remove(one)
                    _living.discard(one.child)
                    ended[one.number] = result
                    on_end(one.number)
            if not alone:
                time.sleep(PAUSE)
    finally:
        for one in running:
            _kill(one.child)
            _living.discard(one.child)
    return [ended[number] for number in range(len(commands))]


def end_all() -> None:
    """Kills what runs now, in whatever thread: for who no longer wants to know how it ends."""
    for child in list(_living):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def _start(command: Command) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [os.fspath(part) for part in command.words],
        stdin=subprocess.DEVNULL,
        stdout=command.stdout,
        stderr=command.stderr,
        env=command.environment,
        start_new_session=True,
    )
    _living.add(child)
    return child


def _look(one: _Running, *, alone: bool) -> Ended | None:
    """How a process ended, None if it has not. Waits for one that is alone."""
    left = one.begin + one.seconds - time.monotonic()
    if alone and left > 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            one.child.wait(left)
    timed_out = one.child.poll() is None
    if timed_out and time.monotonic() < one.begin + one.seconds:
        return None
    if timed_out:
        _kill(one.child)
    return Ended(one.child.returncode, time.monotonic() - one.begin, timed_out)


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Also what the child started, and also on KeyboardInterrupt: a terminal's Ctrl-C does not reach its group."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
