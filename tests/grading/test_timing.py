"""What becomes of what the process that times kernels says, and of its deaths."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.grading.playing import LIMITS, PlayedGpu, PlayedWarm, begun, not_timed, report, timed
from tlpuzzles.border.watching import End, Report
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading import caches, checks, submission
from tlpuzzles.grading.plan import plan
from tlpuzzles.grading.stages import Built
from tlpuzzles.grading.submission import Problem
from tlpuzzles.grading.timing import Timed, Timer, is_right
from tlpuzzles.verdict.measured import Limits, NotTimed
from tlpuzzles.verdict.model import Check, Kind, Verdict
from tlpuzzles.verdict.thresholds import Origin, Threshold, Thresholds

GEMM, ATTENTION = catalog.find("tiled_gemm"), catalog.find("flash_attention")
SMALL, LARGE = "speed-4096", "speed-8192"
ERROR = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"


def mark(exercise: Exercise, case: str, against: str, pass_at: float, full_at: float) -> Threshold:
    return Threshold(
        exercise=exercise.slug,
        case=case,
        gpu="sm_90",
        against=against,
        pass_at=pass_at,
        full_at=full_at,
        origin=Origin.MEASURED,
        source="made up",
    )


MARKS = Thresholds(entries=tuple(mark(GEMM, case, "cublas", 0.45, 0.95) for case in (SMALL, LARGE)))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "cache_dir", lambda: tmp_path / "cache")


@pytest.fixture
def timer(learner: Path, tmp_path: Path) -> Callable[..., Timer]:
    file = learner / "kernel.py"
    file.write_text("a file\n")

    def make(
        warm: PlayedWarm,
        exercise: Exercise = GEMM,
        *,
        device: PlayedGpu | None = None,
        thresholds: Thresholds = MARKS,
        only: str | None = None,
    ) -> Timer:
        posed = plan(exercise, 7, on_cuda=True, only=only)
        return Timer(
            warm,  # type: ignore[arg-type]
            exercise,
            posed,
            submission.read(file),
            device or PlayedGpu(),
            thresholds,
            tmp_path,
            lambda text: None,
        )

    return make


def time(timer: Timer, problems: Mapping[str, Problem] | None = None) -> Timed:
    problems = problems or {}
    built = {
        posed.kernel: Built(
            posed.case, posed.sizes, Path(posed.case.id), ("A", "B", "C"), posed.case.id, None, posed.case.id
        )
        for posed in timer.plan.timed
        if posed.kernel not in problems
    }
    return timer.time(built, problems)


def verdicts(done: Timed) -> dict[str, Verdict]:
    return {check.id: check.verdict for check in done.checks}


def says(*messages: Mapping[str, Any], **how: Any) -> Callable[[Mapping[str, Any]], Report]:
    return lambda job: report(*(dict(message) for message in messages), **how)


def both(small: float = 0.97, large: float = 0.97) -> Callable[[Mapping[str, Any]], Report]:
    return says(LIMITS, begun(SMALL), timed(SMALL, small), begun(LARGE), timed(LARGE, large, milliseconds=8.0))


def cases(job: Mapping[str, Any]) -> list[str]:
    return [case["id"] for case in job["cases"]]


def test_each_timed_case_has_a_check_and_a_speed(timer: Callable[..., Timer]) -> None:
    warm = PlayedWarm([both(small=0.97, large=0.70)])
    done = time(timer(warm))

    assert verdicts(done) == {SMALL: Verdict.PASSED, LARGE: Verdict.PASSED}
    assert all(check.kind is Kind.SPEED and check.graded for check in done.checks)
    assert [one.case for one in done.speeds] == [SMALL, LARGE]
    assert [one.score for one in done.speeds] == [1.0, pytest.approx((0.70 - 0.45) / 0.50)]
    assert done.speeds[0].baseline == "cuBLAS (torch.mm, sums in float32)"


def test_the_job_names_sizes_kernels_and_marks(timer: Callable[..., Timer]) -> None:
    warm = PlayedWarm([both()])
    time(timer(warm))

    (job,) = warm.jobs
    assert (job["exercise"], job["arch"], job["seed"]) == ("tiled_gemm", "sm_90a", 7)
    assert job["cases"][1] == {
        "id": LARGE,
        "sizes": {"M": 8192, "N": 8192, "K": 8192},
        "capsule": LARGE,
        "parameters": ["A", "B", "C"],
    }
    assert job["edges"] == {case: {"cublas": (0.45, 0.95)} for case in (SMALL, LARGE)}


def test_a_slow_kernel_fails(timer: Callable[..., Timer]) -> None:
    done = time(timer(PlayedWarm([both(small=0.2)])))

    assert verdicts(done) == {SMALL: Verdict.FAILED, LARGE: Verdict.PASSED}
    assert done.speeds[0].score == 0.0


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"end": End.TIMED_OUT}, "the kernel hangs"),
        ({"end": End.SIGNALLED, "code": -11}, "signal 11"),
        ({"end": End.EXITED, "code": 1, "output": f"Traceback ...\n{ERROR}\nCompile with TORCH_USE_CUDA_DSA"}, "1"),
        ({"end": End.EXITED, "code": 1, "output": "tvm.error.InternalError: CUDALaunch Error: CUDA_ERROR_ASSERT"}, "1"),
    ],
)
def test_after_a_kernel_that_dies_the_rest_go_on(timer: Callable[..., Timer], how: dict[str, Any], told: str) -> None:
    warm = PlayedWarm([says(LIMITS, begun(SMALL), **how), says(begun(LARGE), timed(LARGE, 0.97, milliseconds=8.0))])
    done = time(timer(warm))

    assert [cases(job) for job in warm.jobs] == [[SMALL, LARGE], [LARGE]]
    assert [job["limits"] for job in warm.jobs] == [True, False]
    assert verdicts(done) == {SMALL: Verdict.FAILED, LARGE: Verdict.PASSED}
    assert "At the size that is timed" in done.checks[0].message
    assert told in done.checks[0].message
    assert done.speeds[0].roofline is not None


def test_what_was_timed_before_a_death_is_kept(timer: Callable[..., Timer]) -> None:
    warm = PlayedWarm([says(LIMITS, begun(SMALL), timed(SMALL, 0.97), begun(LARGE), end=End.SIGNALLED, code=-11)])
    done = time(timer(warm))

    assert len(warm.jobs) == 1
    assert verdicts(done) == {SMALL: Verdict.PASSED, LARGE: Verdict.FAILED}


def test_a_death_when_all_is_done_changes_nothing(timer: Callable[..., Timer]) -> None:
    done = time(timer(PlayedWarm([lambda job: Report(End.TIMED_OUT, both()(job).messages, "", 0, -9)])))

    assert verdicts(done) == {SMALL: Verdict.PASSED, LARGE: Verdict.PASSED}


@pytest.mark.parametrize("end", [End.SIGNALLED, End.TIMED_OUT, End.EXITED])
def test_a_death_before_any_kernel_began_is_no_kernels_fault(timer: Callable[..., Timer], end: End) -> None:
    warm = PlayedWarm([says(LIMITS, end=end, output="no GPU left\n")])
    done = time(timer(warm))

    assert len(warm.jobs) == 1
    assert verdicts(done) == {SMALL: Verdict.ERROR, LARGE: Verdict.ERROR}
    assert "no GPU left" in done.checks[0].message


def test_an_exception_of_ours_is_no_kernels_fault(timer: Callable[..., Timer]) -> None:
    ours = 'File "device/cuda/bench.py", line 3, in round\nValueError: a call took 0 ms\n'
    warm = PlayedWarm(
        [says(LIMITS, begun(SMALL), end=End.EXITED, code=1, output=ours), says(begun(LARGE), timed(LARGE, 0.97))]
    )
    done = time(timer(warm))

    assert verdicts(done)[SMALL] is Verdict.ERROR
    assert "a call took 0 ms" in done.checks[0].message


def test_what_was_not_timed_says_why_and_whose_fault_it_is(timer: Callable[..., Timer]) -> None:
    wrong, none = "At this size the kernel is wrong: ...", "SDPA has no such backend"
    told = says(not_timed(LARGE, none, NotTimed.UNAVAILABLE), begun(SMALL), not_timed(SMALL, wrong))
    done = time(timer(PlayedWarm([told])))

    assert verdicts(done) == {SMALL: Verdict.FAILED, LARGE: Verdict.SKIPPED}
    assert [check.id for check in done.checks] == [SMALL, LARGE]
    assert [check.message for check in done.checks] == [wrong, none]
    assert done.speeds == []


def test_too_little_memory_leaves_it_open_and_says_what_to_do(timer: Callable[..., Timer]) -> None:
    full = "the GPU had not enough free memory for it"
    warm = PlayedWarm([says(not_timed(SMALL, full, NotTimed.NO_MEMORY), begun(LARGE), timed(LARGE, 0.97))])
    done = time(timer(warm))

    assert verdicts(done)[SMALL] is Verdict.INCONCLUSIVE
    assert "nvidia-smi" in done.checks[0].message


@pytest.mark.parametrize(
    ("code", "end", "output"),
    [
        pytest.param(-9, End.SIGNALLED, "", id="killed by the system"),
        pytest.param(1, End.EXITED, "CUDA error: the GPU has fallen off the bus\n", id="no GPU any more"),
    ],
)
def test_a_fault_of_the_machine_is_no_kernels(timer: Callable[..., Timer], code: int, end: End, output: str) -> None:
    died = says(LIMITS, begun(SMALL), end=end, code=code, output=output)
    done = time(timer(PlayedWarm([died, says(begun(LARGE), timed(LARGE, 0.97, milliseconds=8.0))])))

    assert verdicts(done) == {SMALL: Verdict.ERROR, LARGE: Verdict.PASSED}


@pytest.mark.parametrize(
    "odd",
    [
        {"again": {"value": math.nan, "low": math.nan, "high": math.nan}},
        {"ratio": {"value": 2.0, "low": 3.0, "high": 1.0}},
        {"ratio": {"value": 0.0, "low": 0.0, "high": 0.0}},
        {"milliseconds": {"kernel": 1.0}},
        {"milliseconds": {"kernel": math.inf, "baseline": 1.0, "again": 1.0}},
        {"blocks": 0},
        {"baseline": "nobody's"},
        {"case": LARGE},
    ],
    ids=str,
)
def test_what_cannot_be_earns_nothing_and_is_our_error(timer: Callable[..., Timer], odd: dict[str, Any]) -> None:
    said = timed(SMALL, 2.0)
    said["measurement"] = {**said["measurement"], **odd}
    done = time(timer(PlayedWarm([says(said, begun(LARGE), timed(LARGE, 0.97))])))

    assert verdicts(done) == {SMALL: Verdict.ERROR, LARGE: Verdict.PASSED}
    assert [speed.case for speed in done.speeds] == [LARGE]


def test_a_case_that_nothing_was_said_of_is_our_error(timer: Callable[..., Timer]) -> None:
    done = time(timer(PlayedWarm([says(begun(SMALL), timed(SMALL, 0.97))])))

    assert verdicts(done) == {SMALL: Verdict.PASSED, LARGE: Verdict.ERROR}
    assert "said nothing of this case" in done.checks[1].message


def test_the_first_word_on_a_case_counts(timer: Callable[..., Timer]) -> None:
    warm = PlayedWarm([says(not_timed(SMALL, "wrong"), timed(SMALL, 2.0), timed(LARGE, 0.97), timed("other", 2.0))])
    done = time(timer(warm))

    assert verdicts(done) == {SMALL: Verdict.FAILED, LARGE: Verdict.PASSED}
    assert [check.id for check in done.checks] == [SMALL, LARGE]
    assert [speed.case for speed in done.speeds] == [LARGE]


def test_a_kernel_that_was_not_built_fails_and_others_are_timed(timer: Callable[..., Timer]) -> None:
    warm = PlayedWarm([says(begun(LARGE), timed(LARGE, 0.97))])
    done = time(timer(warm), {SMALL: Problem("It has no kernel for 4096.")})

    assert cases(warm.jobs[0]) == [LARGE]
    assert done.checks[0].message == "It has no kernel for 4096."
    assert verdicts(done)[SMALL] is Verdict.FAILED


def test_the_limits_of_a_gpu_are_measured_once(timer: Callable[..., Timer]) -> None:
    warm = PlayedWarm([both(), says(begun(SMALL), timed(SMALL, 0.97), begun(LARGE), timed(LARGE, 0.97))])
    for _ in range(2):
        done = time(timer(warm))
        assert done.speeds[0].roofline is not None
        assert done.speeds[0].roofline.copy_gbps == 4000.0
    time(timer(warm, device=PlayedGpu(id="GPU-1 driver-2")))

    assert [job["limits"] for job in warm.jobs] == [True, False, True]


def test_kept_limits_that_cannot_be_read_are_measured_again(timer: Callable[..., Timer]) -> None:
    warm = PlayedWarm([both()])
    time(timer(warm))
    for file in caches.cache_dir().rglob("answers/*.json"):
        file.write_text('{"copy_gbps": "fast"}')
    time(timer(warm))

    assert [job["limits"] for job in warm.jobs] == [True, True]


def test_the_advice_is_with_the_speed(timer: Callable[..., Timer]) -> None:
    spills = {**timed(SMALL, 0.5), "compiled": {"threads": 256, "spill_bytes": 64, "instructions": ["wgmma"]}}
    done = time(timer(PlayedWarm([says(LIMITS, spills, timed(LARGE, 0.97, milliseconds=8.0))])))

    advice = done.speeds[0].advice
    assert advice is not None
    assert "64 bytes" in advice
    assert advice not in done.checks[0].message


def test_without_limits_there_is_no_roofline(timer: Callable[..., Timer]) -> None:
    done = time(timer(PlayedWarm([says(begun(SMALL), timed(SMALL, 0.97), begun(LARGE), timed(LARGE, 0.97))])))

    assert verdicts(done)[SMALL] is Verdict.PASSED
    assert done.speeds[0].roofline is None


def test_a_rate_beyond_the_gpus_is_not_rewarded(timer: Callable[..., Timer]) -> None:
    """4096 cubed in 0.1 ms are 1374 TFLOP/s; what the driver says is 989."""
    limits = {**LIMITS, **Limits(copy_gbps=4000, matrix_tflops=700, peak_tflops=989).model_dump(), "kind": "limits"}
    warm = PlayedWarm([says(limits, begun(SMALL), timed(SMALL, 2.0, milliseconds=0.1), begun(LARGE), timed(LARGE, 1))])
    done = time(timer(warm))

    assert verdicts(done)[SMALL] is Verdict.INCONCLUSIVE
    assert done.speeds[0].score is None


def test_attention_is_graded_by_the_marks_for_the_backend_that_was_there(timer: Callable[..., Timer]) -> None:
    case = ATTENTION.timings[0].case.id
    marks = Thresholds(
        entries=(
            mark(ATTENTION, case, "cudnn-sdpa", 0.5, 0.7),
            mark(ATTENTION, case, "flash-sdpa", 0.9, 1.1),
        )
    )

    def graded(backend: str) -> Check:
        warm = PlayedWarm([says(begun(case), timed(case, 0.6, backend))])
        (check,) = time(timer(warm, ATTENTION, thresholds=marks, only=case)).checks
        assert warm.jobs[0]["edges"] == {case: {"cudnn-sdpa": (0.5, 0.7), "flash-sdpa": (0.9, 1.1)}}
        return check

    assert graded("cudnn-sdpa").verdict is Verdict.PASSED
    assert graded("flash-sdpa").verdict is Verdict.FAILED
    unknown = graded("efficient-sdpa")
    assert unknown.verdict is Verdict.SKIPPED
    assert "no mark" in unknown.message


def test_the_gpu_is_held_while_kernels_are_timed_and_let_go(timer: Callable[..., Timer]) -> None:
    device = PlayedGpu()
    held: list[bool] = []
    warm = PlayedWarm([lambda job: (held.append(device.alone_now), both()(job))[1]])
    time(timer(warm, device=device))

    assert held == [True]
    assert not device.alone_now


def _made(kind: Kind, verdict: Verdict, *, graded: bool = True) -> Check:
    return Check(id="x", title="x", kind=kind, verdict=verdict, message="because", graded=graded)


def test_a_kernel_is_timed_when_nothing_about_it_failed_or_stayed_open() -> None:
    right = [checks.passed(Kind.BUILD, "b", "b"), checks.passed(Kind.CORRECTNESS, "c", "c")]

    assert is_right([*right, _made(Kind.CORRECTNESS, Verdict.SKIPPED)])
    assert is_right([*right, _made(Kind.FUNCTION, Verdict.FAILED)])
    assert is_right([*right, _made(Kind.PORTABILITY, Verdict.FAILED, graded=False)])
    for kind in (Kind.BUILD, Kind.REQUIREMENT, Kind.CORRECTNESS, Kind.ORDER, Kind.OUTPUT, Kind.PORTABILITY):
        for verdict in (Verdict.FAILED, Verdict.ERROR, Verdict.INCONCLUSIVE):
            assert not is_right([*right, _made(kind, verdict)])
