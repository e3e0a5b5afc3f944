"""The report of one grading for a person at a terminal."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tlpuzzles.report.explained import explain
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import STYLES, marks_for
from tlpuzzles.report.overview import leading, other_gpus_left_out, overview
from tlpuzzles.report.reported import Reported
from tlpuzzles.verdict.model import Check, Detail, Kind, Result, Verdict
from tlpuzzles.verdict.points import ANOTHER_KERNEL, OF_A_KERNEL, SPEED

BADGES = {
    Verdict.PASSED: "PASSED",
    Verdict.FAILED: "NOT YET RIGHT",
    Verdict.INCONCLUSIVE: "UNDECIDED",
    Verdict.ERROR: "OUR ERROR",
    Verdict.NOT_STARTED: "NOT STARTED",
    Verdict.SKIPPED: "SKIPPED",
}

AGAIN = (Kind.CORRECTNESS, Kind.ORDER, Kind.FUNCTION, Kind.OUTPUT)
"""Kinds whose failed check can be made again alone."""

OUTPUT_LINES = 12
OUTPUT_ROWS = 2
"""Rows that one line of it may take, about."""
BAR = 20
"""Columns of the bar of points."""


def show(
    result: Result,
    console: Console,
    *,
    title: str | None = None,
    following: tuple[int, str] | None = None,
    verbose: bool = False,
    nvcc: bool = False,
) -> None:
    """Prints the report. `title` is the exercise's; `following` number and title of the next one, if there is one.

    `verbose`: with the messages of TileLang and compilers as they came. `nvcc`: whether kernels were compiled for other
    GPUs to the end.
    """
    _Report(result, console, title or result.exercise.slug.replace("_", " "), following, verbose, nvcc).show()


class _Report:
    def __init__(
        self,
        result: Result,
        console: Console,
        title: str,
        following: tuple[int, str] | None,
        verbose: bool,
        nvcc: bool,
    ) -> None:
        self.result = result
        self.title = title
        self.following = following
        self.marks = marks_for(console)
        self.page = Page(console, self.marks.ellipsis)
        self.nvcc = nvcc
        self.subject = leading(result)
        self.reported = Reported(self.page, self.marks, self.subject, verbose=verbose)
        self.without_gpus = result.verdict is Verdict.PASSED and other_gpus_left_out(result)

    def show(self) -> None:
        self._head()
        self.page.blank()
        if self.result.verdict is Verdict.NOT_STARTED:
            self._messages()
        else:
            overview(self.result.checks, self.page, self.marks, self.reported, self.subject, nvcc=self.nvcc)
        if self.subject is not None:
            self.page.blank()
            explain(self.subject, self.page, self.marks, self.reported)
        self.reported.note()
        self._printed()
        self._points()
        self._next()

    def _head(self) -> None:
        result, page, marks = self.result, self.page, self.marks
        badge = BADGES[result.verdict]
        if result.only is not None and result.verdict is Verdict.PASSED:
            badge = "PASSED ALONE"
        elif self.without_gpus:
            badge = "PASSED WITHOUT THE GPU CHECK"
        coloured = page.console.is_terminal and not page.console.no_color
        badge = f" {badge} " if coloured else f"[{badge}]"
        page.blank()
        name = f"Exercise {result.exercise.number}  {self.title}"
        page.line((name, "bold"), "  ", (badge, f"bold reverse {STYLES[result.verdict.value]}"))
        device = result.device.name if result.device.arch is None else f"{result.device.name} ({result.device.arch})"
        parts = [Text(part) for part in (marks.clean(result.file), marks.clean(device), f"{result.seconds:.1f} s")]
        for part in parts:
            part.stylize("dim")
        page.flow(parts, lead="", separator=Text(f" {marks.separator} ", style="dim"))

    def _messages(self) -> None:
        for check in self.result.checks:
            if check.message:
                self.page.paragraph(self.marks.clean(check.message), lead="  ")

    def _printed(self) -> None:
        page, marks = self.page, self.marks
        lines = marks.clean(self.result.output).strip("\n").splitlines()
        if not any(line.strip() for line in lines):
            return
        page.blank()
        page.line(("  Your file printed", "bold"))
        for line in lines[:OUTPUT_LINES]:
            if len(line) > OUTPUT_ROWS * page.width:
                line = line[: OUTPUT_ROWS * page.width] + marks.ellipsis
            page.paragraph(line, lead=Text.assemble((f"  {marks.gutter} ", "cyan")))
        if len(lines) > OUTPUT_LINES:
            more = f"{marks.ellipsis} {len(lines) - OUTPUT_LINES} more lines; --json has them all"
            page.line((f"  {marks.gutter} ", "cyan"), (more, "dim"))

    def _points(self) -> None:
        points = self.result.points
        graded = points.possible - points.not_graded
        self.page.blank()
        if graded == 0:
            self.page.line("  ", ("No points: nothing could be graded.", "dim"))
            return
        filled = BAR * points.earned // graded
        bar = (self.marks.filled * filled, STYLES[self.result.verdict.value])
        rest = (self.marks.empty * (BAR - filled), "dim")
        text = Text.assemble(f"{points.earned} of {graded} points", (self._not_graded(), "dim"))
        self.page.paragraph(text, lead=Text.assemble("  ", bar, rest, "  "))
        cause = self._why_none()
        if cause is not None:
            self.page.paragraph(
                Text(f"Right results earn nothing while this fails: {self.marks.clean(cause.title)}.", style="dim"),
                lead="  ",
            )

    def _not_graded(self) -> str:
        left = self.result.points.not_graded
        if not left:
            return ""
        return "; 40 more are for speed, not graded here" if left == SPEED else f"; {left} more are not graded here"

    def _why_none(self) -> Check | None:
        """The check because of which right results earn no points, if there are any."""
        right = any(c.kind in OF_A_KERNEL and c.verdict is Verdict.PASSED for c in self.result.checks)
        if not right:
            return None
        failed = (c for c in self.result.checks if c.verdict is Verdict.FAILED and c.graded)
        return next((c for c in failed if c.kind in ANOTHER_KERNEL), None)

    def _next(self) -> None:
        page, commands = self.page, self._commands()
        page.blank()
        widest = max((len(command) for command, _ in commands), default=0)
        beside = all(4 + widest + len(why) <= page.width for _, why in commands)
        for command, why in commands:
            if beside:
                page.line("  ", (command, "bold cyan"), " " * (widest - len(command) + 2), (why, "dim"))
            else:
                page.line("  ", (why, "dim"))
                page.line("    ", (command, "bold cyan"))
        if commands:
            page.blank()

    def _commands(self) -> list[tuple[str, str]]:
        """What to do next: commands, and what they are good for."""
        number, verdict = self.result.exercise.number, self.result.verdict
        detail = self.subject.detail if self.subject and self.subject.detail else Detail()
        if verdict is Verdict.PASSED and (self.result.only is not None or self.without_gpus):
            return [(self._again(Detail()), "grades all of it")]
        if verdict is Verdict.PASSED:
            if self.following is None:
                return []
            return [(f"tlpuzzles show {self.following[0]}", f"the next exercise: {self.following[1]}")]
        if verdict is Verdict.NOT_STARTED:
            return [
                (f"tlpuzzles show {number}", "the lesson, with the task"),
                (f"tlpuzzles hint {number}", "a first hint"),
            ]
        commands = []
        if verdict is Verdict.FAILED:
            level = f" --level {detail.hint}" if detail.hint else ""
            commands.append((f"tlpuzzles hint {number}{level}", "the hint for this" if level else "a hint"))
        if verdict is Verdict.ERROR:
            commands.append(("tlpuzzles doctor", "checks this machine"))
        again = detail if self.subject and self.subject.kind in AGAIN else Detail()
        commands.append((self._again(again), "grades this case again" if again.case else "grades it again"))
        return commands

    def _again(self, detail: Detail) -> str:
        words = ["tlpuzzles", "grade", str(self.result.exercise.number)]
        if Path(self.result.file).name != f"{self.result.exercise.slug}.py":
            words.append(shlex.quote(self.marks.clean(self.result.file)))
        if detail.case is not None:
            words += ["--case", detail.case]
        if detail.seed is not None:
            words += ["--seed", str(detail.seed)]
        return " ".join(words)
