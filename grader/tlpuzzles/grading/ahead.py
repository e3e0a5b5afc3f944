"""Compiles many kernels into a cache, where the child that needs them finds them.

In several processes, for two threads of one process lower hardly more than one does, for Python's lock. Nothing is said
of what does not compile: who needs it asks for it again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import Report
from tlpuzzles.device.cuda.side_by_side import at_once
from tlpuzzles.grading import caches

LIMITS = Limits(seconds=240, memory=None)
CORES = 2
"""For each process: while it lowers one kernel, nvcc and g++ are at work on another."""


TUNED = 16
"""Configurations to reckon with where a learner's file alone knows how many there are."""


def compile_ahead(warm: Warm, arch: str, capsules: Iterable[Path], folder: Path) -> None:
    """Compiles capsules for `arch`, where there is a cache, and cores and memory for more than one process."""
    waiting = sorted(set(capsules))
    processes = _processes(len(waiting))
    cache = caches.kernels()
    if processes == 0 or cache is None:
        return

    def compile_some(files: list[Path]) -> None:
        job = {"arch": arch, "cases": [], "kernels": {str(number): str(file) for number, file in enumerate(files)}}
        warm.run("cuda", job, LIMITS, Path(tempfile.mkdtemp(dir=folder)), sees_gpu=True, cache=cache)

    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(compile_some, [waiting[first::processes] for first in range(processes)]))


def tune_ahead(warm: Warm, job: Mapping[str, Any], limits: Limits, folder: Path, cache: Path) -> list[Report]:
    """Compiles the configurations that an autotuner will try, where there are cores and memory for it.

    `job`: of the role "tune". Each process runs the learner's file, asks it anew for the configurations, and takes its
    share of them.
    """
    processes = _processes(TUNED)

    def compile_share(first: int) -> Report:
        share = {**job, "ahead": max(1, at_once() // processes), "share": [first, processes]}
        return warm.run("tune", share, limits, Path(tempfile.mkdtemp(dir=folder)), sees_gpu=True, cache=cache)

    if processes == 0:
        return []
    with ThreadPoolExecutor(processes) as pool:
        return list(pool.map(compile_share, range(processes)))


def _processes(kernels: int) -> int:
    """How many processes to compile so many kernels in; 0 if there is nothing to be gained."""
    processes = min(at_once() // CORES, kernels)
    return processes if processes > 1 else 0
