"""The section about speed as a page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tlpuzzles.report.conditions import all_noted, noted
from tlpuzzles.report.marks import kind_of, unicode_marks
from tlpuzzles.report.page.roofline_picture import Kernel, roofline_picture
from tlpuzzles.report.page.scale_picture import scale_picture
from tlpuzzles.report.roofline import Point, Roofs
from tlpuzzles.report.scale import end_of_scale
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


@dataclass(frozen=True)
class TimedCase:
    """One case beside its baseline."""

    letter: str
    state: str
    mark: str
    ended: str
    """How its check ended, in words; empty without one."""
    title: str
    ratio: str
    of: str
    meaning: str
    scale: Markup
    times: tuple[str, ...]
    """Of the kernel and of all baselines."""


@dataclass(frozen=True)
class Told:
    """A sentence, and the letters of the cases that it is about."""

    letters: str
    says: str
    state: str = ""


@dataclass(frozen=True)
class Timed:
    """All of the section."""

    title: str
    cases: tuple[TimedCase, ...]
    roofline: Markup | None
    limits: str
    baseline: str
    """What the roofline's baselines are called; empty if it shows none."""
    reaches: tuple[Told, ...]
    compiled: tuple[Told, ...]
    advice: tuple[Told, ...]
    noted: tuple[str, ...]
    all_noted: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """By case: names and values."""


def timed(result: Result) -> Timed | None:
    """None where no speed was measured."""
    return _timed(result, result.speed) if result.speed else None


def _timed(result: Result, speeds: Sequence[Speed]) -> Timed:
    checks = {check.id: check for check in result.checks}
    letters, end = letters_of(speeds), end_of_scale(speeds)
    names = {speed.baseline for speed in speeds}
    placed = [(speed, speed.roofline) for speed in speeds if speed.roofline is not None]
    reached = [
        Told(letters.get(speed.case, ""), reaches(speed, roof), _state(checks.get(speed.case)))
        for speed, roof in placed
    ]
    compiled = [(letters.get(speed.case, ""), compiled_to(speed.compiled or Compiled())) for speed in speeds]
    advice = [(letters.get(speed.case, ""), speed.advice or "") for speed in speeds]
    shows_baseline = any(roof.baseline_fraction is not None for _, roof in placed)
    return Timed(
        title=f"Speed beside {names.pop()}" if len(names) == 1 else "Speed",
        cases=tuple(_case(speed, checks.get(speed.case), letters.get(speed.case, ""), end) for speed in speeds),
        roofline=_roofline(placed, reached) if placed else None,
        limits=limits_of(placed[0][1]) if placed else "",
        baseline=compared(speeds) if shows_baseline else "",
        reaches=tuple(reached),
        compiled=tuple(Told(*one) for one in alike(compiled)),
        advice=tuple(Told(*one) for one in alike(advice)),
        noted=tuple(noted(speeds, letters, short_name)),
        all_noted=tuple((speed.title, tuple(all_noted(speed))) for speed in speeds),
    )


def _case(speed: Speed, check: Check | None, letter: str, end: float) -> TimedCase:
    state = _state(check)
    ratio, of = ratio_of(speed, "±")
    return TimedCase(
        letter=letter,
        state=state,
        mark=unicode_marks().of(check) if check is not None else "",
        ended=state if check is not None else "",
        title=speed.title,
        ratio=ratio,
        of=of,
        meaning=", ".join(meaning(speed, check)),
        scale=scale_picture(speed, end, state),
        times=(*times(speed), *beside(speed)),
    )


def _state(check: Check | None) -> str:
    """What the colours follow."""
    return "not_started" if check is None else kind_of(check)


def _roofline(placed: Sequence[tuple[Speed, Roofline]], reached: Sequence[Told]) -> Markup:
    kernels = [
        Kernel(told.letters, told.state, _point(roof, speed.milliseconds), _baseline(roof, speed))
        for told, (speed, roof) in zip(reached, placed, strict=True)
    ]
    first = placed[0][1]
    parts = [f"{told.letters or 'your kernel'} {told.says}" for told in reached]
    told = f"Roofline, operations per byte against operations per second. {limits_of(first)} {'; '.join(parts)}."
    return roofline_picture(Roofs(first.copy_gbps, first.matrix_tflops), kernels, unicode_marks().clean(told))


def _baseline(roof: Roofline, speed: Speed) -> Point | None:
    return None if roof.baseline_fraction is None else _point(roof, speed.baseline_milliseconds)


def _point(roof: Roofline, milliseconds: float) -> Point:
    return Point("", "", roof.flops / roof.bytes, tflops(roof, milliseconds))
