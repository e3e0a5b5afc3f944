"""What children that lower, compile or launch for CUDA are given and report: plain data, no torch, no TileLang."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from tlpuzzles.catalogue.explanation import Explanation


class LowerOutcome(str, Enum):
    """How lowering a kernel for one architecture ended."""

    COMPILES = "compiles"
    REFUSED = "refused"
    """TileLang cannot lower it."""
    TOO_BIG = "too big"
    """It lowers, and asks for more shared memory, threads or blocks than the GPU has."""
    NVCC_REFUSED = "nvcc refused"
    """It lowers, and nvcc does not compile the result."""


@dataclass(frozen=True)
class Footprint:
    """What one CUDA kernel asks of the GPU, after lowering."""

    threads: tuple[int, ...]
    """Threads of a block along x, y, z, as launched: TileLang may add a warp group that only copies (128 threads)."""
    grid: tuple[int | None, ...]
    """Blocks along x, y, z; None where the number depends on an argument."""
    dynamic_shared: int
    """Bytes of shared memory asked for at launch."""
    static_shared: int
    """Bytes of shared memory fixed when the kernel is compiled."""


@dataclass(frozen=True)
class Note:
    """Something worth knowing about a kernel that compiles."""

    id: str
    message: str
    line: int | None = None


@dataclass(frozen=True)
class Lowered:
    """A kernel lowered for one architecture."""

    arch: str
    outcome: LowerOutcome
    launches: tuple[Footprint, ...] = ()
    explanation: Explanation | None = None
    """Why it does not compile; None if it does."""
    notes: tuple[Note, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Role(str, Enum):
    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True)
class Argument:
    """One tensor of a launch, in the kernel's order of parameters."""

    name: str
    role: Role
    path: str
    """Raw file, elements in row-major order: read for an input, written for an output."""
    dtype: str
    """torch's name without "torch.", e.g. "float16"."""
    shape: tuple[int, ...]


@dataclass(frozen=True)
class LaunchCase:
    """One problem to run a kernel on."""

    id: str
    kernel: str
    """Key of the kernel among those compiled."""
    arguments: tuple[Argument, ...]
    poisons: tuple[int, ...]
    """For each launch, the bit pattern that every element of the output holds before it.

    Several alike show a race; another among them shows a kernel that reads its output.
    """

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LaunchCase:
        arguments = (
            Argument(**{**argument, "role": Role(argument["role"]), "shape": tuple(argument["shape"])})
            for argument in data["arguments"]
        )
        return cls(data["id"], data["kernel"], tuple(arguments), tuple(data["poisons"]))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class RunOutcome(str, Enum):
    """How running one case ended. What its output is worth, the judge says."""

    RAN = "ran"
    NOT_COMPILED = "not compiled"
    TOO_MUCH_SHARED_MEMORY = "too much shared memory"
    OUT_OF_MEMORY = "out of memory"
    REFUSED = "refused"
    """CUDA did not start it: too many threads, blocks or registers, or arguments that it does not take."""
    CRASHED = "crashed"
    """It was stopped by the GPU, which this process can no longer use."""
    INPUT_CHANGED = "input changed"
    WROTE_OUTSIDE = "wrote outside"
    """Memory before or after the output was overwritten."""
    UNSTABLE = "unstable"
    """Equal launches gave different outputs: a race."""
    READS_OUTPUT = "reads output"
    """The output depends on what it held before the launch."""
    MACHINE = "machine"
    """Not the kernel's fault."""


@dataclass(frozen=True)
class Ran:
    """One case on the GPU."""

    case: str
    outcome: RunOutcome
    explanation: Explanation | None = None
    seconds: float = 0.0
    detail: dict[str, Any] = field(default_factory=dict)
    """Numbers behind the outcome: input and first changed element, side of the output, how many elements differ."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


_POISONS = {
    "float16": (0x7E5A, 0x7A5A, 0xFA5A),
    "bfloat16": (0x7FDA, 0x7A5A, 0xFA5A),
    "float32": (0x7FDA5A5A, 0x7A5A5A5A, 0xFA5A5A5A),
    "float64": (0x7FFA5A5A5A5A5A5A, 0x7A5A5A5A5A5A5A5A, 0xFA5A5A5A5A5A5A5A),
    "int32": (0x5A5A5A5A, 0x25252525, 0xDADADADA),
    "int8": (0x5A, 0x25, 0xDA),
}
"""For each dtype a NaN (for integers a number) that no computation gives by chance, and two more: a large number and
one below zero. A maximum or minimum of NaN and a number is the number, which hides that the output was read."""


def poisons(dtype: str) -> tuple[int, ...]:
    """What the output of a case holds before each of its launches."""
    first, large, below = _POISONS[dtype]
    return (first, first, large, below, first)


@dataclass(frozen=True)
class Probe:
    """What a child that may open the GPU found."""

    usable: bool
    why: str = ""
    """Why kernels cannot be compiled and run here, and what to do; empty if they can."""
    name: str | None = None
    """The GPU's name, e.g. "NVIDIA H200"."""
    arch: str | None = None
    """Target for TileLang, e.g. "sm_90a"."""
    uuid: str | None = None
    """As NVML writes it, "GPU-..."; None if torch does not tell."""
    memory: int = 0
    """Bytes of device memory."""
    free: int = 0
    """Bytes of it that no process uses."""
    driver: str | None = None
    torch: str | None = None
    torch_cuda: str | None = None
    """CUDA version that torch was built for; None for a CPU build."""
    nvcc: str | None = None
    """Version of the nvcc that TileLang calls."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
