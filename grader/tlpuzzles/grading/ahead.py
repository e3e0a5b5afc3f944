"""Compiles many kernels into the cache, where the child that needs them finds them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.device.cuda.side_by_side import at_once
from tlpuzzles.grading import caches

LIMITS = Limits(seconds=240, memory=None)
EACH = 4
"""Kernels a process, at least. Two threads of one process lower hardly more than one does, for Python's lock; with
four, nvcc and g++ are at work most of the time."""


def compile_ahead(warm: Warm, arch: str, capsules: Iterable[Path], folder: Path) -> None:
    """Compiles capsules for `arch` in several processes. Says nothing of those that do not compile: who needs them asks
    for them again.

    Only where there is a cache, and cores and memory for more than one process.
    """
    waiting = sorted(set(capsules))
    processes = min(at_once() // EACH, len(waiting) // EACH)
    cache = caches.kernels()
    if processes < 2 or cache is None:
        return

    def compile_some(files: list[Path]) -> None:
        job = {"arch": arch, "cases": [], "kernels": {str(number): str(file) for number, file in enumerate(files)}}
        warm.run("cuda", job, LIMITS, Path(tempfile.mkdtemp(dir=folder)), sees_gpu=True, cache=cache)

    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(compile_some, [waiting[first::processes] for first in range(processes)]))
