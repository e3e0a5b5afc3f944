"""Times single calls by CUDA events, each with a cold L2 cache, the GPU's queue ahead of the CPU, and the CPU silent.

Device time is what is wanted, not the cost of a launch. A call is queued behind writes that take the GPU longer than
the CPU needs to queue it, so that the start event, the kernel and the end event lie ready when the GPU comes to them.
What is left of the launch, the gap of about 2 microseconds between two kernels of a stream, is in every arm's time.
Where the CPU was held up, by other programs, and the GPU came to the start event before all lay ready, the call is made
again.

Nothing else is queued until the call is done. Calls of 28 microseconds on an H200 took 27.3 where the CPU was waiting
meanwhile, and 27.3 to 28.6 where it went on to queue others: how many it had queued before then decided.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import torch

AHEAD = 2.0
"""How many times as long as queueing a call the writes before it take."""
MOST_FLUSHES = 40
ATTEMPTS = 4
"""How often a call is made, at most, until the CPU was ahead of the GPU. Then its time is taken as it is: a median over
blocks shrugs off a few, and on a machine that is never ahead the baseline suffers, too."""
TRIALS = 5


class Stopwatch:
    """For one GPU; `device` is where all calls work."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        # Twice the cache: what is written last would else leave older lines in place.
        size = 2 * max(torch.cuda.get_device_properties(device).L2_cache_size, 32 << 20)
        self._flush = torch.empty(size, dtype=torch.int8, device=device)
        self._flushes = 1

    def settle(self, *calls: Callable[[], object]) -> None:
        """Finds how often the cache must be overwritten before a call for the CPU to be ahead of the GPU."""
        flushing = self._device_seconds(self._flush.zero_)
        queueing = max(self._host_seconds(call) for call in calls)
        wanted = math.ceil(AHEAD * queueing / max(flushing, 1e-6))
        self._flushes = min(max(self._flushes, wanted), MOST_FLUSHES)

    def time(self, call: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
        """Milliseconds of one call behind the writes that empty the cache. `before` is queued ahead of them."""
        elapsed = 0.0
        for attempt in range(ATTEMPTS):
            if attempt > 1:
                # Late twice in a row: no accident.
                self._flushes = min(2 * self._flushes, MOST_FLUSHES)
            before()
            begin, end = self._queue(call)
            is_late = begin.query()
            self.wait()
            elapsed = begin.elapsed_time(end)
            if not is_late:
                break
        return elapsed

    def wait(self) -> None:
        torch.cuda.synchronize(self._device)

    def _queue(self, call: Callable[[], object]) -> tuple[Any, Any]:
        begin, end = _event(), _event()
        for _ in range(self._flushes):
            self._flush.zero_()
        begin.record()
        call()
        end.record()
        return begin, end

    def _device_seconds(self, call: Callable[[], object]) -> float:
        self.wait()
        begin, end = _event(), _event()
        begin.record()
        for _ in range(TRIALS):
            call()
        end.record()
        self.wait()
        elapsed: float = begin.elapsed_time(end)
        return elapsed / 1e3 / TRIALS

    def _host_seconds(self, call: Callable[[], object]) -> float:
        times = []
        for _ in range(TRIALS):
            self.wait()
            begin = time.perf_counter()
            self._queue(call)
            times.append(time.perf_counter() - begin)
        self.wait()
        return sorted(times)[len(times) // 2]


def _event() -> Any:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
