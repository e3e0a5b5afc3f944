"""Where kernels run: what every device offers to a grading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from tlpuzzles.border.children import Warm
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.stages import Built, Launch, Ran
from tlpuzzles.verdict.model import Device

Tell = Callable[[str], None]

CPU_ARCH = "cpu"
"""What a factory's parameter `arch` is for a kernel that will run on a CPU."""


class GradingDevice(Protocol):
    """Runs vetted kernels on inputs it is given, and hands back their outputs unseen."""

    @property
    def is_cuda(self) -> bool: ...

    @property
    def arch(self) -> str:
        """The architecture that kernels are traced for: "sm_90a", or "cpu"."""
        ...

    @property
    def shown(self) -> Device:
        """The device as the result names it."""
        ...

    @property
    def id(self) -> str:
        """Tells it from others of its name, and its driver from other versions."""
        ...

    def prepare(self) -> None:
        """Starts what can be done before there is a kernel."""
        ...

    def alone(self, tell: Tell) -> AbstractContextManager[object]:
        """While it is held no other grading uses this device; `tell` hears that it must be waited for."""
        ...

    def run(
        self,
        exercise: Exercise,
        launches: Sequence[Launch],
        folder: Path,
        warm: Warm,
        tell: Tell,
        *,
        timed: Sequence[Built] = (),
    ) -> dict[str, Ran]:
        """Compiles the kernels and runs every case; `tell` hears what is going on. The answer is by case, and whole.

        `timed`: kernels that are compiled beside them, for they are needed next.
        """
        ...
