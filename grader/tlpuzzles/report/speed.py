"""How fast a kernel is: beside its baseline, beside this GPU's limits, and what the compiler made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import ceil

from rich.text import Text

from tlpuzzles.report.conditions import conditions, every_condition
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import STYLES, Marks, kind_of
from tlpuzzles.report.roofline import NARROWEST, Point, Roofs, plot
from tlpuzzles.report.scale import Scale, two_places
from tlpuzzles.verdict.measured import Compiled
from tlpuzzles.verdict.model import Check, Result, Roofline, Speed, Verdict
from tlpuzzles.verdict.speed import passes_within

INDENT = 4


def show_speed(result: Result, page: Page, marks: Marks, *, verbose: bool) -> None:
    """Prints the section, if the kernel was timed. `verbose`: with all that was seen of the machine."""
    if result.speed:
        _Section(result, result.speed, page, marks).show(verbose=verbose)


def short_name(baseline: str) -> str:
    """A baseline's name without what it is told apart by: "cuBLAS" of "cuBLAS (torch.mm, sums in float32)", "cuDNN" of
    "SDPA by cuDNN"."""
    return re.split(r" \(|, | in ", baseline, maxsplit=1)[0].rpartition(" by ")[2]


def is_slow(speed: Speed) -> bool:
    """Whether it falls short of the mark to pass."""
    return speed.pass_at is not None and speed.ratio < speed.pass_at


def too_slow(result: Result) -> set[str]:
    """Cases that fail for nothing but their speed, which the section tells."""
    slow = {speed.case for speed in result.speed or () if is_slow(speed)}
    failed = {check.id for check in result.checks if check.verdict is Verdict.FAILED and check.graded}
    return slow & failed


def speed_of(name: str) -> str:
    """ "cuBLAS's speed"; "the speed of torch's three kernels"."""
    return f"the speed of {name}" if "'" in name else f"{name}'s speed"


class _Section:
    def __init__(self, result: Result, speeds: Sequence[Speed], page: Page, marks: Marks) -> None:
        self.page, self.marks, self.speeds = page, marks, speeds
        self.checks = {check.id: check for check in result.checks}
        self.letters = {speed.case: chr(ord("a") + n) for n, speed in enumerate(speeds)} if len(speeds) > 1 else {}
        """By which cases are named below the first lines."""
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

    def _name(self, baseline: str) -> str:
        return self.marks.clean(short_name(baseline))

    def _case(self, speed: Speed) -> None:
        """One timed case: its ratio, where that is on the scale, and the times behind it."""
        page, marks, check, style = self.page, self.marks, self._check(speed), self._style(speed)
        sign = marks.of(check) if check is not None else " "
        letter = self.letters.get(speed.case)
        lead = Text.assemble("  ", (sign, style), " ", (f"{letter}  " if letter else "", f"bold {style}"))
        told = Text.assemble(f"{speed.ratio:.3f} {marks.plus_minus} {self._half(speed):.3f}", style=f"bold {style}")
        told.append(f" {_unit(speed.ratio)} {speed_of(self._name(speed.baseline))}", style="not bold default")
        meaning = [Text(part, style="dim") for part in self._meaning(speed)]
        title = Text(marks.clean(speed.title), style="bold")
        head, left = [Text.assemble(title, "  ", told)], [told, *meaning]
        if lead.cell_len + self.separator.join([*head, *meaning]).cell_len <= page.width:
            head, left = [*head, *meaning], []
        elif lead.cell_len + head[0].cell_len <= page.width:
            left = meaning
        else:
            head = [title]
        page.flow(head, lead=lead, separator=self.separator)
        page.flow(left, lead=" " * INDENT, separator=self.separator)
        for line in self.scale.bar(speed, style):
            page.line(" " * INDENT, line)
        kernel = self._told_time("kernel", speed.milliseconds, _rate(speed, speed.milliseconds))
        library = self._told_time(
            self._name(speed.baseline), speed.baseline_milliseconds, _rate(speed, speed.baseline_milliseconds)
        )
        page.flow([Text(kernel), Text(library)], lead=" " * INDENT, separator=self.separator)
        for other in speed.beside:
            beside = f"beside {self._name(other.baseline)}: {other.ratio:.3f} {_unit(other.ratio)} its speed"
            page.paragraph(beside, lead=" " * INDENT, style="dim")

    def _half(self, speed: Speed) -> float:
        """Half of the interval, rounded up to the last digit that is shown."""
        low, high = speed.ci
        return ceil(round((high - low) / 2 * 1000, 6)) / 1000

    def _meaning(self, speed: Speed) -> list[str]:
        """What the ratio gives."""
        check = self._check(speed)
        if check is not None and check.graded and check.verdict is Verdict.FAILED:
            return ["too slow to pass", *_points(speed)]
        if check is not None and check.verdict is Verdict.INCONCLUSIVE:
            return ["undecided"]
        if speed.pass_at is None:
            return ["shown only: no mark for this GPU"]
        if not is_slow(speed):
            return _points(speed)
        if not speed.graded:
            return [f"no points yet; they begin at {two_places(speed.pass_at)}"]
        return [f"{passes_within(speed.pass_at)}, no points below it"]

    def _told_time(self, name: str, milliseconds: float, rate: str | None) -> str:
        shown = f"{milliseconds:.4f}" if 0.01 <= milliseconds < 1 else _digits(milliseconds)
        time = f"{name} {shown} ms"
        return time if rate is None else f"{time}, {rate}"

    def _roofline(self) -> None:
        placed = [(speed, speed.roofline) for speed in self.speeds if speed.roofline is not None]
        if not placed:
            return
        letters = [self.letters.get(speed.case, self.marks.kernel) for speed, _ in placed]
        first = placed[0][1]
        self.page.blank()
        if self.page.width < NARROWEST:
            limits = f"{first.matrix_tflops:.0f} TFLOP/s of arithmetic, {first.copy_gbps:.0f} GB/s of memory"
            self.page.paragraph(f"This GPU's limits: {limits}.", lead=" " * INDENT, style="dim")
        else:
            points = [_baseline(speed, roof) for speed, roof in placed if roof.baseline_fraction is not None]
            points += [
                Point(letter, f"bold {self._style(speed)}", roof.flops / roof.bytes, _tflops(roof, speed.milliseconds))
                for letter, (speed, roof) in zip(letters, placed, strict=True)
            ]
            key = Text.assemble((" ".join(letters), "bold"), (" your kernel", "dim"))
            roofs = Roofs(first.copy_gbps, first.matrix_tflops)
            plot(roofs, points, key, self._compared(), self.page, self.marks)
            self.page.blank()
        for letter, (speed, roof) in zip(letters, placed, strict=True):
            lead = Text.assemble(" " * INDENT, (letter, f"bold {self._style(speed)}"), " ")
            self.page.paragraph(self._reaches(speed, roof), lead=lead)

    def _compared(self) -> str:
        """What the plot's baselines are called together."""
        names = {self._name(s.baseline) for s in self.speeds if s.roofline and s.roofline.baseline_fraction}
        return names.pop() if len(names) == 1 else "the baseline"

    def _reaches(self, speed: Speed, roof: Roofline) -> str:
        rate = _rate(speed, speed.milliseconds) or f"{_tflops(roof, speed.milliseconds):.3g} TFLOP/s"
        by_memory = roof.bound == "memory"
        limit = f"{roof.copy_gbps:.0f} GB/s" if by_memory else f"{roof.matrix_tflops:.0f} TFLOP/s"
        if speed.limit_fraction is None:
            return f"reaches {rate}"
        told = f"reaches {rate}, {_percent(speed.limit_fraction)} of the limit ({limit}, {roof.bound})"
        if roof.baseline_fraction is None:
            return told
        return f"{told}; {self._name(speed.baseline)} {_percent(roof.baseline_fraction)}"

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
        """What is said, each with the letters of the cases that it is said of: none if that is all of them."""
        alike: dict[str, list[str]] = {}
        for speed, text in said:
            alike.setdefault(self.marks.clean(text), []).append(self.letters.get(speed.case, ""))
        return [
            (Text("" if len(alike) == 1 else " ".join(letters) + "  ", style="bold"), text)
            for text, letters in alike.items()
            if text
        ]


def compiled_to(compiled: Compiled) -> str:
    """What the compiler made of a kernel, in a line; empty if nothing could be found out."""
    parts = []
    if compiled.registers is not None:
        parts.append(f"{compiled.registers} registers")
    if compiled.spill_bytes is not None:
        parts.append(f"{compiled.spill_bytes} bytes spilled" if compiled.spill_bytes else "no spills")
    if compiled.shared_bytes is not None:
        parts.append(f"{_size(compiled.shared_bytes)} shared memory")
    if compiled.threads is not None:
        parts.append(f"{compiled.threads} threads")
    if compiled.blocks_per_sm is not None:
        blocks = "block" if compiled.blocks_per_sm == 1 else "blocks"
        parts.append(f"{compiled.blocks_per_sm} {blocks} a multiprocessor")
    return "; ".join(filter(None, (", ".join(parts), ", ".join(compiled.instructions))))


def _baseline(speed: Speed, roof: Roofline) -> Point:
    return Point("", "", roof.flops / roof.bytes, _tflops(roof, speed.baseline_milliseconds))


def _tflops(roof: Roofline, milliseconds: float) -> float:
    return roof.flops / milliseconds / 1e9


def _rate(speed: Speed, milliseconds: float) -> str | None:
    """What is done in a call of so many milliseconds, by what limits it."""
    bound = speed.roofline.bound if speed.roofline is not None else None
    shown = []
    if speed.tflops is not None and bound != "memory":
        shown.append(f"{_digits(speed.tflops * speed.milliseconds / milliseconds, 3)} TFLOP/s")
    if speed.gbps is not None and bound != "arithmetic":
        shown.append(f"{_digits(speed.gbps * speed.milliseconds / milliseconds, 3)} GB/s")
    return ", ".join(shown) or None


def _digits(value: float, digits: int = 4) -> str:
    """So many digits that count, and all of those before the point."""
    return f"{value:.0f}" if value >= 10 ** (digits - 1) else f"{value:#.{digits}g}".rstrip(".")


def _points(speed: Speed) -> list[str]:
    """ "4.5 of 20 points"; nothing if they are not known. Only all of them are told as all."""
    if speed.score is None or speed.points is None:
        return []
    earned = speed.points if speed.score == 1 else min(speed.score * speed.points, speed.points - 0.1)
    return [f"{_short(earned)} of {_short(speed.points)} points"]


def _short(points: float) -> str:
    return f"{points:.1f}".removesuffix(".0")


def _unit(ratio: float) -> str:
    return "times" if ratio >= 1 else "of"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _size(size: int) -> str:
    return f"{size / 1024:.4g} KiB of" if size >= 1024 else f"{size} bytes of" if size else "no"
