"""Grades cells for a notebook, as `tlpuzzles grade` does, in the process that the notebook keeps for it."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tlpuzzles.border.children import Warm, WarmDied
from tlpuzzles.commands import remembering
from tlpuzzles.commands.of_workspace import class_arch, marks
from tlpuzzles.course import catalog
from tlpuzzles.errors import UsageError
from tlpuzzles.grading import caches
from tlpuzzles.grading.choices import DeviceChoice
from tlpuzzles.grading.devices import GradingDevice
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.options import Options, Step
from tlpuzzles.grading.plan import new_seed
from tlpuzzles.grading.selection import select
from tlpuzzles.notebook import reports
from tlpuzzles.notebook.messages import Asked, Graded, Refused, Working
from tlpuzzles.workspace.folders import shipped


@dataclass
class Gradings:
    """Remembers which devices there are; everything else begins anew with each grading."""

    warm: Warm
    scratch: Path
    _devices: dict[DeviceChoice, GradingDevice] = field(default_factory=dict)

    def prepare(self, choice: DeviceChoice) -> None:
        """Does what can be done before there is a file. What fails here is told when one is graded."""
        with contextlib.suppress(UsageError, WarmDied, OSError):
            self._device(choice).prepare()

    def grade(self, asked: Asked, tell: Callable[[Working], None]) -> Graded | Refused:
        """Grades one cell and keeps the result in the workspace's record. What goes wrong is told, not raised."""
        remarks = io.StringIO()
        try:
            with contextlib.redirect_stderr(remarks):
                return self._grade(asked, tell, remarks)
        except UsageError as error:
            return Refused(str(error))
        except (WarmDied, OSError) as error:
            return Refused(f"The grader itself failed: {error}. Run `tlpuzzles doctor`.")

    def _grade(self, asked: Asked, tell: Callable[[Working], None], remarks: io.StringIO) -> Graded:
        # Marks and the class's GPU are looked for from the current folder on, as a command does it.
        os.chdir(asked.root)
        exercise = catalog.find(asked.exercise)
        file, content = Path(exercise.folder, exercise.file), asked.text.encode("utf-8")
        device = self._device(asked.device)
        grader = Grader(self.warm, self.scratch, device)

        def show(step: Step, note: str) -> None:
            tell(Working(step.value, note))

        grader.progress = show
        options = Options(
            seed=asked.seed if asked.seed is not None else new_seed(content),
            only=asked.case,
            portability=asked.portability,
            class_arch=class_arch(file),
            speed=asked.speed,
            thresholds=marks(file, device.shown),
        )
        skeleton = shipped(exercise).file(exercise).read_text(encoding="utf-8")
        result = grader.grade(exercise, file, skeleton, options, content)
        # It says the same once a process; here each cell has an output of its own.
        remembering.warn.cache_clear()
        remembering.keep_grading(exercise, grader.handed_in, result)
        caches.prune()
        return Graded(reports.as_html(result, exercise), reports.as_text(result, exercise), remarks.getvalue())

    def _device(self, choice: DeviceChoice) -> GradingDevice:
        if choice not in self._devices:
            self.warm.revive()
            self._devices[choice] = select(choice, self.warm, self.scratch)
        return self._devices[choice]
