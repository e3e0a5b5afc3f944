"""The facts about a machine that the doctor looks at: gathered in `look`, judged in `rules`, made up in tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from tlpuzzles.verdict.thresholds import Thresholds

Version = tuple[int, ...]


class End(Enum):
    """How an import in a process of its own ended."""

    IMPORTED = "imported"
    RAISED = "raised an exception"
    DIED = "ended its process"
    TIMED_OUT = "took too long"


@dataclass(frozen=True)
class Imported:
    """An import, tried in a process of its own."""

    end: End
    facts: Mapping[str, str] = field(default_factory=dict)
    """What the imported package says of itself: "version", "cuda", ..."""
    message: str = ""
    """The exception, or how the process ended and the last lines that it wrote."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Gpu:
    name: str
    capability: tuple[int, int]
    memory_gib: float

    @property
    def arch(self) -> str:
        """The architecture as compilers call it; Hopper's full instruction set has an "a"."""
        major, minor = self.capability
        return f"sm_{major}{minor}" + ("a" if (major, minor) == (9, 0) else "")


@dataclass(frozen=True)
class Driver:
    """NVIDIA's driver, as its library answers."""

    cuda: Version
    """The newest CUDA that it knows, e.g. (12, 8)."""
    gpus: tuple[Gpu, ...]
    release: str = ""
    """E.g. "570.86"; empty where the system does not say."""
    error: str = ""
    """Why it would not start; empty if it did."""


@dataclass(frozen=True)
class Timing:
    """What disturbs timing on the GPU that kernels are graded on, as far as its driver tells."""

    busy: bool = False
    """Whether something ran there, for more than a moment."""
    others: int | None = None
    """Processes that have the GPU open; None if the driver does not show them."""
    throttled: tuple[str, ...] = ()
    """Why its clock is held down."""
    persistent: bool | None = None
    """Whether the driver keeps the GPU ready while nobody has it open."""
    lock_error: str = ""
    """Why gradings cannot wait for each other; empty if they can."""


@dataclass(frozen=True)
class Tool:
    """A compiler."""

    path: str
    version: str = ""
    error: str = ""
    """Why it is of no use; empty if it works."""


@dataclass(frozen=True)
class Folder:
    """A folder that must be writable."""

    path: str
    error: str = ""
    """Why it cannot be written; empty if it can."""


@dataclass(frozen=True)
class Marks:
    """The thresholds.toml of the current workspace."""

    path: str
    thresholds: Thresholds | None = None
    """None: the file cannot be used."""
    strangers: tuple[str, ...] = ()
    """What its entries name that no exercise has, a sentence each."""
    error: str = ""
    """Why it cannot be used, with its path; empty if it can."""


@dataclass(frozen=True)
class Seen:
    """A machine, as far as tlpuzzles cares."""

    python: Version
    platform: tuple[str, str]
    """Operating system and machine, e.g. ("Linux", "x86_64")."""
    distributions: Mapping[str, str]
    """Version of each installed distribution that matters here, by name."""
    imports: Mapping[str, Imported]
    """By name: "torch", "tilelang"."""
    driver: Driver | None
    """None: there is no driver library."""
    nvidia_device: bool
    """Whether the PCI bus has an NVIDIA display device, driver or not."""
    cuda_home: str
    """Where TileLang looks for CUDA; empty if it found none."""
    nvcc: Tool | None
    cxx: Tool | None
    cache: Folder
    cache_bytes: int
    """What the cache takes."""
    tilelang_cache: Folder
    timing: Timing | None = None
    """None without a GPU, or where its driver cannot be asked."""
    marks: Marks | None = None
    """None outside of a workspace, and in one that has no such file."""

    @property
    def has_gpu(self) -> bool:
        return self.driver is not None and not self.driver.error and bool(self.driver.gpus)


def parse(version: str) -> Version:
    """The leading numbers of a version: "2.13.0+cpu" -> (2, 13, 0)."""
    numbers: list[int] = []
    for part in version.split("."):
        digits = "".join(c for i, c in enumerate(part) if part[: i + 1].isdecimal())
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers)
