"""How fast a kernel is: beside its baseline, beside this GPU's limits, and what the compiler made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from tlpuzzles.report.conditions import conditions, every_condition
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import STYLES, Marks, kind_of
from tlpuzzles.report.roofline import NARROWEST, Point, Roofs, plot
from tlpuzzles.report.scale import Scale
from tlpuzzles.report.speed_words import (
    alike,
    beside,
    compared,
    compiled_to,
    letters_of,
    limits_of,
    meaning,
    ratio_of,
    reaches,
    short_name,
    tflops,
    times,
)
from tlpuzzles.verdict.measured import Compiled
from tlpuzzles.verdict.model import Check, Result, Roofline, Speed

INDENT = 4


def show_speed(result: Result, page: Page, marks: Marks, *, verbose: bool) -> None:
    """Prints the section, if the kernel was timed. `verbose`: with all that was seen of the machine."""
    if result.speed:
        _Section(result, result.speed, page, marks).show(verbose=verbose)


class _Section:
    def __init__(self, result: Result, speeds: Sequence[Speed], page: Page, marks: Marks) -> None:
        self.page, self.marks, self.speeds = page, marks, speeds
        self.checks = {check.id: check for check in result.checks}
        self.letters = letters_of(speeds)
        self.scale = Scale(speeds, marks, page.width - INDENT)
        self.separator = Text(f" {marks.separator} ", style="dim")

    def show(self, *, verbose: bool) -> None:
        self._head()
        for speed in self.speeds:
            self.page.blank()
            self._case(speed)
        self._roofline()
        self._compiled()
        self.page.blank()
        if verbose:
            every_condition(self.speeds, self.page, self.marks)
        else:
            conditions(self.speeds, self.letters, short_name, self.page, self.marks)

    def _head(self) -> None:
        names = {speed.baseline for speed in self.speeds}
        title = f"Speed beside {self.marks.clean(names.pop())}" if len(names) == 1 else "Speed"
        lead = Text.assemble((self.marks.line * 2, "cyan"), " ")
        rest = self.page.width - lead.cell_len - len(title) - 1
        self.page.blank()
        if rest >= 2:
            self.page.line(lead, (title, "bold"), " ", (self.marks.line * rest, "cyan"))
        else:
            self.page.paragraph(Text(title, style="bold"), lead=lead)

    def _check(self, speed: Speed) -> Check | None:
        return self.checks.get(speed.case)

    def _style(self, speed: Speed) -> str:
        check = self._check(speed)
        return "cyan" if check is None else STYLES[kind_of(check)]

    def _case(self, speed: Speed) -> None:
        """One timed case: its ratio, where that is on the scale, and the times behind it."""
        page, marks, check, style = self.page, self.marks, self._check(speed), self._style(speed)
        sign = marks.of(check) if check is not None else " "
        letter = self.letters.get(speed.case)
        lead = Text.assemble("  ", (sign, style), " ", (f"{letter}  " if letter else "", f"bold {style}"))
        ratio, of = ratio_of(speed, marks.plus_minus)
        told = Text.assemble(ratio, style=f"bold {style}").append(f" {marks.clean(of)}", style="not bold default")
        gives = [Text(part, style="dim") for part in meaning(speed, check)]
        title = Text(marks.clean(speed.title), style="bold")
        head, left = [Text.assemble(title, "  ", told)], [told, *gives]
        if lead.cell_len + self.separator.join([*head, *gives]).cell_len <= page.width:
            head, left = [*head, *gives], []
        elif lead.cell_len + head[0].cell_len <= page.width:
            left = gives
        else:
            head = [title]
        page.flow(head, lead=lead, separator=self.separator)
        page.flow(left, lead=" " * INDENT, separator=self.separator)
        for line in self.scale.bar(speed, style):
            page.line(" " * INDENT, line)
        page.flow([Text(marks.clean(time)) for time in times(speed)], lead=" " * INDENT, separator=self.separator)
        for other in beside(speed):
            page.paragraph(marks.clean(other), lead=" " * INDENT, style="dim")

    def _roofline(self) -> None:
        placed = [(speed, speed.roofline) for speed in self.speeds if speed.roofline is not None]
        if not placed:
            return
        letters = [self.letters.get(speed.case, self.marks.kernel) for speed, _ in placed]
        first = placed[0][1]
        self.page.blank()
        if self.page.width < NARROWEST:
            self.page.paragraph(limits_of(first), lead=" " * INDENT, style="dim")
        else:
            points = [_baseline(speed, roof) for speed, roof in placed if roof.baseline_fraction is not None]
            points += [
                Point(letter, f"bold {self._style(speed)}", roof.flops / roof.bytes, tflops(roof, speed.milliseconds))
                for letter, (speed, roof) in zip(letters, placed, strict=True)
            ]
            key = Text.assemble((" ".join(letters), "bold"), (" your kernel", "dim"))
            roofs = Roofs(first.copy_gbps, first.matrix_tflops)
            plot(roofs, points, key, self.marks.clean(compared(self.speeds)), self.page, self.marks)
            self.page.blank()
        for letter, (speed, roof) in zip(letters, placed, strict=True):
            lead = Text.assemble(" " * INDENT, (letter, f"bold {self._style(speed)}"), " ")
            self.page.paragraph(self.marks.clean(reaches(speed, roof)), lead=lead)

    def _compiled(self) -> None:
        """What the compiler says and what to try next, each once for the cases of which it is said."""
        told = self._alike((speed, compiled_to(speed.compiled or Compiled())) for speed in self.speeds)
        advice = self._alike((speed, speed.advice or "") for speed in self.speeds)
        if told or advice:
            self.page.blank()
        for cases, text in told:
            self.page.paragraph(f"compiler: {text}", lead=Text.assemble(" " * INDENT, cases))
        for cases, text in advice:
            lead = Text.assemble(" " * INDENT, cases, (self.marks.arrow, "bold yellow"), " ")
            self.page.paragraph(text, lead=lead)

    def _alike(self, said: Iterable[tuple[Speed, str]]) -> list[tuple[Text, str]]:
        found = alike((self.letters.get(speed.case, ""), self.marks.clean(text)) for speed, text in said)
        return [(Text(f"{letters}  " if letters else "", style="bold"), text) for letters, text in found]


def _baseline(speed: Speed, roof: Roofline) -> Point:
    return Point("", "", roof.flops / roof.bytes, tflops(roof, speed.baseline_milliseconds))
