"""The table that ends `grade --all`."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tlpuzzles.report.badges import badge
from tlpuzzles.report.earned import gradable
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import STYLES, Marks, marks_for
from tlpuzzles.report.overview import leading, other_gpus_left_out
from tlpuzzles.report.speed_words import short_name
from tlpuzzles.report.worded import worded
from tlpuzzles.verdict.model import Result, Results, Verdict

NARROW = 76
"""A page of fewer columns has the reasons on lines of their own."""


def show_all(results: Results, console: Console, *, titles: Mapping[int, str] | None = None) -> None:
    """Prints a line for each exercise, with the first reason where it is not passed, and the sum of points.

    `titles` are the exercises' titles by number.
    """
    marks = marks_for(console)
    page = Page(console, marks.ellipsis)
    names = [_name(result, titles or {}) for result in results.exercises]
    widest = max((len(name) for name in names), default=0)
    speeds = [marks.clean(worst_speed(result)) for result in results.exercises]
    column = max(map(cell_len, speeds)) if any(result.speed for result in results.exercises) else 0
    points = [points_of(result) for result in results.exercises]
    columns = max(map(len, points), default=0)
    below = page.width < NARROW + (column and column + 2)
    page.blank()
    for result, name, speed, earned in zip(results.exercises, names, speeds, points, strict=True):
        style = STYLES[result.verdict.value]
        row = Text.assemble(
            (f"{result.exercise.number:>4}  ", "dim"),
            (marks.by_verdict[result.verdict.value], style),
            f" {name.ljust(widest)}  ",
            (f"{badge(result).lower():<13}", style),
            f"  {earned.ljust(columns)}",
        )
        reason = Text(reason_of(result, marks), style="dim")
        told = Text(speed, style="" if result.speed else "dim")
        if row.cell_len + (column and column + 2) > page.width:
            reason = Text(f" {marks.separator} ", style="dim").join(part for part in (told, reason) if part)
        elif column:
            row.append_text(Text("  ") + told + Text(" " * (column - told.cell_len)))
        if below:
            row.rstrip()
            page.line(row)
            if reason.plain not in ("", "-"):
                page.cut("        ", reason)
        else:
            page.cut(row, "  ", reason)
    _sum(results, page, marks)


def _name(result: Result, titles: Mapping[int, str]) -> str:
    return titles.get(result.exercise.number, result.exercise.slug.replace("_", " "))


def points_of(result: Result) -> str:
    """ " 38 of 60"; nothing where none could be had."""
    graded = gradable(result)
    return f"{result.points.earned:>3} of {graded}" if graded else ""


def worst_speed(result: Result) -> str:
    """The lowest of its ratios, with what it is measured beside; "-" where no speed was measured."""
    worst = min(result.speed or (), key=lambda speed: speed.ratio, default=None)
    return "-" if worst is None else f"{worst.ratio:.2f} of {short_name(worst.baseline)}"


def reason_of(result: Result, marks: Marks) -> str:
    """Why it is not passed, or what was left out; may be empty."""
    check = leading(worded(result))
    if result.verdict is Verdict.PASSED and other_gpus_left_out(result):
        return "without the check of other GPUs"
    if check is None or result.verdict is Verdict.PASSED:
        return ""
    return f"{marks.clean(check.title)}: {marks.phrase(check.message)}"


def sum_of(results: Results) -> tuple[str, str, str]:
    """How many are passed, the points, and those that are not graded; the latter may be empty."""
    points = results.points
    passed = sum(result.verdict is Verdict.PASSED for result in results.exercises)
    left = f"; {points.not_graded} more are not graded here" if points.not_graded else ""
    return (
        f"{passed} of {len(results.exercises)} passed",
        f"{points.earned} of {points.possible - points.not_graded} points",
        left,
    )


def _sum(results: Results, page: Page, marks: Marks) -> None:
    passed, points, left = sum_of(results)
    page.blank()
    text = Text.assemble((passed, "bold"), f" {marks.separator} {points}", (left, "dim"))
    page.paragraph(text, lead="  ")
    page.blank()
