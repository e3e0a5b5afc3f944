"""What a grading is doing, while it does it: on a terminal only, and gone when the report comes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


VARIABLE = "TLPUZZLES_PROGRESS"
"""In the environment: "lines" has progress written line by line, whatever the console is."""


class Steps(Protocol):
    """What a grading tells about its course."""

    def step(self, text: str, total: int | None = None) -> None:
        """Something new begins ("compiling"), of `total` parts if that is known; what went before is done."""

    def advance(self, note: str = "") -> None:
        """One more part is done; `note` says which ("causal")."""


class Quiet:
    """Nobody looks."""

    def step(self, text: str, total: int | None = None) -> None: ...

    def advance(self, note: str = "") -> None: ...


class Lines:
    """A line for each thing that begins, for who reads what was written to a pipe."""

    def __init__(self, console: Console, title: str) -> None:
        self._console, self._title, self._begin = console, title, time.monotonic()

    def step(self, text: str, total: int | None = None) -> None:
        line = f"{self._title}: {text} ({time.monotonic() - self._begin:.0f} s)"
        self._console.print(line, markup=False, soft_wrap=True)

    def advance(self, note: str = "") -> None: ...


class Following:
    """Shows what is being done, told by name as often as there is something to add: a step begins when the name
    changes."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._now: Enum | None = None

    def show(self, step: Enum, note: str) -> None:
        if step is not self._now:
            self._now = step
            self._steps.step(str(step.value))
        if note:
            self._steps.advance(note)


@contextmanager
def progress(console: Console, title: str, *, wanted: bool = True) -> Iterator[Steps]:
    """Shows steps on the console (that of standard error, so that the report alone is on standard output).

    Nothing is shown where `wanted` is false, or the console is no terminal and the environment does not ask for lines.
    What was shown on a terminal is wiped when the block ends, however it ends.
    """
    if wanted and os.environ.get(VARIABLE) == "lines":
        yield Lines(console, title)
        return
    if not wanted or not console.is_terminal or console.is_dumb_terminal:
        yield Quiet()
        return
    from rich.live import Live

    shown = _Shown(title)
    # Eight times a second: enough for the clock and the spinner, and no burden on two busy cores.
    with Live(shown, console=console, transient=True, refresh_per_second=8):
        yield shown


class _Shown:
    """The steps done, with their seconds, and the one that is going on."""

    def __init__(self, title: str) -> None:
        from rich.spinner import Spinner

        self.title = title
        self.done: list[tuple[str, float]] = []
        self.text = ""
        self.note = ""
        self.parts = 0
        self.total: int | None = None
        self.since = time.monotonic()
        self.spinner = Spinner("dots", style="cyan")
        self.plain_spinner = Spinner("line", style="cyan")

    def step(self, text: str, total: int | None = None) -> None:
        now = time.monotonic()
        if self.text:
            self.done.append((self.text, now - self.since))
        self.text, self.total, self.parts, self.note, self.since = text, total, 0, "", now

    def advance(self, note: str = "") -> None:
        self.parts += 1
        self.note = note

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        from tlpuzzles.report.layout import WIDEST
        from tlpuzzles.report.marks import marks_for

        marks = marks_for(console)
        lines = [Text(self.title, style="bold")]
        for text, seconds in self.done:
            sign = (marks.by_verdict["passed"], "green")
            lines.append(Text.assemble("  ", sign, f" {text} ", (f"{seconds:.1f} s", "dim")))
        if self.text:
            spinner = self.plain_spinner if options.ascii_only else self.spinner
            frame = spinner.render(console.get_time())
            sign_text = frame if isinstance(frame, Text) else Text(" ")
            count = f"{self.parts} of {self.total}" if self.total else ""
            clock = f"{time.monotonic() - self.since:.0f} s"
            told = [Text(part, style="dim") for part in (count, marks.one_line(self.note), clock) if part]
            row = Text.assemble("  ", sign_text, f" {self.text} ")
            lines.append(row + Text(f" {marks.separator} ", style="dim").join(told))
        for line in lines:
            line.truncate(min(options.max_width, WIDEST) - 1, overflow="ellipsis" if not options.ascii_only else "crop")
            yield line
