"""How long kernels take on the GPU, in turn on the same inputs: for choosing among them, and not for grading."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import torch

from tlpuzzles.device.cuda.stopwatch import Stopwatch

WARM_UP = 3
"""Launches before the first that is timed."""
ROUNDS = 30
SECONDS = 8.0
"""Time for all rounds together; at least `LEAST` of them are made."""
LEAST = 5

Launch = Callable[[], object]


def milliseconds(launches: Mapping[str, Launch], device: torch.device) -> dict[str, float]:
    """Median time of one launch of each, in milliseconds, each with a cold L2 cache.

    Every round launches each once, so that a change of the GPU's clock meets them all.
    """
    if not launches:
        return {}
    for launch in launches.values():
        for _ in range(WARM_UP):
            launch()
    stopwatch = Stopwatch(device)
    stopwatch.settle(*launches.values())
    times: dict[str, list[float]] = {key: [] for key in launches}
    deadline = time.monotonic() + SECONDS
    for done in range(ROUNDS):
        if done >= LEAST and time.monotonic() > deadline:
            break
        for key, launch in launches.items():
            times[key].append(stopwatch.time(launch))
    return {key: statistics.median(found) for key, found in times.items()}
