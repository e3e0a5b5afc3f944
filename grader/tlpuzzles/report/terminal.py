"""The report of one grading for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tlpuzzles.report.badges import full_badge
from tlpuzzles.report.earned import NOTHING, ONE_CASE, earned, gradable, is_one_case, why_nothing
from tlpuzzles.report.explained import explain
from tlpuzzles.report.layout import Page, nearby
from tlpuzzles.report.marks import STYLES, marks_for
from tlpuzzles.report.overview import leading, overview
from tlpuzzles.report.reported import Reported
from tlpuzzles.report.speed import show_speed
from tlpuzzles.report.speed_words import too_slow
from tlpuzzles.report.what_next import what_next
from tlpuzzles.report.worded import worded
from tlpuzzles.verdict.model import Result, Verdict

OUTPUT_LINES = 12
MOST_HEADS = 2
"""Lines that may stand before what is printed over and over."""
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
    commands: bool = True,
) -> None:
    """Prints the report. `title` is the exercise's; `following` number and title of the next one, if there is one.

    `verbose`: with the messages of TileLang and compilers as they came. `nvcc`: whether kernels were compiled for other
    GPUs to the end. `commands`: whether to end with those for what to do next.
    """
    report = _Report(worded(result), console, title or result.exercise.slug.replace("_", " "), following, verbose, nvcc)
    report.show()
    if commands:
        report.show_next()


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

    def _head(self) -> None:
        result, page, marks = self.result, self.page, self.marks
        told = full_badge(result)
        coloured = page.console.is_terminal and not page.console.no_color
        told = f" {told} " if coloured else f"[{told}]"
        page.blank()
        name = f"Exercise {result.exercise.number}  {self.title}"
        page.line((name, "bold"), "  ", (told, f"bold reverse {STYLES[result.verdict.value]}"))
        device = result.device.name if result.device.arch is None else f"{result.device.name} ({result.device.arch})"
        parts = [
            Text(part)
            for part in (marks.one_line(nearby(result.file)), marks.one_line(device), f"{result.seconds:.1f} s")
        ]
        for part in parts:
            part.stylize("dim")
        page.flow(parts, lead="", separator=Text(f" {marks.separator} ", style="dim"))

    def _messages(self) -> None:
        for check in self.result.checks:
            if check.message:
                self.page.paragraph(self.marks.clean(check.message), lead="  ")

    def _printed(self) -> None:
        page, marks = self.page, self.marks
        lines = _counted(marks.clean(self.result.output).strip("\n").splitlines())
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
        self.page.blank()
        graded = gradable(self.result)
        if is_one_case(self.result):
            self.page.line("  ", (ONE_CASE, "dim"))
            return
        if graded == 0:
            self.page.line("  ", (NOTHING, "dim"))
            return
        filled = BAR * self.result.points.earned // graded
        bar = (self.marks.filled * filled, STYLES[self.result.verdict.value])
        rest = (self.marks.empty * (BAR - filled), "dim")
        told, left = earned(self.result)
        self.page.paragraph(Text.assemble(told, (left, "dim")), lead=Text.assemble("  ", bar, rest, "  "))
        why = why_nothing(self.result, self.marks.clean)
        if why is not None:
            self.page.paragraph(Text(why, style="dim"), lead="  ")

    def show_next(self) -> None:
        page, commands = self.page, what_next(self.result, self.following, self.marks.one_line)
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


def _counted(lines: Sequence[str]) -> list[str]:
    """What is printed over and over, as by a kernel that is traced for each case, once and with its count."""
    for begin in range(min(MOST_HEADS, len(lines))):
        rest = lines[begin:]
        for length in range(1, len(rest) // 2 + 1):
            if len(rest) % length == 0 and rest == [*rest[:length]] * (len(rest) // length):
                return [*lines[:begin], *rest[:length], f"({len(rest) // length} times)"]
    return list(lines)
