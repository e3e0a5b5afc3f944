"""A message in plain words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum, IntEnum
from typing import Any


class Fault(str, Enum):
    """Whose an error is."""

    KERNEL = "kernel"
    """The learner's kernel is at fault, or asks for what this GPU does not have."""
    MACHINE = "machine"
    """The machine or the grader is: a missing compiler, a driver too old. Never a failed check."""


class Hint(IntEnum):
    """Which of an exercise's own hints to read: what its levels hold is the same in every exercise."""

    IDEA = 2
    """What belongs where: the grid, the tiles, the loops."""
    STEPS = 3
    """Which function to call, and with what."""


UNKNOWN = "unknown"
"""Name of an error that no entry describes."""


@dataclass(frozen=True)
class Explanation:
    """An error of Python, TileLang, nvcc or CUDA in plain words."""

    id: str
    """Which known error it is, e.g. "layout-conflict"; `UNKNOWN`: the message is the first line of the raw one."""
    message: str
    fix: str
    """What to do next; empty where nothing general can be said."""
    raw: str
    """The message as it came."""
    line: int | None = None
    """Line in the learner's file."""
    fault: Fault = Fault.KERNEL
    hint: int | None = None
    """Level of the hint that helps."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
