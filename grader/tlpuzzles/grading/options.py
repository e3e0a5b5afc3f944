"""How a grading is done, and what it tells while it is at work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from tlpuzzles.grading.choices import Portability
from tlpuzzles.verdict.thresholds import Thresholds, shipped


class Step(str, Enum):
    """What a grading is doing, for a display of progress."""

    CALLING = "calling your functions"
    TUNING = "tuning on the GPU"
    TRACING = "tracing the kernel"
    BUILDING = "checking the kernel"
    RUNNING = "running the kernel"
    JUDGING = "comparing with the reference"
    PORTABILITY = "compiling for other GPUs"
    TIMING = "timing the kernel"


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
    not_asked: str = "--portability off"
    """Why other GPUs are not asked, where they are not."""
    class_arch: str | None = None
    """The architecture that course.toml names."""
    thresholds: Thresholds = field(default_factory=shipped)
    """Marks for speed."""
    speed: bool = True
    """Whether to time a kernel that is right, where there is a GPU."""
    stop_at_first_failure: bool = False
    trace_seconds: float = 20.0
