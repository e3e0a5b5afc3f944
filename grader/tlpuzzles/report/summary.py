"""The table that ends `grade --all`."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import STYLES, Marks, marks_for
from tlpuzzles.report.overview import leading, other_gpus_left_out
from tlpuzzles.report.terminal import BADGES
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
    page.blank()
    for result, name in zip(results.exercises, names, strict=True):
        style = STYLES[result.verdict.value]
        graded = result.points.possible - result.points.not_graded
        points = f"{result.points.earned:>3} of {graded}" if graded else ""
        badge = BADGES[result.verdict].lower()
        row = Text.assemble(
            (f"{result.exercise.number:>4}  ", "dim"),
            (marks.by_verdict[result.verdict.value], style),
            f" {name.ljust(widest)}  ",
            (f"{badge:<13}", style),
            f"  {points:<9}",
        )
        reason = _reason(result, marks)
        if page.width < NARROW:
            row.rstrip()
            page.line(row)
            if reason:
                page.cut("        ", (reason, "dim"))
        else:
            page.cut(row, "  ", (reason, "dim"))
    _sum(results, page, marks)


def _name(result: Result, titles: Mapping[int, str]) -> str:
    return titles.get(result.exercise.number, result.exercise.slug.replace("_", " "))


def _reason(result: Result, marks: Marks) -> str:
    check = leading(result)
    if result.verdict is Verdict.PASSED and other_gpus_left_out(result):
        return "without the check of other GPUs"
    if check is None or result.verdict is Verdict.PASSED:
        return ""
    return f"{marks.clean(check.title)}: {marks.phrase(check.message)}"


def _sum(results: Results, page: Page, marks: Marks) -> None:
    points = results.points
    passed = sum(result.verdict is Verdict.PASSED for result in results.exercises)
    page.blank()
    text = Text.assemble(
        (f"{passed} of {len(results.exercises)} passed", "bold"),
        f" {marks.separator} {points.earned} of {points.possible - points.not_graded} points",
        (f"; {points.not_graded} more are not graded here" if points.not_graded else "", "dim"),
    )
    page.paragraph(text, lead="  ")
    page.blank()
