"""Whether this machine is likely to have a GPU that can be graded on, asked of the driver: no torch, no CUDA context.

The parent asks, before it starts anything. What can really be used is found by `probe.probe`, in a child.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_LIBRARIES = ("libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1")
_DRIVER_FOLDER = Path("/proc/driver/nvidia/gpus")


class Presence(str, Enum):
    """What the driver says about GPUs."""

    PRESENT = "present"
    HIDDEN = "hidden"
    """There are GPUs, and CUDA_VISIBLE_DEVICES shows none of them."""
    NO_DRIVER = "no driver"
    """There is NVIDIA hardware, and its driver does not answer."""
    ABSENT = "absent"


@dataclass(frozen=True)
class Gpu:
    index: int
    """Number by which the driver knows it."""
    name: str
    capability: tuple[int, int] | None
    """Compute capability, e.g. (9, 0)."""
    memory: int
    """Bytes of device memory; 0 if the driver does not say."""


@dataclass(frozen=True)
class Devices:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves visible, as far as the driver's management library knows."""

    presence: Presence
    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None
    """Version of the driver."""
    why: str = ""
    """Why no GPU can be used; empty if one is present."""


def find(environment: Mapping[str, str] = os.environ) -> Devices:
    """Asks NVML, within milliseconds. Nothing is left open."""
    nvml = _nvml()
    if nvml is None:
        if _DRIVER_FOLDER.is_dir() and any(_DRIVER_FOLDER.iterdir()):
            return Devices(
                Presence.NO_DRIVER,
                why="there is an NVIDIA GPU, but its driver library libnvidia-ml.so.1 cannot be loaded; "
                "in a container, start it with the GPU passed through (docker run --gpus all)",
            )
        return Devices(Presence.ABSENT, why="no NVIDIA driver was found on this machine")
    if nvml.nvmlInit_v2() != 0:
        return Devices(Presence.NO_DRIVER, why="the NVIDIA driver does not answer; try nvidia-smi, and a restart")
    try:
        return _ask(nvml, environment.get("CUDA_VISIBLE_DEVICES"))
    finally:
        nvml.nvmlShutdown()


def _nvml() -> ctypes.CDLL | None:
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _ask(nvml: ctypes.CDLL, visible: str | None) -> Devices:
    version = ctypes.create_string_buffer(96)
    driver = version.value.decode() if nvml.nvmlSystemGetDriverVersion(version, len(version)) == 0 else None
    count = ctypes.c_uint()
    nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
    gpus = tuple(gpu for index in range(count.value) if (gpu := _gpu(nvml, index)) is not None)
    if not gpus:
        return Devices(Presence.ABSENT, (), driver, "the NVIDIA driver is installed, and it knows no GPU")
    shown = _visible(gpus, visible)
    if not shown:
        return Devices(Presence.HIDDEN, (), driver, f"CUDA_VISIBLE_DEVICES={visible!r} hides every GPU")
    return Devices(Presence.PRESENT, shown, driver)


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


def _gpu(nvml: ctypes.CDLL, index: int) -> Gpu | None:
    handle = ctypes.c_void_p()
    if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) != 0:
        return None
    name = ctypes.create_string_buffer(96)
    nvml.nvmlDeviceGetName(handle, name, len(name))
    major, minor = ctypes.c_int(), ctypes.c_int()
    known = nvml.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major), ctypes.byref(minor)) == 0
    memory = _Memory()
    nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
    return Gpu(index, name.value.decode(), (major.value, minor.value) if known else None, memory.total)


def _visible(gpus: tuple[Gpu, ...], visible: str | None) -> tuple[Gpu, ...]:
    """CUDA_VISIBLE_DEVICES as CUDA reads it: numbers up to the first that does not exist. A UUID shows all."""
    if visible is None:
        return gpus
    shown: list[Gpu] = []
    for item in visible.split(","):
        if re.match(r"\s*(GPU|MIG)-", item):
            return gpus
        number = re.match(r"\s*(\d+)", item)
        if number is None or int(number[1]) >= len(gpus):
            break
        shown.append(gpus[int(number[1])])
    return tuple(shown)
