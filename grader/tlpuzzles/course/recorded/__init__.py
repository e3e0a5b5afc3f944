"""Compiled kernels as TileLang 0.1.15 left them: their sources, and what is true of them.

`python -m tools.record` makes the files beside this one, on a machine without a GPU.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tlpuzzles.course.functions import RecordedKernel

SUFFIX = ".json.gz"
COPY = "copy_kernel.py.txt"
"""The kernel that a learner's `profile` is given on a GPU."""


@dataclass(frozen=True)
class Recording:
    """One compiled kernel."""

    id: str
    """Name of its file: "gemm-3-stages.sm_80"."""
    title: str
    """For the learner: "a GEMM for an A100"."""
    device_source: str
    """CUDA source, as `get_kernel_source()` returns it."""
    host_source: str
    """C source of the launch, as `get_host_source()` returns it."""
    landmarks: Mapping[str, int]
    """What the device source contains, by the keys of exercise 8. Counted by the tool, on the source's tokens."""
    dynamic_bytes: int
    """Shared memory of a block that is asked for at launch; from the lowered function's attribute."""
    static_bytes: int
    """Shared memory of a block that is declared with its size; nvcc's own count, in the PTX."""

    @property
    def shared_bytes(self) -> int:
        return self.dynamic_bytes + self.static_bytes

    def kernel(self, milliseconds: float = 1.0) -> RecordedKernel:
        """The kernel, as a learner's function meets it. No recording was run on a GPU: the time is the caller's."""
        return RecordedKernel(self.device_source, self.host_source, milliseconds)


@cache
def recordings() -> tuple[Recording, ...]:
    """All of them, in the order of their names."""
    found = sorted(item.name for item in files(__name__).iterdir() if item.name.endswith(SUFFIX))
    return tuple(_read(name) for name in found)


def recording_of(device_source: str) -> Recording:
    """The one with this CUDA source. Raises StopIteration if there is none."""
    return next(recording for recording in recordings() if recording.device_source == device_source)


def _read(name: str) -> Recording:
    content = gzip.decompress(files(__name__).joinpath(name).read_bytes())
    return Recording(id=name.removesuffix(SUFFIX), **json.loads(content))


def copy_kernel() -> str:
    """Text of a file with `make_copy(N)`, a kernel whose time is that of its memory traffic: 8 N bytes."""
    return files(__name__).joinpath(COPY).read_text("utf-8")
