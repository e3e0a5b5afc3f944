"""How a grading is done, and what it tells while it is at work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tlpuzzles.grading.choices import Portability


class Step(str, Enum):
    """What a grading is doing, for a display of progress."""

    CALLING = "calling your functions"
    TUNING = "tuning on the GPU"
    TRACING = "tracing the kernel"
    BUILDING = "checking the kernel"
    RUNNING = "running the kernel"
    JUDGING = "comparing with the reference"
    PORTABILITY = "compiling for other GPUs"


Progress = Callable[[Step, str], None]


@dataclass(frozen=True)
class Options:
    """How to grade."""

    seed: int
    only: str | None = None
    """Grades this case alone."""
    dump: Path | None = None
    """Folder for inputs, expected and found outputs of failing cases."""
    portability: Portability = Portability.CHECK
    class_arch: str | None = None
    """The architecture that course.toml names."""
    stop_at_first_failure: bool = False
    trace_seconds: float = 20.0
