"""All that a page says of one grading."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from tlpuzzles.report.badges import full_badge
from tlpuzzles.report.earned import NOTHING, ONE_CASE, earned, gradable, is_one_case, why_nothing
from tlpuzzles.report.history import standing
from tlpuzzles.report.marks import unicode_marks
from tlpuzzles.report.overview import leading
from tlpuzzles.report.page.attempts import Growth, Row, growths, rows, told_of
from tlpuzzles.report.page.checks import Explained, Group, explained, groups
from tlpuzzles.report.page.speeds import Timed, timed
from tlpuzzles.report.page.tiles import Drawn, Tiles, drawn
from tlpuzzles.report.speed_words import too_slow
from tlpuzzles.report.what_next import file_argument, what_next
from tlpuzzles.verdict.model import Environment, Kind, Result, Verdict
from tlpuzzles.wording import here
from tlpuzzles.workspace.attempts import Past

OUTPUT_LINES = 12
"""Of what was printed that stand open."""


@dataclass(frozen=True)
class History:
    """The attempts at this exercise so far."""

    standing: tuple[str, ...]
    growths: tuple[Growth, ...]
    rows: tuple[Row, ...]
    told: str
    """What the rows are."""


@dataclass(frozen=True)
class Graded:
    """One exercise."""

    name: str
    """Begins all identifiers."""
    number: int
    title: str
    state: str
    mark: str
    badge: str
    where: tuple[str, ...]
    """File, device, duration."""
    points: str
    points_left: str
    why_nothing: str
    share: float
    """Of the points that could be had, in percent."""
    to_do: tuple[str, ...]
    """What is still to be written, of an exercise that was not begun."""
    subject: Explained | None
    groups: tuple[Group, ...]
    timed: Timed | None
    output: str
    """The first lines of what was printed."""
    output_rest: str
    output_more: int
    """How many lines the rest has."""
    layouts: str
    """The command that shows what became of the kernel; empty where there is none, or it is shown."""
    tiles: tuple[Drawn, ...]
    tiles_of: str
    """Which kernel's."""
    next: tuple[tuple[str, str], ...]
    history: History | None
    environment: tuple[str, ...]


def graded(
    result: Result,
    title: str,
    *,
    following: tuple[int, str] | None = None,
    past: Past | None = None,
    tiles: Tiles | None = None,
    tiled: bool = True,
    nvcc: bool = False,
) -> Graded:
    """`title` is the exercise's, `following` number and title of the next one, `past` what is recorded of it; `tiled`:
    whether its kernels have tiles; `nvcc`: whether kernels were compiled for other GPUs to the end."""
    clean, one_line = unicode_marks().clean, unicode_marks().one_line
    name = f"tlp-{result.exercise.number}-{_digest(result)}"
    subject = leading(result)
    if subject is not None and subject.id in too_slow(result):
        subject = None  # the section about speed tells it
    begun = result.verdict is not Verdict.NOT_STARTED
    told, left = earned(result) if gradable(result) else (NOTHING, "")
    if is_one_case(result):
        told, left = ONE_CASE, ""
    lines = clean(result.output).strip("\n").splitlines()
    device = result.device.name if result.device.arch is None else f"{result.device.name} ({result.device.arch})"
    has_layouts = begun and tiled and tiles is None and _is_built(result)
    again = f"{result.exercise.number}{file_argument(result, one_line)}"
    return Graded(
        name=name,
        number=result.exercise.number,
        title=title,
        state=result.verdict.value,
        mark=unicode_marks().by_verdict[result.verdict.value],
        badge=full_badge(result),
        where=(one_line(result.file), one_line(device), f"{result.seconds:.1f} s"),
        points=told,
        points_left=left,
        why_nothing=why_nothing(result, clean) or "",
        share=100 * result.points.earned / gradable(result) if gradable(result) else 0.0,
        to_do=() if begun else tuple(check.message for check in result.checks if check.message),
        subject=None if subject is None or not begun else explained(subject, f"{name}-why"),
        groups=tuple(groups(result, subject, name, nvcc=nvcc)) if begun else (),
        timed=timed(result),
        output="\n".join(lines[:OUTPUT_LINES]) if any(line.strip() for line in lines) else "",
        output_rest="\n".join(lines[OUTPUT_LINES:]),
        output_more=len(lines[OUTPUT_LINES:]),
        layouts=here(f"tlpuzzles inspect {again} --svg tiles") if has_layouts else "",
        tiles=() if tiles is None else drawn(tiles),
        tiles_of="" if tiles is None else f"Of the kernel for \u201c{tiles.case}\u201d, compiled for {tiles.gpu}",
        next=tuple(what_next(result, following, one_line)),
        history=_history(past),
        environment=tuple(_versions(result.environment)),
    )


def _is_built(result: Result) -> bool:
    """Whether nothing is known that keeps the file from giving a kernel to look into."""
    return all(check.verdict is Verdict.PASSED for check in result.checks if check.kind is Kind.BUILD)


def _history(past: Past | None) -> History | None:
    if past is None or not past.attempts:
        return None
    return History(tuple(standing(past)), tuple(growths(past)), tuple(rows(past)), told_of(past))


def _versions(environment: Environment) -> list[str]:
    named = {
        "tlpuzzles": environment.tlpuzzles,
        "TileLang": environment.tilelang,
        "PyTorch": environment.torch,
        "Python": environment.python,
    }
    return [f"{name} {version}" for name, version in named.items() if version is not None]


def _digest(result: Result) -> str:
    """Told apart from every other grading, for pages and notebooks that show several."""
    return hashlib.sha256(json.dumps(result.document()).encode()).hexdigest()[:8]
