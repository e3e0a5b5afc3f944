"""From a measurement to a verdict, a score and words."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from tlpuzzles.course import catalog
from tlpuzzles.verdict.measured import AGAIN, BASELINE, KERNEL, Estimate, Gpu, Limits, Measurement, Stopped
from tlpuzzles.verdict.model import Check, Kind, Speed, Verdict
from tlpuzzles.verdict.speed import itself, judge
from tlpuzzles.verdict.thresholds import Origin, Threshold

LIMITS = Limits(copy_gbps=4230, matrix_tflops=704, peak_gbps=4917, peak_tflops=1070)
QUIET = Gpu(sm_clock_mhz=(1965, 1980))


def about(value: float, half: float = 0.002) -> Estimate:
    """`half`: of the interval's width, relative."""
    return Estimate(value=value, low=value * (1 - half), high=value * (1 + half))


def measured(ratio: Estimate, again: Estimate | None = None, *, baseline_ms: float = 0.18) -> Measurement:
    """A GEMM of 4096^3 beside cuBLAS."""
    return Measurement(
        case="speed-4096",
        baseline="cublas",
        milliseconds={KERNEL: baseline_ms / ratio.value, BASELINE: baseline_ms, AGAIN: baseline_ms},
        ratio=ratio,
        again=about(1.0) if again is None else again,
        beside={},
        blocks=40,
        rounds=8,
        stopped=Stopped.NARROW,
    )


def marks(origin: Origin = Origin.MEASURED, pass_at: float = 0.7, full_at: float = 0.9) -> Threshold:
    return Threshold(
        exercise="tiled_gemm",
        case="speed-4096",
        gpu="sm_90",
        against="cublas",
        pass_at=pass_at,
        full_at=full_at,
        origin=origin,
        source="On one H200.",
    )


MARKS = marks()
ESTIMATED = "The marks are estimated for this GPU: they never fail an exercise."


def judged(
    measurement: Measurement,
    threshold: Threshold | None = MARKS,
    *,
    slug: str = "tiled_gemm",
    gpu: Gpu = QUIET,
    limits: Limits | None = LIMITS,
) -> tuple[Check, Speed]:
    exercise = catalog.find(slug)
    timing = next(timing for timing in exercise.timings if timing.case.id == measurement.case)
    return judge(
        measurement,
        exercise=exercise,
        timing=timing,
        sizes=timing.case.sizes(random.Random(0)),
        threshold=threshold,
        gpu=gpu,
        limits=limits,
    )


# --- against the marks


@pytest.mark.parametrize(
    ("ratio", "verdict", "score"),
    [
        (0.60, Verdict.FAILED, 0.0),
        (0.66, Verdict.FAILED, 0.0),
        (0.69, Verdict.PASSED, 0.0),
        (0.70, Verdict.PASSED, 0.0),
        (0.75, Verdict.PASSED, 0.25),
        (0.90, Verdict.PASSED, 1.0),
        (1.10, Verdict.PASSED, 1.0),
    ],
)
def test_a_quiet_measurement_is_judged_by_the_marks(ratio: float, verdict: Verdict, score: float) -> None:
    check, speed = judged(measured(about(ratio)))
    assert (check.verdict, check.graded, check.kind, check.id) == (verdict, True, Kind.SPEED, "speed-4096")
    assert speed.score == pytest.approx(score)
    assert speed.graded


def test_only_a_whole_interval_below_97_percent_of_the_mark_fails() -> None:
    edge = 0.97 * 0.7
    assert judged(measured(Estimate(value=0.670, low=0.665, high=edge - 0.001)))[0].verdict is Verdict.FAILED
    assert judged(measured(Estimate(value=0.670, low=0.665, high=edge + 0.001)))[0].verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("ratio", "origin", "says"),
    [
        (
            0.93,
            Origin.MEASURED,
            "0.930 (0.928 to 0.932) of the speed of cuBLAS (torch.mm, sums in float32): all points, from",
        ),
        (1.10, Origin.MEASURED, "1.100 (1.098 to 1.102) times the speed of cuBLAS (torch.mm, sums in float32): all"),
        (0.80, Origin.MEASURED, "float32); passes from 0.70, all points from 0.90."),
        (0.69, Origin.MEASURED, "float32): passes (within 3 % of 0.70), no points below it."),
        (0.50, Origin.MEASURED, "float32): too slow. It passes from 0.70, all points from 0.90."),
        (0.50, Origin.ESTIMATED, f"float32): no points yet; they begin at 0.70, all from 0.90. {ESTIMATED}"),
        (0.69, Origin.ESTIMATED, f"float32): no points yet; they begin at 0.70, all from 0.90. {ESTIMATED}"),
        (0.80, Origin.ESTIMATED, f"float32); points from 0.70, all points from 0.90. {ESTIMATED}"),
    ],
)
def test_the_message_has_the_numbers(ratio: float, origin: Origin, says: str) -> None:
    assert says in judged(measured(about(ratio)), marks(origin))[0].message


def test_a_calibrated_mark_is_told_to_the_digit_that_grades() -> None:
    assert "all points, from 0.873." in judged(measured(about(0.93)), marks(full_at=0.873))[0].message


@pytest.mark.parametrize("origin", Origin)
def test_a_speed_says_where_its_marks_are_from_and_what_it_can_give(origin: Origin) -> None:
    _, speed = judged(measured(about(0.8)), marks(origin))
    assert (speed.origin, speed.threshold_from, speed.points) == (origin.value, "On one H200.", 20)
    _, speed = judged(measured(about(0.8)), None)
    assert (speed.origin, speed.threshold_from) == (None, None)


def test_kernels_are_beside_themselves() -> None:
    assert itself("torch's three kernels (mm, add, gelu)") == "themselves"
    assert itself("cuBLAS (torch.mm, sums in float32)") == itself("SDPA by cuDNN") == "itself"


def test_estimated_marks_give_points_and_do_not_grade() -> None:
    slow, fast = (judged(measured(about(ratio)), marks(Origin.ESTIMATED)) for ratio in (0.5, 0.8))
    assert (slow[0].verdict, slow[0].graded, slow[1].graded, slow[1].score) == (Verdict.FAILED, False, False, 0.0)
    assert (fast[0].verdict, fast[0].graded) == (Verdict.PASSED, False)
    assert fast[1].score == pytest.approx(0.5)


def test_without_marks_the_speed_is_shown_alone() -> None:
    check, speed = judged(measured(about(0.93)), None)
    assert (check.verdict, check.graded) == (Verdict.SKIPPED, False)
    assert "0.930 (0.928 to 0.932) of the speed of cuBLAS" in check.message
    assert "Not graded: there is no mark for this GPU" in check.message
    assert (speed.score, speed.pass_at, speed.full_at, speed.graded) == (None, None, None, False)


# --- noise


@pytest.mark.parametrize(
    ("again", "baseline_ms", "verdict"),
    [
        (1.009, 0.18, Verdict.PASSED),
        (0.991, 0.18, Verdict.PASSED),
        (1.012, 0.18, Verdict.INCONCLUSIVE),
        (0.988, 0.18, Verdict.INCONCLUSIVE),
        (1.018, 0.028, Verdict.PASSED),
        (1.022, 0.028, Verdict.INCONCLUSIVE),
    ],
)
def test_a_baseline_that_seems_apart_from_itself_decides_nothing(
    again: float, baseline_ms: float, verdict: Verdict
) -> None:
    small = Limits(copy_gbps=1e6, matrix_tflops=1e6)  # the call is short, not the problem
    check, _ = judged(measured(about(0.8), about(again), baseline_ms=baseline_ms), limits=small)
    assert check.verdict is verdict


@pytest.mark.parametrize("ratio", [0.5, 0.8, 0.95])
def test_noise_comes_before_the_marks(ratio: float) -> None:
    check, speed = judged(measured(about(ratio), about(1.042)))
    assert check.verdict is Verdict.INCONCLUSIVE
    assert check.graded
    assert speed.score is None
    assert check.message == (
        "The machine was too noisy to say: cuBLAS (torch.mm, sums in float32) beside itself seemed 1.042, which should "
        "be from 0.99 to 1.01. Close what else uses the GPU, and grade again."
    )


def test_noise_that_hides_in_the_interval_decides_nothing() -> None:
    assert judged(measured(about(0.8), about(1.0, 0.019)))[0].verdict is Verdict.PASSED
    check, _ = judged(measured(about(0.8), about(1.0, 0.021)))
    assert check.verdict is Verdict.INCONCLUSIVE
    assert "beside itself was anything from 0.979 to 1.021" in check.message
    check, _ = judged(measured(about(0.8, 0.021)))
    assert check.verdict is Verdict.INCONCLUSIVE
    assert "the kernel was anything from 0.783 to 0.817 of the speed of cuBLAS" in check.message


def test_a_wide_interval_that_is_clear_of_the_marks_decides() -> None:
    assert judged(measured(about(0.5, 0.05)))[0].verdict is Verdict.FAILED
    assert judged(measured(about(1.0, 0.05)))[0].verdict is Verdict.PASSED
    assert judged(measured(about(1.0, 0.05)), None)[0].verdict is Verdict.INCONCLUSIVE


def test_a_kernel_5_percent_below_the_mark_fails_or_is_inconclusive_however_noisy() -> None:
    for half in (0.001, 0.005, 0.01, 0.019, 0.021, 0.05):
        assert judged(measured(about(0.95 * 0.7, half)))[0].verdict in (Verdict.FAILED, Verdict.INCONCLUSIVE)


def test_a_gpu_that_was_busy_decides_nothing() -> None:
    gpu = Gpu(busy=True, others=2, throttled=("power limit",))
    check, speed = judged(measured(about(0.95)), gpu=gpu)
    assert (check.verdict, speed.score, speed.gpu) == (Verdict.INCONCLUSIVE, None, gpu)
    assert check.message == (
        "The machine was too noisy to say: the GPU was computing for somebody else before the measurement began; 2 "
        "other processes have the GPU open and its clock was held down (power limit). See with nvidia-smi what it is, "
        "end it or wait for it, and grade again."
    )


def test_others_that_only_have_the_gpu_open_change_nothing() -> None:
    assert judged(measured(about(0.95)), gpu=Gpu(others=3, throttled=("power limit",)))[0].verdict is Verdict.PASSED


# --- what cannot be


def test_what_physics_does_not_allow_earns_nothing() -> None:
    check, speed = judged(measured(about(2.0)))
    assert (check.verdict, check.graded, speed.score) == (Verdict.INCONCLUSIVE, True, None)
    assert check.message.startswith(
        "Too fast to be true: 0.09 ms for 137 GFLOP is less than the 0.1284 ms that 1,070 TFLOP/s, the GPU's peak, "
    )
    assert judged(measured(about(2.0)), limits=None)[0].verdict is Verdict.PASSED


def test_ten_times_a_library_is_looked_at_first() -> None:
    check, speed = judged(measured(about(10.5)), limits=None)
    assert (check.verdict, speed.score) == (Verdict.INCONCLUSIVE, None)
    assert "10.500 (10.479 to 10.521) times the speed of cuBLAS" in check.message
    assert judged(measured(about(9.5)), limits=None)[0].verdict is Verdict.PASSED


# --- the report's numbers


def test_a_gemm_is_placed_below_the_roofline() -> None:
    _, speed = judged(measured(about(0.5)))
    assert speed.roofline is not None
    assert speed.roofline.bound == "arithmetic"
    assert speed.tflops == pytest.approx(137.4 / 0.36, rel=1e-3)
    assert speed.gbps is None
    assert speed.limit_fraction == pytest.approx(speed.tflops / 704)
    assert speed.roofline.baseline_fraction == pytest.approx(2 * speed.limit_fraction)
    assert (speed.baseline, speed.baseline_id) == ("cuBLAS (torch.mm, sums in float32)", "cublas")
    assert (speed.milliseconds, speed.baseline_milliseconds) == (0.36, 0.18)
    assert (speed.pass_at, speed.full_at, speed.threshold_from) == (0.7, 0.9, "On one H200.")


def test_a_vector_add_is_measured_in_bytes_beside_a_copy_and_shown_beside_torch() -> None:
    measurement = Measurement(
        case="speed",
        baseline="copy",
        milliseconds={KERNEL: 0.19, BASELINE: 0.19, AGAIN: 0.19, "torch-add": 0.1805},
        ratio=about(1.0),
        again=about(1.0),
        beside={"torch-add": about(0.95)},
        blocks=40,
        rounds=8,
        stopped=Stopped.DECIDED,
    )
    check, speed = judged(measurement, slug="vector_add")
    assert check.message.startswith("1.000 (0.998 to 1.002) times the speed of a copy in device memory, byte for byte:")
    assert speed.gbps == pytest.approx(805.3 / 0.19, rel=1e-3)
    assert speed.tflops is None
    assert speed.roofline is not None
    assert (speed.roofline.bound, speed.roofline.baseline_fraction) == ("memory", None)
    (beside,) = speed.beside
    assert (beside.baseline, beside.ratio, beside.milliseconds) == ("torch.add", 0.95, 0.1805)
    assert check.detail is not None
    assert (check.detail.case, check.detail.sizes, check.detail.dtype) == ("speed", {"N": 1 << 26}, "float32")


def test_without_limits_both_rates_are_told_and_no_roofline() -> None:
    _, speed = judged(measured(about(0.5)), limits=None)
    assert (speed.roofline, speed.limit_fraction) == (None, None)
    assert speed.tflops is not None
    assert speed.gbps is not None


def test_judging_needs_no_torch() -> None:
    code = "import sys, tlpuzzles.verdict.speed; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
