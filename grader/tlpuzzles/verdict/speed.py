"""From one timed case to its check and its place in the report. Pure: nothing is timed here, and torch not imported."""

from __future__ import annotations

from tlpuzzles.course.timings import Baseline, Timing
from tlpuzzles.course.vocabulary import Exercise, Sizes
from tlpuzzles.verdict import roofline
from tlpuzzles.verdict.measured import BASELINE, KERNEL, Compiled, Estimate, Gpu, Limits, Measurement
from tlpuzzles.verdict.model import Check, Compared, Detail, Kind, Roofline, Speed, Verdict
from tlpuzzles.verdict.points import SPEED
from tlpuzzles.verdict.thresholds import Threshold
from tlpuzzles.verdict.timing import LENIENCY

SHORT_MS = 0.05
"""Milliseconds. The time of a shorter call is uncertain by more than 2 %: it lies between two events, each good to
about 0.5 us."""
OFF, OFF_SHORT = 0.01, 0.02
"""How far a baseline may seem from itself; the second if its calls are short. On a quiet H200, cuBLAS was within 0.1 %
of itself at 0.18 ms and within 1.1 % at 28 us. What is said of the kernel can be as far off."""
WIDE, WIDE_SHORT = 0.02, 0.03
"""Half width of an interval, relative to its ratio, beyond which the machine was too noisy; the second if the
baseline's calls are short. A kernel that is 5 % too slow must fail: its interval must end below LENIENCY times the
mark, which is 2 % above it. A measurement goes on until it has a fifth of that, unless its time is used up."""
EXCESSIVE = 10.0
"""Times a library's speed that are looked into before they are believed (KernelBench's rule)."""


def judge(
    measurement: Measurement,
    *,
    exercise: Exercise,
    timing: Timing,
    sizes: Sizes,
    threshold: Threshold | None,
    gpu: Gpu,
    limits: Limits | None = None,
    compiled: Compiled | None = None,
) -> tuple[Check, Speed]:
    """What a measurement is worth.

    `threshold` is that for the baseline which was measured; None: the speed is shown and not judged. Where the baseline
    is a copy, the measurement's ratio and the baseline's time are per byte of the kernel's problem.
    """
    baseline = _baseline(timing, measurement.baseline)
    flops, bytes_ = exercise.flops(sizes, timing.case.flags), exercise.bytes(sizes, timing.case.dtype)
    verdict, message = _decide(measurement, baseline, threshold, gpu, limits, flops, bytes_)
    case = timing.case
    check = Check(
        id=case.id,
        title=case.title,
        kind=Kind.SPEED,
        verdict=verdict,
        message=message,
        detail=Detail(case=case.id, sizes=dict(sizes), dtype=case.dtype, hint=exercise.speed_hint),
        graded=threshold is not None and threshold.grades,
    )
    milliseconds = measurement.milliseconds[KERNEL]
    placed = None
    if limits is not None:
        solves_it = baseline.moves is None
        placed = roofline.place(flops, bytes_, limits, measurement.milliseconds[BASELINE] if solves_it else None)
    speed = Speed(
        case=case.id,
        title=case.title,
        ratio=measurement.ratio.value,
        ci=(measurement.ratio.low, measurement.ratio.high),
        baseline=baseline.name,
        baseline_id=baseline.id,
        milliseconds=milliseconds,
        baseline_milliseconds=measurement.milliseconds[BASELINE],
        tflops=None if _binds(placed) == "memory" else flops / milliseconds / 1e9,
        gbps=None if _binds(placed) == "arithmetic" else bytes_ / milliseconds / 1e6,
        limit_fraction=None if placed is None else roofline.fraction(placed, milliseconds),
        pass_at=None if threshold is None else threshold.pass_at,
        full_at=None if threshold is None else threshold.full_at,
        graded=threshold is not None and threshold.grades,
        origin=None if threshold is None else threshold.origin.value,
        threshold_from=None if threshold is None else threshold.source,
        points=SPEED / len(exercise.timings),
        score=_score(verdict, measurement, threshold),
        self_ratio=measurement.again.value,
        self_ci=(measurement.again.low, measurement.again.high),
        blocks=measurement.blocks,
        rounds=measurement.rounds,
        stopped=measurement.stopped,
        beside=tuple(_compared(measurement, timing, id_) for id_ in measurement.beside),
        roofline=placed,
        compiled=compiled,
        gpu=gpu,
    )
    return check, speed


def _decide(
    measurement: Measurement,
    baseline: Baseline,
    threshold: Threshold | None,
    gpu: Gpu,
    limits: Limits | None,
    flops: int,
    bytes_: int,
) -> tuple[Verdict, str]:
    noise = _noise(measurement, baseline, threshold, gpu)
    if noise is not None:
        return Verdict.INCONCLUSIVE, f"The machine was too noisy to say: {noise}"
    ratio, reached = measurement.ratio, _reached(measurement.ratio, baseline)
    milliseconds = measurement.milliseconds[KERNEL]
    impossible = None if limits is None else roofline.beyond_physics(flops, bytes_, milliseconds, limits)
    if impossible is not None:
        return Verdict.INCONCLUSIVE, f"Too fast to be true: {impossible} {_LOOK}"
    if ratio.value > EXCESSIVE:
        return Verdict.INCONCLUSIVE, f"Too fast to be believed unseen: {reached}. {_LOOK}"
    if threshold is None:
        return Verdict.SKIPPED, f"{reached}. Not graded: there is no mark for this GPU beside {baseline.name}."
    return _beside_marks(ratio, reached, threshold)


def _beside_marks(ratio: Estimate, reached: str, threshold: Threshold) -> tuple[Verdict, str]:
    passes, everything = _mark(threshold.pass_at), _mark(threshold.full_at)
    failed = ratio.high < LENIENCY * threshold.pass_at
    verdict = Verdict.FAILED if failed else Verdict.PASSED
    if ratio.value >= threshold.full_at:
        told = f"{reached}: all points, from {everything}."
    elif ratio.value >= threshold.pass_at:
        told = f"{reached}; {'passes' if threshold.grades else 'points'} from {passes}, all points from {everything}."
    elif not threshold.grades:
        told = f"{reached}: no points yet; they begin at {passes}, all from {everything}."
    elif failed:
        told = f"{reached}: too slow. It passes from {passes}, all points from {everything}."
    else:
        told = f"{reached}: {passes_within(threshold.pass_at)}, no points below it."
    if not threshold.grades:
        told += " The marks are estimated for this GPU: they never fail an exercise."
    return verdict, told


def passes_within(pass_at: float) -> str:
    """Why a kernel passes that is slower than the mark."""
    return f"passes (within {1 - LENIENCY:.0%} of {_mark(pass_at)})".replace("%", " %")


_LOOK = (
    "It earns nothing until someone has looked at the kernel: does it do all of the work, and was the GPU alone? "
    "Grade again first."
)


def _noise(measurement: Measurement, baseline: Baseline, threshold: Threshold | None, gpu: Gpu) -> str | None:
    """What of the machine keeps a verdict from being trusted, and what to do; None if it was quiet."""
    seen = _seen(gpu)
    if gpu.busy:
        return (
            "the GPU was computing for somebody else before the measurement began"
            f"{seen}. See with nvidia-smi what it is, end it or wait for it, and grade again."
        )
    short = measurement.milliseconds[BASELINE] < SHORT_MS
    off, wide = (OFF_SHORT, WIDE_SHORT) if short else (OFF, WIDE)
    again, ratio = measurement.again, measurement.ratio
    then = f"{seen}. Close what else uses the GPU, and grade again."
    if abs(again.value - 1) > off:
        should = f"which should be from {1 - off:g} to {1 + off:g}"
        return f"{baseline.name} beside {itself(baseline.name)} seemed {again.value:.3f}, {should}{then}"
    if again.half_width > wide:
        beside = f"{baseline.name} beside {itself(baseline.name)}"
        return f"{beside} was anything from {again.low:.3f} to {again.high:.3f}{then}"
    if ratio.half_width > wide and not _is_clear(ratio, threshold):
        return f"the kernel was anything from {ratio.low:.3f} to {ratio.high:.3f} of the speed of {baseline.name}{then}"
    return None


def _is_clear(ratio: Estimate, threshold: Threshold | None) -> bool:
    """Whether all of an interval, wide as it is, means the same verdict and points."""
    if threshold is None:
        return False
    return ratio.high < LENIENCY * threshold.pass_at or ratio.low >= threshold.full_at


def _seen(gpu: Gpu) -> str:
    """What else was seen of the machine, to go on with."""
    found = []
    if gpu.others:
        found.append(f"{gpu.others} other process{' has' if gpu.others == 1 else 'es have'} the GPU open")
    if gpu.throttled:
        found.append(f"its clock was held down ({', '.join(gpu.throttled)})")
    return f"; {' and '.join(found)}" if found else ""


def itself(baseline: str) -> str:
    """ "itself", or "themselves" for a baseline that is called "three kernels"."""
    return "themselves" if baseline.partition(" (")[0].endswith("kernels") else "itself"


def _reached(ratio: Estimate, baseline: Baseline) -> str:
    of = "of" if ratio.value < 1 else "times"
    return f"{ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f}) {of} the speed of {baseline.name}"


def _mark(value: float) -> str:
    """With two digits, or a third if it has one."""
    return f"{value:.2f}" if round(value, 2) == round(value, 3) else f"{value:.3f}"


def _score(verdict: Verdict, measurement: Measurement, threshold: Threshold | None) -> float | None:
    if threshold is None or verdict is Verdict.INCONCLUSIVE:
        return None
    return 0.0 if verdict is Verdict.FAILED else threshold.score(measurement.ratio.value)


def _binds(placed: Roofline | None) -> str | None:
    return None if placed is None else placed.bound


def _baseline(timing: Timing, id_: str) -> Baseline:
    """Raises StopIteration for one that the case does not name."""
    return next(baseline for baseline in (*timing.against, *timing.beside) if baseline.id == id_)


def _compared(measurement: Measurement, timing: Timing, id_: str) -> Compared:
    estimate = measurement.beside[id_]
    return Compared(
        baseline=_baseline(timing, id_).name,
        ratio=estimate.value,
        ci=(estimate.low, estimate.high),
        milliseconds=measurement.milliseconds[id_],
    )
