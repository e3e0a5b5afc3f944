"""What a terminal shows while a file is watched: a report or a text, what is going on, and the keys."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from rich.console import Console
from rich.text import Text

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.options import Step
from tlpuzzles.report import terminal
from tlpuzzles.report.marks import marks_for
from tlpuzzles.report.progress import Following, Quiet, progress
from tlpuzzles.verdict.model import Result

KEYS = (
    ("h", "hint"),
    ("s", "lesson"),
    ("l", "list"),
    ("g", "grade"),
    ("r", "reset"),
    ("n", "next"),
    ("p", "previous"),
    ("q", "quit"),
)


class Screen:
    """Clears itself before what is new, where it is a terminal; else one thing follows the other."""

    def __init__(self, console: Console, *, keys: bool) -> None:
        self._console, self._keys = console, keys
        self._going_on = ExitStack()
        self._steps = Following(Quiet())

    def grading(self, title: str) -> None:
        """Below what is shown, says from now on what a grading does."""
        self.still()
        self._steps = Following(self._going_on.enter_context(progress(self._console, title)))

    def step(self, step: Step, note: str) -> None:
        self._steps.show(step, note)

    def still(self) -> None:
        """Nothing goes on; what was said of it is wiped."""
        self._going_on.close()
        self._steps = Following(Quiet())

    def fresh(self) -> None:
        """An empty screen."""
        self.still()
        if self._console.is_terminal:
            self._console.clear()

    def report(self, result: Result, exercise: Exercise) -> None:
        """Without the commands for what to do next: the keys do that here."""
        self.fresh()
        terminal.show(result, self._console, title=exercise.title, commands=False)

    def text(self, print_it: Callable[[], None]) -> None:
        self.fresh()
        print_it()

    def say(self, *lines: str, style: str = "") -> None:
        for line in lines:
            self._console.print(Text(f"  {line}", style=style), soft_wrap=not self._console.is_terminal)

    def keys(self, watched: str) -> None:
        """The line below everything: what is watched, and what can be pressed."""
        marks = marks_for(self._console)
        self._console.print()
        self._console.print(Text.assemble(("  watching ", "dim"), marks.one_line(watched)))
        for row in _rows(self._console.width) if self._keys else ():
            self._console.print(Text("  ").join([Text(""), *row]), no_wrap=True)


def _rows(width: int) -> list[list[Text]]:
    """The keys in rows that fit, none of them apart from what it does."""
    rows: list[list[Text]] = [[]]
    for key, does in KEYS:
        entry = Text.assemble((key, "bold"), (f" {does}", "dim"))
        if rows[-1] and sum(len(other) + 2 for other in (*rows[-1], entry)) > width - 2:
            rows.append([])
        rows[-1].append(entry)
    return rows
