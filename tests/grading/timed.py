"""Results as gradings on a GPU give them, made up: which timed cases had which ratio, and which had none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.verdict.measured import Stopped
from tlpuzzles.verdict.model import (
    Check,
    Device,
    Environment,
    ExerciseName,
    Kind,
    Points,
    Result,
    Speed,
    Verdict,
)

T4 = Device(kind="cuda", name="Tesla T4", arch="sm_75")


@dataclass(frozen=True)
class Untimed:
    """A case without a ratio that counts; its check."""

    verdict: Verdict
    message: str


NOISY = Untimed(Verdict.INCONCLUSIVE, "The machine was too noisy to say: cuBLAS beside itself seemed 1.200")
NO_ROOM = Untimed(Verdict.SKIPPED, "this GPU has not enough free memory for it")
WRONG = Untimed(Verdict.FAILED, "At this size the kernel is wrong: the last column.")

Said: TypeAlias = "float | Untimed"


def result(
    exercise: Exercise,
    said: Mapping[str, Said],
    *,
    self_ratio: float = 1.0,
    against: int = 0,
    others: Sequence[Check] = (),
) -> Result:
    """`said`: by timed case. `against`: which of its baselines the GPU has. `others`: checks before those of speed."""
    timings = {timing.case.id: timing for timing in exercise.timings}
    checks, speeds = list(others), []
    for case, what in said.items():
        untimed = what if isinstance(what, Untimed) else Untimed(Verdict.SKIPPED, "Not graded: there is no mark")
        checks.append(
            Check(
                id=case,
                title=case,
                kind=Kind.SPEED,
                verdict=untimed.verdict,
                message=untimed.message,
                graded=untimed.verdict is Verdict.FAILED,
            )
        )
        if untimed.verdict is Verdict.INCONCLUSIVE or not isinstance(what, Untimed):
            # A noisy measurement is shown as well.
            baseline = timings[case].against[against]
            ratio = 0.01 if isinstance(what, Untimed) else what
            speeds.append(
                Speed(
                    case=case,
                    title=case,
                    ratio=ratio,
                    ci=(0.99 * ratio, 1.01 * ratio),
                    baseline=baseline.name,
                    baseline_id=baseline.id,
                    milliseconds=1.0,
                    baseline_milliseconds=ratio,
                    graded=False,
                    self_ratio=self_ratio,
                    self_ci=(self_ratio, self_ratio),
                    blocks=40,
                    rounds=4,
                    stopped=Stopped.NARROW,
                )
            )
    return Result(
        exercise=ExerciseName(number=exercise.number, slug=exercise.slug),
        file="solution.py",
        verdict=Verdict.PASSED,
        points=Points(earned=0, possible=100, not_graded=100),
        device=T4,
        checks=tuple(checks),
        speed=tuple(speeds) or None,
        environment=Environment(tlpuzzles="0.1.0", python="3.11.2", sandbox="limits"),
        seconds=1.0,
    )
