"""What a user can choose about a grading, apart from what to grade. Imported before anything that takes time."""

from __future__ import annotations

from enum import Enum


class DeviceChoice(str, Enum):
    """Where kernels run."""

    AUTO = "auto"
    """On a GPU if one can be used, else on the CPU."""
    CPU = "cpu"
    CUDA = "cuda"


class Portability(str, Enum):
    """How far the check for GPUs that are not at hand goes."""

    OFF = "off"
    CHECK = "check"
    """Lowers the kernel for each architecture."""
    FULL = "full"
    """Also runs nvcc on what that gives."""
