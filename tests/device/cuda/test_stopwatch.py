"""Device time of single calls, and the rates made of it: on a GPU and a CPU whose clocks are made up."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from tlpuzzles.device.cuda import rates, stopwatch, timing
from tlpuzzles.device.cuda.stopwatch import ATTEMPTS, MOST_FLUSHES, Stopwatch

CPU = torch.device("cpu")
FLUSH, KERNEL = 40e-6, 25e-6
"""Seconds that they take on the GPU."""


class Played:
    """A GPU that does what is queued one after the other, and a CPU that takes its time to queue it."""

    def __init__(self, queueing: float) -> None:
        self.host = self.busy_until = 0.0
        self.queueing, self.flushes = queueing, 0
        self.stalls: list[float] = []
        """Seconds for which the CPU is held up in the next calls."""

    def perf_counter(self) -> float:
        return self.host

    def synchronize(self, _device: object) -> None:
        self.host = max(self.host, self.busy_until)

    def _queue(self, takes: float) -> None:
        self.busy_until = max(self.busy_until, self.host) + takes

    def zero_(self) -> None:
        self.host += 2e-6
        self.flushes += 1
        self._queue(FLUSH)

    def call(self) -> None:
        self.host += self.queueing + (self.stalls.pop(0) if self.stalls else 0.0)
        self._queue(KERNEL)

    def event(self) -> Event:
        return Event(self)


class Event:
    def __init__(self, gpu: Played) -> None:
        self._gpu = gpu

    def record(self) -> None:
        self.at = max(self._gpu.busy_until, self._gpu.host)

    def query(self) -> bool:
        return self._gpu.host > self.at

    def elapsed_time(self, end: Event) -> float:
        return 1e3 * (end.at - self.at)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> tuple[Stopwatch, Played]:
    gpu = Played(request.param)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(L2_cache_size=50 << 20))
    monkeypatch.setattr(torch.cuda, "synchronize", gpu.synchronize)
    monkeypatch.setattr(stopwatch, "time", gpu)
    monkeypatch.setattr(stopwatch, "_event", gpu.event)
    made = Stopwatch(CPU)
    assert made._flush.nbytes == 100 << 20, "twice the cache"
    made._flush = gpu  # type: ignore[assignment]
    return made, gpu


@pytest.mark.parametrize("watch", [5e-6, 100e-6, 500e-6], indirect=True, ids="{:.0e} s to queue".format)
def test_what_the_cpu_takes_to_queue_a_call_is_not_in_its_time(watch: tuple[Stopwatch, Played]) -> None:
    made, gpu = watch
    made.settle(gpu.call)
    made.wait()
    for _ in range(3):
        made.wait()
        assert made.time(gpu.call) == pytest.approx(1e3 * KERNEL)


@pytest.mark.parametrize("watch", [100e-6], indirect=True)
def test_nothing_is_queued_while_a_call_is_timed(watch: tuple[Stopwatch, Played]) -> None:
    made, gpu = watch
    made.time(gpu.call)

    assert gpu.host >= gpu.busy_until > 0


@pytest.mark.parametrize("watch", [100e-6], indirect=True)
def test_it_settles_for_the_call_that_takes_longest_to_queue_and_keeps_to_it(watch: tuple[Stopwatch, Played]) -> None:
    made, gpu = watch
    made.settle(lambda: None, gpu.call)
    made.settle(lambda: None)
    before = gpu.flushes
    made.time(gpu.call)

    assert 2 * 100e-6 / FLUSH <= gpu.flushes - before <= 8


@pytest.mark.parametrize("watch", [1.0], indirect=True)
def test_a_call_that_never_gets_ahead_does_not_flush_for_ever(watch: tuple[Stopwatch, Played]) -> None:
    made, gpu = watch
    made.settle(gpu.call)
    before = gpu.flushes
    made.time(gpu.call)

    assert gpu.flushes - before == ATTEMPTS * MOST_FLUSHES


@pytest.mark.parametrize("watch", [5e-6], indirect=True)
def test_a_call_for_which_the_gpu_had_to_wait_is_made_again(watch: tuple[Stopwatch, Played]) -> None:
    """With all that must come before it: its result would lie there already."""
    made, gpu = watch
    made.settle(gpu.call)
    made.wait()
    gpu.stalls = [2e-3]
    before: list[int] = []

    assert made.time(gpu.call, lambda: before.append(gpu.flushes)) == pytest.approx(1e3 * KERNEL)
    assert len(before) == 2
    assert gpu.flushes - before[1] == before[1] - before[0], "one stall is no reason to flush more"


@pytest.mark.parametrize("watch", [5e-6], indirect=True)
def test_a_cpu_that_has_become_slow_gets_more_time_to_queue(watch: tuple[Stopwatch, Played]) -> None:
    made, gpu = watch
    made.settle(gpu.call)
    gpu.queueing = 100e-6

    assert made.time(gpu.call) == pytest.approx(1e3 * KERNEL)
    before = gpu.flushes
    assert made.time(gpu.call) == pytest.approx(1e3 * KERNEL)
    assert 100e-6 / FLUSH <= gpu.flushes - before <= 8, "once was enough"


@pytest.mark.parametrize("watch", [5e-6], indirect=True)
def test_a_call_is_not_made_again_for_ever(watch: tuple[Stopwatch, Played]) -> None:
    made, gpu = watch
    made.settle(gpu.call)
    made.wait()
    gpu.stalls = 100 * [1.0]

    assert made.time(gpu.call) == pytest.approx(1e3, rel=0.1)
    assert len(gpu.stalls) == 100 - ATTEMPTS


def test_rates_are_of_what_was_moved_and_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 0.5 ms: 1 MB read and 1 MB written are 4 GB/s, 2 * 64^3 operations 1.05 GFLOP/s."""
    monkeypatch.setattr(rates, "COPIED", 2_000_000)
    monkeypatch.setattr(rates, "SIDE", 64)
    results: list[torch.Tensor] = []

    def milliseconds(call: object, _device: torch.device) -> float:
        results.append(call())  # type: ignore[operator]
        return 0.5

    monkeypatch.setattr(rates, "_milliseconds", milliseconds)

    assert rates.copy_gbps(CPU) == pytest.approx(4.0)
    assert results[0].nbytes == 1_000_000
    assert rates.matrix_tflops(CPU) == pytest.approx(2 * 64**3 / 0.5e-3 / 1e12)
    assert results[1].dtype is torch.float16


@pytest.mark.parametrize("watch", [100e-6], indirect=True)
def test_kernels_to_choose_among_are_timed_in_turn_without_what_the_cpu_takes(
    watch: tuple[Stopwatch, Played], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, gpu = watch
    monkeypatch.setattr(timing, "Stopwatch", lambda _: made)
    order: list[str] = []

    def launch(name: str, calls: int) -> None:
        order.append(name)
        for _ in range(calls):
            gpu.call()

    found = timing.milliseconds({"one": lambda: launch("one", 1), "two": lambda: launch("two", 2)}, CPU)

    assert found == {"one": pytest.approx(1e3 * KERNEL), "two": pytest.approx(2e3 * KERNEL)}
    assert order[-4:] == ["one", "two", "one", "two"]
    assert timing.milliseconds({}, CPU) == {}
