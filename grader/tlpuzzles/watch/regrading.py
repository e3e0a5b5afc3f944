"""Grades a file in a thread of its own, and gives up when it is asked to: the file was saved again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.cpu import processes
from tlpuzzles.errors import UsageError
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.options import Options, Step
from tlpuzzles.grading.submission import Submission
from tlpuzzles.verdict.model import Result
from tlpuzzles.watch.stages import Stage, goes_on
from tlpuzzles.workspace.folders import shipped

PATIENCE = 5.0
"""Seconds for a grading to notice that it was given up; its processes are killed at once."""


@dataclass(frozen=True)
class Graded:
    """A step has ended."""

    of: Regrading
    stage: Stage
    result: Result
    is_last: bool


@dataclass(frozen=True)
class NotGraded:
    """The file cannot be graded."""

    of: Regrading
    why: str


class GivenUp(BaseException):
    """Ends the thread, wherever it is: no fault of anybody's."""


class Regrading:
    """One saved state of a file, graded step by step. `tell` gets what came of each, from the thread."""

    def __init__(
        self,
        grader: Grader,
        exercise: Exercise,
        file: Path,
        steps: Iterator[tuple[Stage, Options]],
        tell: Callable[[Graded | NotGraded], None],
        show: Callable[[Step, str], None],
    ) -> None:
        """`grader`: for this alone; what it knows and its warm process may be shared."""
        self.exercise = exercise
        self._grader, self._file, self._steps, self._tell, self._show = grader, file, steps, tell, show
        self._unwanted = threading.Event()
        grader.progress = self._progress
        # A daemon: one that waits for another command's GPU must not keep this one from ending.
        self._thread = threading.Thread(target=self._grade, daemon=True)
        self._thread.start()

    @property
    def is_wanted(self) -> bool:
        return not self._unwanted.is_set()

    @property
    def handed_in(self) -> Submission | None:
        """The file as it was graded."""
        return self._grader.handed_in

    def give_up(self) -> None:
        """Kills what it runs, and waits for a while until it has noticed."""
        self._unwanted.set()
        deadline = time.monotonic() + PATIENCE
        while self._thread.is_alive() and time.monotonic() < deadline:
            self._grader.warm.end_children()
            processes.end_all()
            self._thread.join(0.05)

    def _progress(self, step: Step, note: str) -> None:
        if not self.is_wanted:
            raise GivenUp
        self._show(step, note)

    def _grade(self) -> None:
        try:
            skeleton = shipped(self.exercise).file(self.exercise).read_text(encoding="utf-8")
            for stage, options in self._steps:
                result = self._grader.grade(self.exercise, self._file, skeleton, options)
                if not self.is_wanted:
                    return
                last = stage is Stage.EVERYTHING or not goes_on(stage, result)
                self._tell(Graded(self, stage, result, last))
                if last:
                    return
        except GivenUp:
            return
        except UsageError as error:
            if self.is_wanted:
                self._tell(NotGraded(self, str(error)))
        except Exception as error:  # noqa: BLE001 - whatever it is, who waits for a result must hear that there is none
            if self.is_wanted:
                why = f"{type(error).__name__}: {error}"
                self._tell(NotGraded(self, f"The grader itself failed ({why}). End watch with q, and begin it again."))
