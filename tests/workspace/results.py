"""Gradings as they are recorded, without a grading."""

from __future__ import annotations

from pathlib import Path

from tests.report.samples import CPU, ENVIRONMENT, H200
from tlpuzzles.course import catalog
from tlpuzzles.verdict.measured import Stopped
from tlpuzzles.verdict.model import Check, Detail, ExerciseName, Kind, Points, Result, Speed, Verdict
from tlpuzzles.workspace.keeping import keep_grading

FILE = Path("01_vector_add/vector_add.py")


def graded(
    verdict: Verdict = Verdict.FAILED,
    earned: int = 0,
    *,
    only: str | None = None,
    ratios: tuple[float, ...] = (),
    output: str = "",
    raw: str | None = None,
) -> Result:
    """A grading of exercise 1: on a GPU if there are ratios."""
    detail = Detail(case="ragged-end", seed=4711, expected=1.5, found=2.5, raw=raw)
    check = Check(id="a", title="a", kind=Kind.CORRECTNESS, verdict=Verdict.FAILED, message="wrong", detail=detail)
    return Result(
        exercise=ExerciseName(number=1, slug="vector_add"),
        file=str(FILE),
        verdict=verdict,
        points=Points(earned=earned, possible=100, not_graded=0 if ratios else 40),
        device=H200 if ratios else CPU,
        checks=(check,),
        only=only,
        speed=tuple(_speed(f"speed-{number}", ratio) for number, ratio in enumerate(ratios)) or None,
        output=output,
        environment=ENVIRONMENT,
        seconds=1.0,
    )


def _speed(case: str, ratio: float) -> Speed:
    return Speed(
        case=case,
        title=case,
        ratio=ratio,
        ci=(ratio, ratio),
        baseline="a copy",
        baseline_id="copy",
        milliseconds=1.0,
        baseline_milliseconds=ratio,
        graded=True,
        self_ratio=1.0,
        self_ci=(1.0, 1.0),
        blocks=4,
        rounds=4,
        stopped=next(iter(Stopped)),
    )


def keep(root: Path, text: str, result: Result) -> None:
    """Records a grading of exercise 1 with this text."""
    keep_grading(root, catalog.find("1"), FILE, text.encode(), result)
