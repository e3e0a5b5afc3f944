"""What is seen of a GPU while kernels are timed, with drivers that answer and drivers that do not."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from tests.device.cuda.nvmls import UUID, Driver, processes, silent, unsupported, utilisation
from tlpuzzles.device.cuda import machine
from tlpuzzles.device.cuda.machine import Clocks, Watching, _cuda_uuid
from tlpuzzles.verdict.measured import Gpu


class Clock:
    """Time that passes only where somebody sleeps."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(machine, "time", clock)
    monkeypatch.setattr(machine, "_cuda_uuid", lambda: None)
    return clock


def watching(driver: Any) -> Watching:
    return Watching({}, driver)


def test_clocks_temperature_and_power_are_seen() -> None:
    clocks, watts, degrees = iter([1980, 1755, 1800]), iter([300_000, 690_500, 500_000]), iter([40, 47, 45])
    watch = watching(
        Driver(
            nvmlDeviceGetClockInfo=lambda *_: next(clocks),
            nvmlDeviceGetPowerUsage=lambda _: next(watts),
            nvmlDeviceGetTemperatureV=lambda *_: next(degrees),
        )
    )
    for _ in range(3):
        watch.sample()
    assert watch.seen() == Gpu(sm_clock_mhz=(1755, 1980), temperature=47, power_watts=690.5, others=0)


def test_each_case_has_samples_of_its_own() -> None:
    clocks = iter([1980, 1500])
    watch = watching(Driver(nvmlDeviceGetClockInfo=lambda *_: next(clocks)))
    watch.sample()
    assert watch.seen().sm_clock_mhz == (1980, 1980)
    watch.sample()
    assert watch.seen().sm_clock_mhz == (1500, 1500)
    assert watch.seen().sm_clock_mhz is None


def test_a_driver_that_tells_nothing_leaves_everything_open() -> None:
    watch = watching(silent())
    assert not watch.begin()
    watch.sample()
    assert watch.seen() == Gpu()
    assert watch.limits() == Clocks()
    assert watch.persistent is None


def fails(code: int) -> Any:
    def start() -> None:
        raise pynvml.NVMLError(code)

    return start


@pytest.mark.parametrize("code", [pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED])
def test_without_nvml_nothing_is_seen(code: int) -> None:
    watch = watching(Driver(nvmlInit=fails(code)))
    assert not watch.begin()
    watch.sample()
    assert watch.seen() == Gpu()
    assert watch.limits() == Clocks()


def test_a_gpu_that_is_hidden_is_not_watched() -> None:
    watch = Watching({"CUDA_VISIBLE_DEVICES": ""}, Driver())
    watch.sample()
    assert watch.seen() == Gpu()


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (0x0, ()),
        (0x2 | 0x10 | 0x100, ()),
        (0x4, ("power limit",)),
        (0x20, ("temperature",)),
        (0x40 | 0x8, ("temperature",)),
        (0x80 | 0x8, ("power brake",)),
        (0x8, ("hardware slowdown",)),
        (0x4 | 0x20, ("power limit", "temperature")),
    ],
)
def test_what_holds_the_clock_down_is_said_in_words(reasons: int, words: tuple[str, ...]) -> None:
    watch = watching(Driver(nvmlDeviceGetCurrentClocksEventReasons=lambda _: reasons))
    watch.sample()
    assert watch.seen().throttled == words


def test_reasons_of_all_samples_count() -> None:
    reasons = iter([0x4, 0x0, 0x20])
    watch = watching(Driver(nvmlDeviceGetCurrentClocksEventReasons=lambda _: next(reasons)))
    for _ in range(3):
        watch.sample()
    assert watch.seen().throttled == ("power limit", "temperature")


def test_older_drivers_and_bindings_are_asked_by_older_names() -> None:
    def mismatch(*_: Any) -> Any:
        raise pynvml.NVMLLibraryMismatchError

    driver = Driver(
        nvmlDeviceGetCurrentClocksEventReasons=unsupported,
        nvmlDeviceGetCurrentClocksThrottleReasons=lambda _: 0x4,
        nvmlDeviceGetTemperature=lambda *_: 50,
        nvmlDeviceGetComputeRunningProcesses=mismatch,
        nvmlDeviceGetComputeRunningProcesses_v2=processes(7),
    )
    del driver.nvmlDeviceGetTemperatureV
    watch = watching(driver)
    watch.sample()
    seen = watch.seen()
    assert (seen.throttled, seen.temperature, seen.others) == (("power limit",), 50, 1)


def test_the_clock_of_an_idle_gpu_is_not_the_one_that_kernels_had() -> None:
    reasons, clocks = iter([0x1, 0x0]), iter([1980])
    watch = watching(
        Driver(
            nvmlDeviceGetCurrentClocksEventReasons=lambda _: next(reasons),
            nvmlDeviceGetClockInfo=lambda *_: next(clocks, 345),
        )
    )
    watch.sample()
    watch.sample()
    assert watch.seen().sm_clock_mhz == (1980, 1980)


BEFORE_AND_AFTER = {
    "nobody": ([], [os.getpid()], 0),
    "another, all the time": ([7], [7, os.getpid()], 1),
    "another, gone since": ([7], [os.getpid()], 1),
    "another, come since": ([], [7, os.getpid()], 1),
    "two": ([7], [8, os.getpid()], 2),
    "this process by another number, as in a container": ([], [4711], 0),
    "the same beside another": ([7], [7, 4711], 1),
    "a container that shows no process": ([], [], None),
}


@pytest.mark.parametrize("name", BEFORE_AND_AFTER)
def test_others_on_the_gpu_are_counted(name: str) -> None:
    before, after, others = BEFORE_AND_AFTER[name]
    driver = Driver(nvmlDeviceGetComputeRunningProcesses=processes(*before))
    watch = watching(driver)
    driver.nvmlDeviceGetComputeRunningProcesses = processes(*after)
    watch.begin()
    assert watch.seen().others == others


def test_a_process_that_computes_and_draws_is_one() -> None:
    driver = Driver(
        nvmlDeviceGetComputeRunningProcesses=processes(7), nvmlDeviceGetGraphicsRunningProcesses=processes(7, 8)
    )
    assert watching(driver).seen().others == 2


def test_a_quiet_gpu_is_not_waited_for(clock: Clock) -> None:
    watch = watching(Driver())
    assert not watch.begin()
    assert clock.now < 1.2
    assert not watch.seen().busy


def test_a_gpu_that_comes_to_rest_is_waited_for(clock: Clock) -> None:
    watch = watching(Driver(nvmlDeviceGetUtilizationRates=utilisation(*[97] * 12, 4)))
    assert not watch.begin()
    assert 1.2 <= clock.now < 2.0
    assert not watch.seen().busy


def test_a_gpu_that_stays_at_work_is_busy(clock: Clock) -> None:
    watch = watching(Driver(nvmlDeviceGetUtilizationRates=utilisation(5)))
    assert watch.begin()
    assert 5.0 <= clock.now < 5.3
    assert watch.seen().busy


def test_a_gpu_that_nobody_else_has_open_is_not_waited_for(clock: Clock) -> None:
    """What it is at work on is the end of this grading's own."""
    driver = Driver(nvmlDeviceGetUtilizationRates=utilisation(97), nvmlDeviceGetComputeRunningProcesses=processes())
    watch = watching(driver)
    driver.nvmlDeviceGetComputeRunningProcesses = processes(os.getpid())
    assert not watch.begin()
    assert clock.now == 0


def test_one_quiet_look_between_bursts_is_not_enough() -> None:
    figures = [0, 80] * 100
    watch = watching(Driver(nvmlDeviceGetUtilizationRates=utilisation(*figures)))
    assert watch.begin()


def test_a_gpu_that_does_not_tell_is_not_waited_for(clock: Clock) -> None:
    watch = watching(Driver(nvmlDeviceGetUtilizationRates=unsupported))
    assert not watch.begin()
    assert clock.now == 0


def test_the_highest_clocks_are_told() -> None:
    assert watching(Driver()).limits() == Clocks(memory_clock_mhz=3201, bus_width_bits=6144, sm_clock_mhz=1980)


def test_the_gpu_that_cuda_opened_is_watched_from_then_on() -> None:
    other = "abcdef01-0000-0000-0000-000000000000"
    driver = Driver(
        nvmlDeviceGetCount=lambda: 2,
        nvmlDeviceGetUUID=lambda handle: UUID if handle == 0 else f"GPU-{other}",
        nvmlDeviceGetHandleByUUID=lambda uuid: {UUID: 0, f"GPU-{other}": 1}[uuid],
        nvmlDeviceGetClockInfo=lambda handle, _: 1000 + handle,
        nvmlDeviceGetComputeRunningProcesses=lambda handle: processes(*([7], [8, os.getpid()])[handle])(handle),
    )
    watch = watching(driver)
    watch.begin(UUID.removeprefix("GPU-"))
    watch.sample()
    assert watch.seen().sm_clock_mhz == (1000, 1000)
    watch = watching(driver)
    watch.begin(other.upper())
    watch.sample()
    seen = watch.seen()
    assert (seen.sm_clock_mhz, seen.others) == ((1001, 1001), 1)


def test_a_part_of_a_gpu_is_watched_as_a_whole() -> None:
    watch = watching(Driver(nvmlDeviceGetHandleByUUID=unsupported))
    watch.begin("22222222-0000-0000-0000-000000000000")
    watch.sample()
    assert watch.seen().sm_clock_mhz == (1980, 1980)


def test_torch_is_asked_for_the_gpu_only_if_it_has_opened_one(monkeypatch: pytest.MonkeyPatch) -> None:
    told = SimpleNamespace(uuid="8f6c3b1e-1111")
    cuda = SimpleNamespace(
        is_initialized=lambda: True, current_device=lambda: 1, get_device_properties=lambda one: [None, told][one]
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert _cuda_uuid() == "8f6c3b1e-1111"
    del told.uuid
    assert _cuda_uuid() is None
    cuda.is_initialized = lambda: False
    cuda.get_device_properties = lambda _: pytest.fail("CUDA was opened")
    assert _cuda_uuid() is None
