"""The course as `tlpuzzles progress` shows it: what was tried in each exercise, the sum, and what is next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tlpuzzles.report.history import attempt_marks, growth, plural, points, state_mark
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks, marks_for
from tlpuzzles.verdict.worth import CORRECTNESS
from tlpuzzles.wording import here
from tlpuzzles.workspace.attempts import Past, State

INDENT = 6

BARS = "Bars: one for each grading of a whole exercise, full at all points or at the library's speed."
"""What they say."""


@dataclass(frozen=True)
class Stage:
    """An exercise, and how it has gone."""

    number: int
    title: str
    past: Past
    worth: int
    """All its points."""


def show(stages: Sequence[Stage], console: Console) -> None:
    """Prints the course."""
    marks = marks_for(console)
    page = Page(console, marks.ellipsis)
    page.blank()
    widest = max(cell_len(stage.title) for stage in stages)
    for stage in stages:
        _show_stage(stage, widest, page, marks)
    page.blank()
    page.paragraph(_sum(stages, marks), lead="  ")
    if legend := _legend(stages, marks):
        page.paragraph(Text(legend, style="dim"), lead="  ")
    page.blank()
    _next(stages, page)


def _show_stage(stage: Stage, widest: int, page: Page, marks: Marks) -> None:
    past = stage.past
    head = Text.assemble((f"{stage.number:>3} ", "dim"), state_mark(past, marks), f" {stage.title.ljust(widest)}")
    earned = points(past)
    if earned:
        head.append(f"  {earned.rjust(9)}")
    if past.state is State.GIVEN_UP:
        head.append("  given up", style="dim")
    head.rstrip()
    page.line(head)
    lead = Text(" " * INDENT)
    line = attempt_marks(past, marks)
    said = [Text(part, style="dim") for part in remarks(past)]
    if line:
        page.flow([line, *said], lead=lead, separator=Text("  "))
    elif past.hint:
        page.flow(said, lead=lead, separator=Text("  "))
    for name, bars in growth(past, marks):
        page.line(lead, (f"{name:<7}", "dim"), bars)


def remarks(past: Past) -> list[str]:
    """What there is to say of the attempts."""
    parts = [plural(past.tries, "try", "tries")] if past.tries else []
    if past.best_ratio is not None and len([a for a in past.whole if a.ratio is not None]) == 1:
        parts.append(f"speed {past.best_ratio:.2f}")
    parts += [f"hint {past.hint} read"] if past.hint else []
    parts += ["after a look at the solution"] if past.given_up and past.state is State.PASSED else []
    return parts


def course_so_far(stages: Sequence[Stage]) -> tuple[str, str, str]:
    """How many are passed, the points, and those that were not graded; the latter may be empty."""
    passed = sum(stage.past.state is State.PASSED for stage in stages)
    earned, gradable, not_graded = points_so_far(stages)
    left = f"; {not_graded} more are not graded where you tried" if not_graded else ""
    return f"{passed} of {len(stages)} passed", f"{earned} of {gradable} points", left


def points_so_far(stages: Sequence[Stage]) -> tuple[int, int, int]:
    """The points of the best attempts, those that could be had, and those that are not graded: together with the
    former all of the course, as `grade --all` counts them. What was not tried yet counts as on the machines so far."""
    earned = not_graded = 0
    tried = [attempt for stage in stages for attempt in stage.past.whole]
    without_gpu = bool(tried) and all(attempt.arch is None for attempt in tried)
    for stage in stages:
        best = stage.past.best
        if best is not None:
            earned += best.earned
            not_graded += best.not_graded
        elif without_gpu:
            not_graded += stage.worth - CORRECTNESS
    return earned, sum(stage.worth for stage in stages) - not_graded, not_graded


def _sum(stages: Sequence[Stage], marks: Marks) -> Text:
    passed, points_, left = course_so_far(stages)
    return Text.assemble((passed, "bold"), f" {marks.separator} {points_}", (left, "dim"))


def _legend(stages: Sequence[Stage], marks: Marks) -> str:
    """Of the marks that need one: that of a single case, and bars."""
    parts = []
    if any(attempt.only is not None for stage in stages for attempt in stage.past.attempts):
        parts.append(f"{'.' if marks.is_ascii else '·'} is a grading of one case.")
    if any(growth(stage.past, marks) for stage in stages):
        parts.append(BARS)
    return " ".join(parts)


def _next(stages: Sequence[Stage], page: Page) -> None:
    command, why = next_in_course(stages)
    if command is None:
        page.line(f"  {why}")
    elif 4 + len(command) + len(why) <= page.width:
        page.line("  ", (command, "bold cyan"), "  ", (why, "dim"))
    else:
        page.line("  ", (why, "dim"))
        page.line("    ", (command, "bold cyan"))
    page.blank()


def next_in_course(stages: Sequence[Stage]) -> tuple[str | None, str]:
    """What to do next: a command, as it is typed where this is read, and a reason; or that nothing is left."""
    stage = next((stage for stage in stages if stage.past.state is not State.PASSED), None)
    if stage is not None and not stage.past.tries:
        return here(f"tlpuzzles show {stage.number}"), f"next: {stage.title}"
    if stage is not None:
        return here(f"tlpuzzles grade {stage.number}"), f"next: {stage.title}, which is not passed yet"
    behind = [one for one in stages if one.past.best is not None and one.past.best.earned < one.past.best.of]
    if not behind:
        return None, "All of it is passed, with all points that could be had where it was graded."
    slowest = min(behind, key=lambda one: one.past.best.earned if one.past.best is not None else 0)
    return here(f"tlpuzzles grade {slowest.number}"), f"all passed; {slowest.title} has more points to give"
