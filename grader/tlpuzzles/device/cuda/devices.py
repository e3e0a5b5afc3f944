"""Whether this machine is likely to have a GPU that can be graded on, asked of the driver: no torch, no CUDA context.

The parent asks, before it starts anything. What can really be used is found by `probe.probe`, in a child.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tlpuzzles.device.cuda.nvml import NoAnswer, NoLibrary, Nvml

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
    uuid: str | None = None
    """E.g. "GPU-8f6c3b1e-...": the same in every process and container; None if the driver does not say."""


@dataclass(frozen=True)
class Devices:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves visible, as far as the driver's management library knows."""

    presence: Presence
    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None
    """Version of the driver."""
    why: str = ""
    """Why no GPU can be used; empty if one is present."""


def find(environment: Mapping[str, str] = os.environ, binding: Any = None) -> Devices:
    """Asks NVML, within milliseconds. Nothing is left open. `binding` stands in for the module pynvml.

    The GPUs come in NVML's order, by PCI bus. CUDA numbers them so if CUDA_DEVICE_ORDER is PCI_BUS_ID; otherwise it
    puts the fastest first, by a rule that is not published. So where a machine has GPUs of several kinds and the order
    is not set, a number here may stand for another GPU than CUDA's; UUIDs are the same in both.
    """
    try:
        nvml = Nvml(binding)
    except NoLibrary:
        if _DRIVER_FOLDER.is_dir() and any(_DRIVER_FOLDER.iterdir()):
            return Devices(
                Presence.NO_DRIVER,
                why="there is an NVIDIA GPU, but its driver library libnvidia-ml.so.1 cannot be loaded; "
                "in a container, start it with the GPU passed through (docker run --gpus all)",
            )
        return Devices(Presence.ABSENT, why="no NVIDIA driver was found on this machine")
    except NoAnswer:
        return Devices(Presence.NO_DRIVER, why="the NVIDIA driver does not answer; try nvidia-smi, and a restart")
    with nvml:
        return _ask(nvml, environment.get("CUDA_VISIBLE_DEVICES"))


def _ask(nvml: Nvml, visible: str | None) -> Devices:
    driver = nvml.ask("nvmlSystemGetDriverVersion")
    count = nvml.ask("nvmlDeviceGetCount") or 0
    gpus = tuple(gpu for index in range(count) if (gpu := _gpu(nvml, index)) is not None)
    if not gpus:
        return Devices(Presence.ABSENT, (), driver, "the NVIDIA driver is installed, and it knows no GPU")
    shown = gpus if visible is None else _visible(nvml, gpus, visible)
    if not shown:
        return Devices(Presence.HIDDEN, (), driver, f"CUDA_VISIBLE_DEVICES={visible!r} hides every GPU")
    return Devices(Presence.PRESENT, shown, driver)


def _gpu(nvml: Nvml, index: int) -> Gpu | None:
    handle = nvml.ask("nvmlDeviceGetHandleByIndex", index)
    if handle is None:
        return None
    memory = nvml.ask("nvmlDeviceGetMemoryInfo", handle)
    return Gpu(
        index,
        nvml.ask("nvmlDeviceGetName", handle) or "",
        nvml.ask("nvmlDeviceGetCudaComputeCapability", handle),
        0 if memory is None else memory.total,
        nvml.ask("nvmlDeviceGetUUID", handle),
    )


def _visible(nvml: Nvml, gpus: tuple[Gpu, ...], visible: str) -> tuple[Gpu, ...]:
    """CUDA_VISIBLE_DEVICES as CUDA reads it: numbers and UUIDs, up to the first that does not exist; none at all if one
    is named twice.

    CUDA reads the digits that an item begins with and goes on, as torch.cuda does. Here an item like "0x1", of which
    one cannot know which GPU was meant, ends the list. A UUID may be cut short, as long as it fits one GPU only. A part
    of a GPU (MIG) shows the GPU that it is of, once. Where the driver does not tell UUIDs, they show all.
    """
    shown: dict[int, Gpu] = {}
    named: set[str] = set()
    for item in map(str.strip, visible.split(",")):
        if item.startswith(("GPU-", "MIG-")):
            uuid = item if item.startswith("GPU-") else _whole(nvml, item)
            if uuid is None or any(gpu.uuid is None for gpu in gpus):
                return gpus
            fitting = [gpu for gpu in gpus if str(gpu.uuid).startswith(uuid)]
        else:
            # Nine digits: Python refuses to read thousands, and no machine has so many GPUs.
            number = re.fullmatch(r"0*([0-9]{1,9})", item)
            fitting = [] if number is None else list(gpus[int(number[1]) :][:1])
        if len(fitting) != 1:
            break
        name = item if item.startswith("MIG-") else str(fitting[0].index)
        if name in named:
            return ()
        named.add(name)
        shown[fitting[0].index] = fitting[0]
    return tuple(shown.values())


def _whole(nvml: Nvml, part: str) -> str | None:
    """The UUID of the GPU of which this is a part."""
    handle = nvml.ask("nvmlDeviceGetHandleByUUID", part)
    whole = None if handle is None else nvml.ask("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", handle)
    uuid: str | None = None if whole is None else nvml.ask("nvmlDeviceGetUUID", whole)
    return uuid
