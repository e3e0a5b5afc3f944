"""What a child process may use, and how it is held to that."""

from __future__ import annotations

import contextlib
import ctypes
import resource
import signal
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36

GIB = 1 << 30


@dataclass(frozen=True)
class Limits:
    """Limits of one child. Wall-clock time is kept by the parent, the rest by the kernel."""

    seconds: float
    """Wall-clock time until the child and all it started are killed."""
    silence: float | None = None
    """Wall-clock time that it may let pass without a message before it counts as hanging."""
    memory: int | None = 8 * GIB
    """Address space in bytes (RLIMIT_AS); None for a process that opens a GPU, whose driver maps far more."""
    file_size: int = 4 * GIB
    """Largest file in bytes that it may write."""
    hidden: bool = False
    """Whether other processes of the user are kept from reading its memory: for processes that hold seeds."""


def confine(limits: Limits) -> None:
    """Puts the calling process under `limits`, in a session of its own, to die with its parent."""
    die_with_parent()
    if limits.hidden:
        hide()
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, limits.file_size)
    _lower(resource.RLIMIT_CPU, int(limits.seconds * 4) + 30)
    if limits.memory is not None:
        _lower(resource.RLIMIT_AS, limits.memory)


def die_with_parent(by: signal.Signals = signal.SIGKILL) -> None:
    """Has the calling process signalled when the thread that started it ends, however that ends."""
    _prctl(_PR_SET_PDEATHSIG, by)


def hide() -> None:
    """Keeps other processes of the same user from reading or tracing the calling one."""
    _prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Makes the calling process the parent of descendants whose own parent has died, so that it can end them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children() -> set[int]:
    """Process ids of the calling process's children: of all its threads, and those that it has adopted."""
    found: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has just ended
            found |= {int(pid) for pid in file.read_text().split()}
    return found


def _lower(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(what, (value, value))


def _prctl(option: int, value: int) -> None:
    # Linux only; elsewhere the limits that the platform has are all there is.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)
