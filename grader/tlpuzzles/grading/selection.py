"""Which device a grading runs on."""

from __future__ import annotations

from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.device.cuda import devices
from tlpuzzles.errors import UsageError
from tlpuzzles.grading.choices import DeviceChoice
from tlpuzzles.grading.cpu import Cpu, processor
from tlpuzzles.grading.cuda import Cuda
from tlpuzzles.grading.devices import GradingDevice


def select(choice: DeviceChoice, warm: Warm, scratch: Path) -> GradingDevice:
    """The device to grade on. Raises UsageError if a GPU was asked for and none can be used."""
    if choice is DeviceChoice.CPU:
        return _cpu(scratch)
    found = devices.find()
    if found.presence is not devices.Presence.PRESENT:
        if choice is DeviceChoice.CUDA:
            raise UsageError(f"No GPU can be used: {found.why}. Grade with --device cpu, or run `tlpuzzles doctor`.")
        return _cpu(scratch)
    report = warm.run("probe", {}, Limits(seconds=60, memory=None), scratch, sees_gpu=True)
    answer = next(iter(report.of("probe")), None)
    if answer is not None and answer["usable"]:
        # CUDA's order of GPUs may be another than the driver's: torch has the word.
        return Cuda(str(answer["name"]), str(answer["arch"]), answer["uuid"] or found.gpus[0].uuid, found.driver)
    why = answer["why"] if answer is not None else f"asking for it failed: the process {report.end.value}"
    if choice is DeviceChoice.CUDA:
        raise UsageError(f"The GPU {found.gpus[0].name} cannot be used: {why}. Run `tlpuzzles doctor`.")
    return _cpu(scratch)


def _cpu(scratch: Path) -> Cpu:
    return Cpu(processor(), scratch / "header")
