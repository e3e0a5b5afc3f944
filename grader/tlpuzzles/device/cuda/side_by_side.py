"""How many kernels to compile side by side."""

from __future__ import annotations

import os
import re
from pathlib import Path

NVCC_BYTES = 450 << 20
"""What nvcc takes at most for a kernel of this course; measured."""
FEWEST = 2
"""One waits for the disk, or for Python, while the other's nvcc is at work."""


def at_once() -> int:
    """As many as this process has cores, if there is memory for so many of nvcc."""
    free = [available for available in (_system(), _container()) if available is not None]
    fitting = min(free) // NVCC_BYTES if free else FEWEST
    return max(1, min(max(FEWEST, len(os.sched_getaffinity(0))), fitting))


def _system() -> int | None:
    """Bytes of memory that could be had without swapping."""
    found = re.search(r"^MemAvailable:\s*(\d+) kB", _text("/proc/meminfo"), re.MULTILINE)
    return int(found.group(1)) << 10 if found else None


def _container() -> int | None:
    """Bytes that a container's limit leaves; None if there is no limit. Its own group is at the top of what it sees."""
    limit, used = (_text(f"/sys/fs/cgroup/memory.{name}").strip() for name in ("max", "current"))
    return max(0, int(limit) - int(used)) if limit.isdigit() and used.isdigit() else None


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except OSError:
        return ""
