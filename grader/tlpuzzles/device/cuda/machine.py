"""What the driver's management library (NVML) sees of a GPU while kernels are timed on it: who else uses it, how fast
its clock is, what holds the clock down.

For the process that times. It tells, and never fails a measurement: what NVML does not answer stays unknown.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tlpuzzles.device.cuda import devices
from tlpuzzles.device.cuda.nvml import NoAnswer, NoLibrary, Nvml
from tlpuzzles.verdict.measured import Gpu

QUIET_SECONDS = 5.0
"""How long a GPU is waited for that is at work."""
QUIET_PERCENT = 5
"""Below it a GPU is quiet. NVML's utilisation is the share of its last sample period, 1/6 to 1 second by GPU, during
which some kernel ran."""
LOOKS = 3
"""So many times in a row a GPU must be seen quiet: the work of others comes in bursts."""
LOOK_SECONDS = 0.1

_SM, _MEMORY = 1, 2
"""NVML_CLOCK_SM and NVML_CLOCK_MEM of nvml.h."""
_ON_THE_CHIP = 0
"""NVML_TEMPERATURE_GPU of nvml.h."""
_IDLE, _POWER_CAP, _SLOWDOWN, _THERMAL, _POWER_BRAKE = 0x1, 0x4, 0x8, 0x20 | 0x40, 0x80
"""Bits of nvmlClocksEventReason... in nvml.h: what keeps a clock below what was asked for. Settings (of applications,
displays, sync boost) are no reasons. The hardware's slowdown comes with one of the last two, which say more."""


@dataclass(frozen=True)
class Clocks:
    """What a GPU's peaks are computed from; None for what the driver does not tell."""

    memory_clock_mhz: int | None = None
    """The highest."""
    bus_width_bits: int | None = None
    """Of the device memory."""
    sm_clock_mhz: int | None = None
    """The highest of the multiprocessors."""


@dataclass(frozen=True)
class _Sample:
    clock: int | None
    temperature: int | None
    milliwatts: int | None
    reasons: int


class Watching:
    """Watches the first GPU that CUDA_VISIBLE_DEVICES shows.

    To be made before this process opens CUDA: whoever has the GPU open by then is somebody else. `binding` stands in
    for the module pynvml.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ, binding: Any = None) -> None:
        self._nvml: Nvml | None = None
        self._handle: Any = None
        self._uuid: str | None = None
        self._opened = self._busy = False
        self._quiet = 0
        self._samples: list[_Sample] = []
        with contextlib.suppress(NoLibrary, NoAnswer):
            self._nvml = Nvml(binding)
            for gpu in devices.find(environment, binding).gpus[:1]:
                self._handle, self._uuid = self._nvml.ask("nvmlDeviceGetHandleByIndex", gpu.index), gpu.uuid
        self._before = self._processes()

    def begin(self, uuid: str | None = None) -> bool:
        """To be called when CUDA is open and before anything is timed: waits until the GPU is quiet, for at most
        QUIET_SECONDS, unless the driver shows this process and no other on it. Returns whether it stays busy, with
        somebody else's work.

        `uuid`: of the GPU that CUDA uses, as CUDA writes it; torch is asked for it by default. CUDA's order may be
        another than the driver's: if it is another GPU than was looked at until now, that one is watched from here on.
        """
        self._follow(uuid or _cuda_uuid())
        self._opened = True
        return False if self._others() == 0 else self.wait_until_quiet()

    def wait_until_quiet(self, seconds: float = QUIET_SECONDS) -> bool:
        """Waits until nothing runs on the GPU, for at most about so long; returns whether it stays busy.

        This process must run nothing there. What it, or one before it, ran a moment ago is still in the driver's
        figure, so the first look says little. False at once if the driver has no such figure.
        """
        deadline = time.monotonic() + seconds
        while self._quiet < LOOKS:
            self.look()
            if self._quiet == 0 and time.monotonic() >= deadline:
                break
            if self._quiet < LOOKS:
                time.sleep(LOOK_SECONDS)
        self._busy, self._quiet = self._quiet < LOOKS, 0
        return self._busy

    def look(self) -> None:
        """One look at whether the GPU is quiet, of those that `wait_until_quiet` wants: it then waits for fewer."""
        used = self._ask("nvmlDeviceGetUtilizationRates")
        self._quiet = LOOKS if used is None else self._quiet + 1 if used.gpu < QUIET_PERCENT else 0

    def sample(self) -> None:
        """Notes clock, temperature, power and what holds the clock down. For between rounds: about a millisecond."""
        reasons = self._ask("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons") or 0
        self._samples.append(
            _Sample(
                # A GPU with nothing to do lowers its clock: that is not the one at which kernels ran.
                None if reasons & _IDLE else self._ask("nvmlDeviceGetClockInfo", of=(_SM,)),
                self._ask("nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature", of=(_ON_THE_CHIP,)),
                self._ask("nvmlDeviceGetPowerUsage"),
                reasons,
            )
        )

    def seen(self) -> Gpu:
        """What was seen since this was last asked. Whether the GPU was busy, and whoever had it open before, is said
        every time."""
        samples, self._samples = self._samples, []
        clocks = [sample.clock for sample in samples if sample.clock is not None]
        temperatures = [sample.temperature for sample in samples if sample.temperature is not None]
        milliwatts = [sample.milliwatts for sample in samples if sample.milliwatts is not None]
        return Gpu(
            sm_clock_mhz=(min(clocks), max(clocks)) if clocks else None,
            throttled=_in_words(sample.reasons for sample in samples),
            temperature=max(temperatures, default=None),
            power_watts=max(milliwatts) / 1000 if milliwatts else None,
            others=self._others(),
            busy=self._busy,
        )

    def limits(self) -> Clocks:
        """The highest clocks, and the width of the memory."""
        return Clocks(
            self._ask("nvmlDeviceGetMaxClockInfo", of=(_MEMORY,)),
            self._ask("nvmlDeviceGetMemoryBusWidth"),
            self._ask("nvmlDeviceGetMaxClockInfo", of=(_SM,)),
        )

    @property
    def persistent(self) -> bool | None:
        """Whether the driver keeps the GPU ready while nobody has it open; None if it does not tell."""
        mode = self._ask("nvmlDeviceGetPersistenceMode")
        return None if mode is None else bool(mode)

    def _ask(self, *questions: str, of: tuple[Any, ...] = ()) -> Any:
        if self._nvml is None or self._handle is None:
            return None
        return self._nvml.ask_first(questions, self._handle, *of)

    def _processes(self) -> frozenset[int] | None:
        """Process ids of all that have the GPU open, as the driver numbers them: in a container it may show none, or
        ids of the machine outside."""
        compute = self._ask("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetComputeRunningProcesses_v2")
        graphics = self._ask("nvmlDeviceGetGraphicsRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses_v2")
        if compute is None and graphics is None:
            return None
        return frozenset(process.pid for process in (*(compute or ()), *(graphics or ())))

    def _others(self) -> int | None:
        now = self._processes()
        if now is None or (self._opened and not now):
            # A driver that does not show this process either shows nobody.
            return len(self._before) if self._before else None
        before = self._before or frozenset()
        came = now - before - {os.getpid()}
        # In a container this process is among those that came, by another number.
        disguised = self._opened and os.getpid() not in now
        return len(before) + max(0, len(came) - disguised)

    def _follow(self, uuid: str | None) -> None:
        if self._nvml is None or uuid is None:
            return
        name = f"GPU-{uuid.lower().removeprefix('gpu-')}"
        handle = None if self._uuid == name else self._nvml.ask("nvmlDeviceGetHandleByUUID", name)
        # There is none for a part of a GPU (MIG): the whole is watched on.
        if handle is not None:
            self._handle, self._uuid, self._before = handle, name, None


def _in_words(reasons: Iterable[int]) -> tuple[str, ...]:
    seen = functools.reduce(operator.or_, reasons, 0)
    words = {
        "power limit": seen & _POWER_CAP,
        "temperature": seen & _THERMAL,
        "power brake": seen & _POWER_BRAKE,
        "hardware slowdown": seen & _SLOWDOWN and not seen & (_THERMAL | _POWER_BRAKE),
    }
    return tuple(word for word, holds in words.items() if holds)


def _cuda_uuid() -> str | None:
    import torch

    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return None
    # Torch 2.4 does not tell: then the first GPU that the driver shows is taken for CUDA's.
    uuid = getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "uuid", None)
    return None if uuid is None else str(uuid)
