"""How long kernels take on the GPU, in turn on the same inputs: for choosing among them, not yet for grading speed."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import torch

WARM_UP = 3
"""Launches before the first that is timed."""
ROUNDS = 30
SECONDS = 8.0
"""Time for all rounds together; at least `LEAST` of them are made."""
LEAST = 5

Launch = Callable[[], object]


def milliseconds(launches: Mapping[str, Launch], device: torch.device) -> dict[str, float]:
    """Median time of one launch of each, in milliseconds, measured by CUDA events.

    Every round launches each once, so that a change of the GPU's clock meets them all. The L2 cache is overwritten
    before each launch: inputs come from device memory, as they do in a program that has other work too.
    """
    # Twice the cache: what is written last would else leave older lines in place.
    size = 2 * max(torch.cuda.get_device_properties(device).L2_cache_size, 32 << 20)
    flush = torch.empty(size, dtype=torch.int8, device=device)
    for launch in launches.values():
        for _ in range(WARM_UP):
            launch()
    torch.cuda.synchronize(device)
    times: dict[str, list[float]] = {key: [] for key in launches}
    deadline = time.monotonic() + SECONDS
    for done in range(ROUNDS):
        if done >= LEAST and time.monotonic() > deadline:
            break
        for key, launch in launches.items():
            begin, end = _event(), _event()
            flush.zero_()
            begin.record()
            launch()
            end.record()
            torch.cuda.synchronize(device)
            times[key].append(begin.elapsed_time(end))
    return {key: statistics.median(found) for key, found in times.items()}


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
