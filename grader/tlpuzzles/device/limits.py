"""What one block of a kernel may use on the GPUs that learners have, what their multiprocessors hold, and their names.

Source of the numbers: NVIDIA, CUDA C++ Programming Guide 13.0, table "Technical Specifications per Compute
Capability". TileLang 0.1.15 does not check them: a kernel beyond one of them compiles and fails when it is launched.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_THREADS = 1024
"""Threads of a block, the same on every architecture."""
MAX_THREADS_XYZ = (1024, 1024, 64)
MAX_GRID_XYZ = (2**31 - 1, 65535, 65535)
WARP = 32
MAX_REGISTERS = 255
"""32-bit registers that one thread can have; the compiler moves what is beyond them to memory ("spills")."""
SM_REGISTERS = 64 << 10
"""32-bit registers of a multiprocessor, the same on all four."""
MAX_LOCAL_BYTES = 512 << 10
"""Memory of one thread, where spilled registers live. Beyond it a kernel cannot run."""


@dataclass(frozen=True)
class Architecture:
    """GPUs of one compute capability, as TileLang targets them."""

    name: str
    """Target, e.g. "sm_90a" (TileLang needs the `a`: without it Hopper's own instructions are refused)."""
    gpus: str
    """GPUs that people have, for a report: "T4"."""
    shared_bytes: int
    """The most dynamic shared memory that a block may ask for, in bytes: the table's "maximum amount per thread block",
    which is 1 KiB less than a multiprocessor has where the system keeps that for itself (sm_80 and later)."""
    sm_shared_bytes: int
    """Shared memory of a multiprocessor, for all blocks that it holds."""
    sm_threads: int
    """The most threads that a multiprocessor holds at once."""
    sm_blocks: int
    """The most blocks that a multiprocessor holds at once."""

    @property
    def reserved_bytes(self) -> int:
        """Shared memory of every block that the system keeps for itself."""
        return self.sm_shared_bytes - self.shared_bytes

    @property
    def shared(self) -> str:
        """The same for a reader: "163 KiB"."""
        return f"{self.shared_bytes >> 10} KiB"


T4 = Architecture("sm_75", "T4", 64 << 10, 64 << 10, 1024, 16)
A100 = Architecture("sm_80", "A100", 163 << 10, 164 << 10, 2048, 32)
L4 = Architecture("sm_89", "L4", 99 << 10, 100 << 10, 1536, 24)
H100 = Architecture("sm_90a", "H100 and H200", 227 << 10, 228 << 10, 2048, 32)

ARCHITECTURES = (T4, A100, L4, H100)
"""Every architecture that a kernel is checked for, oldest first."""

LARGEST_SHARED = max(ARCHITECTURES, key=lambda architecture: architecture.shared_bytes)


def architecture(name: str) -> Architecture | None:
    """The architecture called `name`, "sm_80"; None for another than the four."""
    return next((known for known in ARCHITECTURES if known.name == name), None)
