"""Stand-ins for the module pynvml: a driver with one GPU, of which each test changes what matters to it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pynvml

UUID = "GPU-8f6c3b1e-1111-2222-3333-444455556666"


def unsupported(*_: Any) -> Any:
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


def processes(*pids: int) -> Any:
    return lambda _: [SimpleNamespace(pid=pid) for pid in pids]


def utilisation(*percent: int) -> Any:
    """One figure a look; the last one stays."""
    left = list(percent)
    return lambda _: SimpleNamespace(gpu=left.pop(0) if len(left) > 1 else left[0])


class Driver:
    """An H200 with nobody on it; what is given replaces the binding's functions, by their names."""

    NVMLError = pynvml.NVMLError
    NVMLError_LibraryNotFound = pynvml.NVMLError_LibraryNotFound
    NVMLLibraryMismatchError = pynvml.NVMLLibraryMismatchError

    def __init__(self, **answers: Any) -> None:
        clocks = {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: 3201}
        everything = {
            "nvmlInit": lambda: None,
            "nvmlShutdown": lambda: None,
            "nvmlSystemGetDriverVersion": lambda: "580.95",
            "nvmlDeviceGetCount": lambda: 1,
            "nvmlDeviceGetHandleByIndex": lambda index: index,
            "nvmlDeviceGetName": lambda _: "NVIDIA H200",
            "nvmlDeviceGetCudaComputeCapability": lambda _: (9, 0),
            "nvmlDeviceGetMemoryInfo": lambda _: SimpleNamespace(total=150 << 30),
            "nvmlDeviceGetUUID": lambda _: UUID,
            "nvmlDeviceGetComputeRunningProcesses": processes(),
            "nvmlDeviceGetGraphicsRunningProcesses": processes(),
            "nvmlDeviceGetUtilizationRates": utilisation(0),
            "nvmlDeviceGetClockInfo": lambda _, kind: clocks[kind],
            "nvmlDeviceGetMaxClockInfo": lambda _, kind: clocks[kind],
            "nvmlDeviceGetMemoryBusWidth": lambda _: 6144,
            "nvmlDeviceGetTemperatureV": lambda _, sensor: {pynvml.NVML_TEMPERATURE_GPU: 41}[sensor],
            "nvmlDeviceGetPowerUsage": lambda _: 512_345,
            "nvmlDeviceGetCurrentClocksEventReasons": lambda _: 0,
            "nvmlDeviceGetPersistenceMode": lambda _: 1,
        }
        self.__dict__.update(everything | answers)


def silent() -> Driver:
    """A driver that shows a GPU and tells nothing about it, as in some containers."""
    driver = Driver()
    shown = {"nvmlInit", "nvmlShutdown", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"}
    driver.__dict__.update(dict.fromkeys(set(driver.__dict__) - shown, unsupported))
    return driver
