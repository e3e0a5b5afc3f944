"""Marks for speed from gradings of the reference solutions on one GPU. Pure: how to grade is handed in.

What a learner must reach is a share of what the reference solution reaches. The share is the course's own, from where
both were measured; so an exercise asks for as much on every GPU, slow as its kernels or fast as its libraries may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from pydantic import ValidationError

from tlpuzzles.course.timings import Timing
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.plan import SPEED
from tlpuzzles.verdict.model import Check, Kind, Result, Speed, Verdict
from tlpuzzles.verdict.thresholds import MOST, Origin, Threshold, Thresholds
from tlpuzzles.verdict.timing import LENIENCY

RETRIES = 2
"""How often a case may come out of a grading without a ratio and still be graded again."""

MEASURED_ON = "sm_90"
"""The family whose entries in the course's file tell the shares."""

LEAST = 1e-5
"""The smallest ratio that is believed, and MOST the largest: a mark must lie between them."""

UNSTEADY = 1 - LENIENCY
"""Half width of the ratios over the gradings, relative to the reference, from which marks should be looked at: a kernel
that just passes in one grading may then fail in the next."""


@dataclass(frozen=True)
class Share:
    """What passes and what has full marks, as fractions of what the reference solution reaches."""

    passing: float
    full: float
    of_course: bool = True
    """Whether the course knows them for this problem."""


UNKNOWN = Share(0.6, 0.95, of_course=False)
"""About the mean of the course's. For problems whose reference the course has not measured."""


@dataclass(frozen=True)
class Machine:
    """Where and when the gradings are made."""

    gpu: str
    """Name of the GPU as its driver gives it."""
    day: str
    """In UTC: "2026-11-29"."""
    software: str
    """Versions, in words."""


@dataclass
class Timed:
    """One timed case of a reference solution, over gradings."""

    timing: Timing
    speeds: list[Speed] = field(default_factory=list)
    """Of the gradings that could be trusted; beside one baseline."""
    missed: list[str] = field(default_factory=list)
    """Why the other gradings gave no ratio: noise, or nothing was timed."""
    fault: str | None = None
    """What is wrong with the reference solution: an error of ours."""

    @property
    def id(self) -> str:
        return self.timing.case.id

    def is_done(self, repeats: int) -> bool:
        return len(self.speeds) >= repeats

    def wants(self, repeats: int) -> bool:
        """Whether another grading may still help."""
        return self.fault is None and not self.is_done(repeats) and len(self.missed) <= RETRIES

    def why_not(self) -> str:
        """Why it has too few ratios."""
        if self.fault is not None:
            return f"the reference solution failed, which is an error of ours: {self.fault}"
        return f"in {len(self.missed)} gradings it was not measured, at last because: {self.missed[-1]}"

    def take(self, result: Result) -> None:
        """Takes what a grading said of this case."""
        check = next((one for one in result.checks if one.kind is Kind.SPEED and one.id == self.id), None)
        speed = next((one for one in result.speed or () if one.case == self.id), None)
        stopped = next((one for one in result.checks if one.kind is not Kind.SPEED and _failed(one)), None)
        if check is not None and _failed(check):
            self.fault = check.message
        elif check is not None and check.verdict is Verdict.INCONCLUSIVE:
            self.missed.append(check.message)
        elif speed is not None:
            self._take_ratio(speed)
        elif stopped is not None:
            self.fault = f"{stopped.title}: {stopped.message}"
        else:
            self.missed.append(_reason(check, result))

    def _take_ratio(self, speed: Speed) -> None:
        if self.speeds and speed.baseline_id != self.speeds[0].baseline_id:
            self.missed.append(f"it was timed beside {speed.baseline}, and before beside {self.speeds[0].baseline}")
        elif not LEAST <= speed.ratio <= MOST:
            self.missed.append(f"its ratio was {speed.ratio:.3g}, which is an error of ours: marks go up to {MOST:g}")
        else:
            self.speeds.append(speed)


def _failed(check: Check) -> bool:
    return check.graded and check.verdict in (Verdict.FAILED, Verdict.ERROR)


def _reason(check: Check | None, result: Result) -> str:
    """Why nothing was timed, although nothing failed."""
    if check is not None:
        return check.message
    unsure = (one.message for one in result.checks if one.verdict is Verdict.INCONCLUSIVE)
    return next(unsure, "the grading did not come to it")


def measure(exercise: Exercise, repeats: int, grade: Callable[[str], Result]) -> list[Timed]:
    """Grades until every timed case has `repeats` ratios or no prospect of them.

    `grade` grades the reference solution anew; it takes the name of what is graded alone, as `--case` does. It must
    grade without thresholds: with them, measuring stops as soon as it is clear what they say.
    """
    cases = [Timed(timing) for timing in exercise.timings]
    while wanting := [case for case in cases if case.wants(repeats)]:
        result = grade(wanting[0].id if len(wanting) == 1 else SPEED)
        for case in wanting:
            case.take(result)
    return cases


@dataclass(frozen=True)
class Calibrated:
    """A threshold, and how sure it is."""

    threshold: Threshold
    noise: float
    """Half of the range of the ratios over the gradings."""
    off: float
    """How far the baseline beside itself seemed from 1, at most."""
    of_course: bool
    """Whether the share of the reference is the course's own for this problem."""

    @property
    def reference(self) -> float:
        assert self.threshold.reference is not None
        return self.threshold.reference

    @property
    def is_unsteady(self) -> bool:
        return self.noise > UNSTEADY * self.reference


def can_have_marks(gpu: str) -> bool:
    """Whether an entry can name a GPU as its driver does: not without a name, nor with one that is no text."""
    try:
        Threshold(
            exercise="any",
            case="any",
            gpu=gpu,
            against="any",
            pass_at=1,
            full_at=2,
            origin=Origin.CALIBRATED,
            source=gpu,
        )
    except ValidationError:
        return False
    return True


def calibrate(exercise: Exercise, case: Timed, machine: Machine, course: Thresholds) -> Calibrated:
    """The threshold for a case that has ratios: the median of them, times the shares that `course` has."""
    ratios = [speed.ratio for speed in case.speeds]
    first, share = case.speeds[0], share_of(exercise, case.timing, course)
    reference, noise = _rounded(median(ratios)), (max(ratios) - min(ratios)) / 2
    off = max(abs(speed.self_ratio - 1) for speed in case.speeds)
    gradings = "1 grading" if len(ratios) == 1 else f"{len(ratios)} gradings"
    source = (
        f"Calibrated on {machine.gpu}, {machine.day}, {machine.software}: reference {reference:.3f} +- {noise:.3f} "
        f"over {gradings}, {first.baseline_id} within {percent(off)} of itself."
    )
    if not share.of_course:
        source += f" Its marks are {share.passing:g} and {share.full:g} of that, as the course has no share of its own."
    threshold = Threshold(
        exercise=exercise.slug,
        case=case.id,
        gpu=machine.gpu,
        against=first.baseline_id,
        pass_at=_rounded(share.passing * reference),
        full_at=min(_rounded(share.full * reference), reference),
        origin=Origin.CALIBRATED,
        source=source,
        reference=reference,
    )
    return Calibrated(threshold, noise, off, share.of_course)


def share_of(exercise: Exercise, timing: Timing, course: Thresholds) -> Share:
    """That of the first baseline for which `course` has a measured entry with a reference, else UNKNOWN."""
    known = {
        one.against: one
        for one in course.entries
        if (one.exercise, one.case, one.gpu) == (exercise.slug, timing.case.id, MEASURED_ON)
        and one.origin is Origin.MEASURED
    }
    for baseline in timing.against:
        one = known.get(baseline.id)
        if one is not None and one.reference is not None:
            # What the reference has not reached itself is asked of nobody.
            return Share(one.pass_at / one.reference, min(one.full_at / one.reference, 1.0))
    return UNKNOWN


def merge(known: Thresholds, new: Iterable[Threshold]) -> Thresholds:
    """All of both; a new entry takes the place of a known one for the same case, GPU and baseline."""
    fresh = {one.key: one for one in new}
    kept = [fresh.pop(one.key, one) for one in known.entries]
    return Thresholds(entries=(*kept, *fresh.values()))


def header(machine: Machine, found: Sequence[Calibrated], command: str) -> list[str]:
    """The comment that begins the file. `command` makes its newest entries again."""
    noise = max(one.noise / one.reference for one in found)
    return [
        "Marks for speed: `pass_at` passes, `full_at` has full marks, points are linear between. Both are ratios:",
        "the library's time over the kernel's, per byte where the library is a copy. `tlpuzzles grade` takes this",
        "file from beside course.toml.",
        "",
        f"Last written on {machine.gpu}, {machine.day},",
        f"with {machine.software}.",
        f"Noise: each reference within +- {percent(noise)} over its gradings, each library within "
        f"{percent(max(one.off for one in found))} of itself.",
        "Entries from another day or GPU say so under `source`.",
        "",
        "To make it again, in the folder that it shall lie in:",
        f"    {command}",
    ]


def percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"


def _rounded(ratio: float) -> float:
    """To the digits that a report shows, or to three that count where it is so small that fewer would be left."""
    return round(ratio, 3) if ratio >= 0.1 else float(f"{ratio:.3g}")
