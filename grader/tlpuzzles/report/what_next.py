"""What to do after a grading: commands, and what they are good for."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from tlpuzzles.report.badges import needs_gpu, passed_without_gpus
from tlpuzzles.report.overview import leading
from tlpuzzles.verdict.model import Detail, Kind, Result, Verdict
from tlpuzzles.wording import here

AGAIN = (Kind.CORRECTNESS, Kind.ORDER, Kind.FUNCTION, Kind.OUTPUT, Kind.SPEED)
"""Kinds whose failed check can be made again alone."""


def what_next(result: Result, following: tuple[int, str] | None, clean: Callable[[str], str]) -> list[tuple[str, str]]:
    """Pairs of a command and a reason. `following`: number and title of the next exercise, if there is one; `clean` is
    for the name of the file."""
    return _Next(result, following, clean).commands()


def file_argument(result: Result, clean: Callable[[str], str]) -> str:
    """The graded file as a command takes it, after a blank; nothing for the workspace's own."""
    if Path(result.file).name == f"{result.exercise.slug}.py":
        return ""
    return f" {shlex.quote(clean(result.file))}"


class _Next:
    def __init__(self, result: Result, following: tuple[int, str] | None, clean: Callable[[str], str]) -> None:
        self.result, self.following, self.clean = result, following, clean
        self.subject = leading(result)

    def commands(self) -> list[tuple[str, str]]:
        """As they are typed where the report is read."""
        return [(here(command), why) for command, why in self._commands()]

    def _commands(self) -> list[tuple[str, str]]:
        number, verdict = self.result.exercise.number, self.result.verdict
        detail = self._subjects_detail()
        if verdict is Verdict.PASSED and (self.result.only is not None or passed_without_gpus(self.result)):
            return [*self._more_points(), (self._again(Detail()), "grades all of it")]
        if verdict is Verdict.PASSED:
            if self.following is None:
                return self._more_points()
            following = (f"tlpuzzles show {self.following[0]}", f"the next exercise: {self.following[1]}")
            return [*self._more_points(), following]
        if verdict is Verdict.NOT_STARTED:
            return [
                (f"tlpuzzles show {number}", "the lesson, with the task"),
                (f"tlpuzzles hint {number}", "a first hint"),
            ]
        if needs_gpu(self.result):
            return [(self._again(Detail()), "grades the results, which needs no GPU")]
        commands = []
        if verdict is Verdict.FAILED:
            hint = detail.hint or self._hint_of_results()
            level = "" if hint is None else f" --level {hint}"
            about = "the hint for this" if detail.hint else "the hint for the results"
            commands.append((f"tlpuzzles hint {number}{level}", about if level else "a hint"))
        if verdict is Verdict.ERROR:
            commands.append(("tlpuzzles doctor", "checks this machine"))
        again = detail if self.subject and self.subject.kind in AGAIN else Detail()
        if self.subject and self.subject.kind is Kind.SPEED:
            commands.append((self._again(again), "measures this again"))
        else:
            commands.append((self._again(again), "grades this case again" if again.case else "grades it again"))
        return commands

    def _more_points(self) -> list[tuple[str, str]]:
        """The hint for the slowest case that lacks points, if one is known."""
        checks = {check.id: check.detail or Detail() for check in self.result.checks}
        lacking = [speed for speed in self.result.speed or () if speed.score is not None and speed.score < 1]
        for speed in sorted(lacking, key=lambda speed: speed.score or 0):
            hint = checks.get(speed.case, Detail()).hint
            if hint is not None:
                return [(f"tlpuzzles hint {self.result.exercise.number} --level {hint}", "more points")]
        return []

    def _hint_of_results(self) -> int | None:
        """The first hint that a failed result names, where what is explained in full is about something else."""
        failed = (check for check in self.result.checks if check.verdict is Verdict.FAILED)
        hints = (check.detail.hint for check in failed if check.kind is Kind.CORRECTNESS and check.detail)
        return next((hint for hint in hints if hint is not None), None)

    def _subjects_detail(self) -> Detail:
        subject = self.subject
        if subject is None:
            return Detail()
        detail = subject.detail or Detail()
        if subject.kind is not Kind.SPEED:
            return detail
        # What is timed has fixed sizes, so no seed matters.
        return detail.model_copy(update={"case": subject.id, "seed": None})

    def _again(self, detail: Detail) -> str:
        command = f"tlpuzzles grade {self.result.exercise.number}{file_argument(self.result, self.clean)}"
        if detail.case is not None:
            command += f" --case {detail.case}"
        return command if detail.seed is None else f"{command} --seed {detail.seed}"
