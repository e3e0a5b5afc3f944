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
from tlpuzzles.report.speed import show_speed, too_slow
from tlpuzzles.verdict.model import Check, Detail, Kind, Result, Verdict
from tlpuzzles.verdict.points import ANOTHER_KERNEL, ANSWERS, OF_A_KERNEL, SPEED, of_speed

BADGES = {
    Verdict.PASSED: "PASSED",
    Verdict.FAILED: "NOT YET RIGHT",
    Verdict.INCONCLUSIVE: "UNDECIDED",
    Verdict.ERROR: "OUR ERROR",
    Verdict.NOT_STARTED: "NOT STARTED",
    Verdict.SKIPPED: "SKIPPED",
}

TOO_SLOW = "NOT YET FAST"
"""Instead of the badge of a failure, where nothing but speed fails."""

NEEDS_GPU = "needs a GPU"
"""Stands in the message of a check that was skipped for want of one; in capitals, the badge where nothing else was
asked for."""

NOT_ASKED = "--no-speed"
"""Stands in the message of a speed check that the user did not want."""

AGAIN = (Kind.CORRECTNESS, Kind.ORDER, Kind.FUNCTION, Kind.OUTPUT, Kind.SPEED)
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


def badge(result: Result) -> str:
    """The result in a few capitals."""
    failed = {check.id for check in result.checks if check.verdict is Verdict.FAILED and check.graded}
    if result.verdict is Verdict.FAILED and failed and failed <= too_slow(result):
        return TOO_SLOW
    return NEEDS_GPU.upper() if _needs_gpu(result) else BADGES[result.verdict]


def _needs_gpu(result: Result) -> bool:
    """Whether the one check that was asked for can only be made on a GPU."""
    if result.only is None or result.verdict is not Verdict.INCONCLUSIVE or leading(result) is not None:
        return False
    return any(check.verdict is Verdict.SKIPPED and NEEDS_GPU in check.message for check in result.checks)


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
        self.verbose = verbose
        self.nvcc = nvcc
        self.subject = leading(result)
        # What is only slow is told in the section about speed.
        self.explained = None if self.subject and self.subject.id in too_slow(result) else self.subject
        self.reported = Reported(self.page, self.marks, self.explained, verbose=verbose)
        self.without_gpus = result.verdict is Verdict.PASSED and other_gpus_left_out(result)

    def show(self) -> None:
        self._head()
        self.page.blank()
        if self.result.verdict is Verdict.NOT_STARTED:
            self._messages()
        else:
            timed = {speed.case for speed in self.result.speed or ()}
            overview(
                self.result.checks, self.page, self.marks, self.reported, self.explained, nvcc=self.nvcc, below=timed
            )
        if self.explained is not None:
            self.page.blank()
            explain(self.explained, self.page, self.marks, self.reported)
        show_speed(self.result, self.page, self.marks, verbose=self.verbose)
        self.reported.note()
        self._printed()
        self._points()
        self._next()

    def _head(self) -> None:
        result, page, marks = self.result, self.page, self.marks
        told = badge(result)
        if result.only is not None and result.verdict is Verdict.PASSED:
            told = "PASSED ALONE"
        elif self.without_gpus:
            told = "PASSED WITHOUT THE GPU CHECK"
        coloured = page.console.is_terminal and not page.console.no_color
        told = f" {told} " if coloured else f"[{told}]"
        page.blank()
        name = f"Exercise {result.exercise.number}  {self.title}"
        page.line((name, "bold"), "  ", (told, f"bold reverse {STYLES[result.verdict.value]}"))
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
        text = Text.assemble(f"{points.earned} of {graded} points{self._for_what()}", (self._not_graded(), "dim"))
        self.page.paragraph(text, lead=Text.assemble("  ", bar, rest, "  "))
        cause = self._why_none()
        if cause is not None:
            self.page.paragraph(Text(f"Right results earn nothing while {self._told(cause)}.", style="dim"), lead="  ")

    def _for_what(self) -> str:
        """How many of the points are for speed; nothing where that was not graded."""
        result = self.result
        is_graded = any(speed.score is not None for speed in result.speed or ())
        if not is_graded or result.only is not None or not self._only_speed_is_left():
            return ""
        fast = of_speed(result.checks, result.speed or ())
        return f": {result.points.earned - fast} for results, {fast} of {SPEED - result.points.not_graded} for speed"

    def _not_graded(self) -> str:
        left = self.result.points.not_graded
        if not left:
            return ""
        if not self._only_speed_is_left():
            return f"; {left} more are not graded here"
        checks = [check for check in self.result.checks if check.kind is Kind.SPEED]
        if any(NOT_ASKED in check.message for check in checks if check.verdict is Verdict.SKIPPED):
            return f"; {left} more are for speed ({NOT_ASKED})"
        undecided = any(check.verdict is Verdict.INCONCLUSIVE for check in checks)
        return f"; {left} more are for speed, {'left undecided' if undecided else 'not graded here'}"

    def _only_speed_is_left(self) -> bool:
        """Whether all points that are not graded are those of speed."""
        left = self.result.points.not_graded
        if left == SPEED:
            return True
        unsettled = (Verdict.INCONCLUSIVE, Verdict.ERROR)
        settled = not any(check.kind in ANSWERS and check.verdict in unsettled for check in self.result.checks)
        return left < SPEED and settled and self.result.only is None

    def _told(self, cause: Check) -> str:
        """What is wrong, where each of several checks says it of one GPU."""
        gpus = [check for check in self.result.checks if check.kind is Kind.PORTABILITY]
        if cause in gpus and len(gpus) > 1 and all(check.verdict is Verdict.FAILED for check in gpus):
            return "none of these GPUs takes the kernel"
        return f"this fails: {self.marks.clean(cause.title)}"

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
        detail = self._subjects_detail()
        if verdict is Verdict.PASSED and (self.result.only is not None or self.without_gpus):
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
        if _needs_gpu(self.result):
            return [(self._again(Detail()), "grades the results, which needs no GPU")]
        commands = []
        if verdict is Verdict.FAILED:
            level = f" --level {detail.hint}" if detail.hint else ""
            commands.append((f"tlpuzzles hint {number}{level}", "the hint for this" if level else "a hint"))
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
        words = ["tlpuzzles", "grade", str(self.result.exercise.number)]
        if Path(self.result.file).name != f"{self.result.exercise.slug}.py":
            words.append(shlex.quote(self.marks.clean(self.result.file)))
        if detail.case is not None:
            words += ["--case", detail.case]
        if detail.seed is not None:
            words += ["--seed", str(detail.seed)]
        return " ".join(words)
