"""Whole gradings with speed: everything is real but the GPU, which is played."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import QUICK
from tests.grades import grades
from tests.grading.playing import LIMITS, PlayedGpu, PlayedWarm, begun, not_timed, report, timed
from tests.grading.test_bad_input import GOOD
from tests.grading.test_tuning import LISTED, Played, capsule, solution
from tlpuzzles.border.children import Warm
from tlpuzzles.border.watching import End, Report
from tlpuzzles.grading import caches
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.stages import fetch
from tlpuzzles.grading.timing import NO_GPU, NO_WINNER, NOT_ASKED, WRONG
from tlpuzzles.kernel.capsule import Capsule, digest, read
from tlpuzzles.verdict.model import Check, Kind, Points, Result, Verdict
from tlpuzzles.verdict.thresholds import Origin, Threshold, Thresholds

Grade = Callable[..., tuple[Result, PlayedWarm]]
Answer = Callable[[Mapping[str, Any]], Report]
WHOLE = replace(QUICK, stop_at_first_failure=False)


def mark(exercise: str, against: str, origin: Origin = Origin.MEASURED, *, case: str = "speed") -> Threshold:
    return Threshold(
        exercise=exercise,
        case=case,
        gpu="sm_90",
        against=against,
        pass_at=0.6,
        full_at=1.0,
        origin=origin,
        source="made up",
    )


MARKS = Thresholds(entries=(mark("vector_add", "copy"), mark("schedule_sweep", "cublas"), mark("autotuning", "cublas")))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "cache_dir", lambda: tmp_path / "cache")


@pytest.fixture
def grade(warm: Warm, learner: Path, tmp_path: Path) -> Grade:
    """Grades a text on a played GPU: (result, what was asked of its processes)."""

    def graded(
        text: str,
        answer: Answer | None = None,
        *,
        exercise: str = "1",
        gpu: PlayedGpu | None = None,
        behind: Any = None,
        **options: Any,
    ) -> tuple[Result, PlayedWarm]:
        played = PlayedWarm([answer or runs(0.8)], behind or warm)
        grader = Grader(played, tmp_path, gpu or PlayedGpu())  # type: ignore[arg-type]
        return grades(grader, learner, WHOLE)(exercise, text, **{"thresholds": MARKS, **options}), played

    return graded


def runs(ratio: float, baseline: str = "copy") -> Answer:
    return lambda job: report(LIMITS, begun("speed"), timed("speed", ratio, baseline))


def speed_check(result: Result) -> Check:
    (check,) = (check for check in result.checks if check.kind is Kind.SPEED)
    return check


def points(earned: int, not_graded: int = 0) -> Points:
    return Points(earned=earned, possible=100, not_graded=not_graded)


def test_a_right_kernel_is_timed_last_of_all_and_its_speed_earns_points(grade: Grade) -> None:
    gpu = PlayedGpu()
    result, played = grade(GOOD, gpu=gpu)

    assert result.verdict is Verdict.PASSED
    assert result.points == points(60 + 20)
    assert speed_check(result).verdict is Verdict.PASSED
    assert result.checks[-1] is speed_check(result)
    assert played.roles[-1] == "time"
    assert gpu.compiled == ["speed"]
    (job,) = played.jobs
    assert job["cases"][0]["sizes"] == {"N": 1 << 26}
    assert job["edges"] == {"speed": {"copy": (0.6, 1.0)}}


def test_speed_is_in_the_json(grade: Grade) -> None:
    result, _ = grade(GOOD)
    document = json.loads(json.dumps(result.document()))

    (speed,) = document["speed"]
    assert speed["ratio"] == 0.8
    assert speed["ci"] == [pytest.approx(0.7992), pytest.approx(0.8008)]
    assert speed["baseline_id"] == "copy"
    assert (speed["pass_at"], speed["full_at"], speed["score"]) == (0.6, 1.0, pytest.approx(0.5))
    assert speed["self_ratio"] == 1.0
    assert speed["compiled"]["registers"] == 168
    assert speed["roofline"]["bound"] == "memory"
    assert Result.model_validate({"schema_version": document.pop("schema"), **document}) == result


def test_a_slow_kernel_fails_and_keeps_the_points_for_being_right(grade: Grade) -> None:
    result, _ = grade(GOOD, runs(0.3))

    assert result.verdict is Verdict.FAILED
    assert result.points == points(60)


def test_estimated_marks_fail_nobody(grade: Grade) -> None:
    estimated = Thresholds(entries=(mark("vector_add", "copy", Origin.ESTIMATED),))
    result, _ = grade(GOOD, runs(0.3), thresholds=estimated)

    assert speed_check(result).verdict is Verdict.FAILED
    assert not speed_check(result).graded
    assert result.verdict is Verdict.PASSED
    assert result.points == points(60)


def test_a_kernel_whose_results_are_wrong_is_not_timed_and_its_speed_earns_nothing(grade: Grade) -> None:
    result, played = grade(GOOD, gpu=PlayedGpu(wrong=lambda case: case == "many-blocks"))

    assert result.verdict is Verdict.FAILED
    assert speed_check(result).verdict is Verdict.SKIPPED
    assert speed_check(result).message == WRONG
    assert result.speed is None
    assert result.points == points(50)
    assert played.jobs == []


def test_a_kernel_that_is_wrong_only_where_it_is_timed_fails(grade: Grade) -> None:
    wrong = "At this size the kernel is wrong: its result differs from the library's by 1.0e-01."
    result, _ = grade(GOOD, lambda job: report(LIMITS, begun("speed"), not_timed("speed", wrong)))

    assert result.verdict is Verdict.FAILED
    assert speed_check(result).message == wrong
    assert result.points == points(60)


def test_a_kernel_that_there_is_not_at_the_timed_size_fails(grade: Grade) -> None:
    text = GOOD.replace("    @T.prim_func", "    assert N < 1 << 26, 'only small ones'\n    @T.prim_func")
    gpu = PlayedGpu()
    result, played = grade(text, gpu=gpu)

    assert "only small ones" in speed_check(result).message
    assert speed_check(result).verdict is Verdict.FAILED
    assert result.points == points(60)
    assert gpu.compiled == []
    assert played.jobs == []


def test_no_speed_leaves_it_out(grade: Grade) -> None:
    gpu = PlayedGpu()
    result, played = grade(GOOD, gpu=gpu, speed=False)

    assert result.verdict is Verdict.PASSED
    assert speed_check(result).message == NOT_ASKED
    assert result.points == points(60, not_graded=40)
    assert gpu.compiled == []
    assert played.jobs == []


def test_a_noisy_machine_leaves_it_open(grade: Grade) -> None:
    noisy = timed("speed", 0.8, "copy")
    noisy["measurement"]["again"] = {"value": 1.2, "low": 1.19, "high": 1.21}
    result, _ = grade(GOOD, lambda job: report(LIMITS, begun("speed"), noisy))

    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.points == points(60, not_graded=40)


def test_a_fault_of_ours_is_an_error(grade: Grade) -> None:
    result, _ = grade(GOOD, lambda job: report(end=End.EXITED, output="ImportError: no torch"))

    assert result.verdict is Verdict.ERROR
    assert result.points == points(60, not_graded=40)


@pytest.mark.parametrize("text", [GOOD.replace("main(A", "main(A, X"), "x = 1\n", "def f(:\n"])
def test_what_gives_no_kernel_earns_nothing(grade: Grade, text: str) -> None:
    result, played = grade(text)

    assert result.points == points(0)
    assert played.jobs == []


def test_speed_can_be_asked_for_alone(grade: Grade) -> None:
    result, played = grade(GOOD, only="speed")

    assert result.verdict is Verdict.PASSED
    assert speed_check(result).verdict is Verdict.PASSED
    assert result.points == points(20, not_graded=60)
    assert len(played.jobs) == 1


@pytest.mark.parametrize(("only", "ratio", "not_graded"), [("speed", 0.8, 60), ("speed-8192", 1.0, 80)])
def test_of_several_timed_cases_all_or_one_can_be_asked_for(
    grade: Grade, only: str, ratio: float, not_graded: int
) -> None:
    """Each of the two has 20 points: half of them at a ratio of 0.8, all at 1.0."""
    marks = Thresholds(entries=tuple(mark("tiled_gemm", "cublas", case=case) for case in ("speed-4096", "speed-8192")))

    def answer(job: Mapping[str, Any]) -> Report:
        return report(*(timed(case["id"], ratio, milliseconds=8.0) for case in job["cases"]))

    result, _ = grade(solution("tiled_gemm"), answer, exercise="2", only=only, thresholds=marks, trace_seconds=60.0)

    assert {check.id for check in result.checks if check.kind is Kind.SPEED} == (
        {only} if only != "speed" else {"speed-4096", "speed-8192"}
    )
    assert result.verdict is Verdict.PASSED
    assert result.points == points(20, not_graded=not_graded)


def test_another_case_alone_is_not_timed(grade: Grade) -> None:
    result, played = grade(GOOD, only="whole-blocks")

    assert [check for check in result.checks if check.kind is Kind.SPEED] == []
    assert result.points == points(10, not_graded=90)
    assert played.jobs == []


def test_speed_alone_says_why_there_is_none(grade: Grade, grader: Grader, learner: Path) -> None:
    without_gpu = grades(grader, learner, WHOLE)("1", GOOD, only="speed")
    left_out, _ = grade(GOOD, only="speed", speed=False)

    for result, why in ((without_gpu, NO_GPU), (left_out, NOT_ASKED)):
        assert result.verdict is Verdict.INCONCLUSIVE
        assert speed_check(result).message == why
        assert result.points == points(0, not_graded=100)


@pytest.mark.parametrize("only", [None, "speed"])
def test_the_winner_of_a_sweep_is_timed(grade: Grade, warm: Warm, only: str | None) -> None:
    """The sixth schedule of the solution is the fastest of those that were played. Choosing it is graded, too."""
    behind = Played(warm, lambda key: 0.2 if key == "5" else 1.0 + int(key))
    result, played = grade(
        solution("schedule_sweep"), runs(0.8, "cublas"), exercise="3", behind=behind, only=only, trace_seconds=60.0
    )

    assert result.verdict is Verdict.PASSED, [check.message for check in result.checks]
    assert result.points == (points(60 + 20) if only is None else points(5 + 20, not_graded=55))
    (job,) = played.jobs
    assert job["cases"][0]["sizes"] == {"M": 4096, "N": 4096, "K": 4096}


def test_without_a_winner_nothing_is_timed(grade: Grade, warm: Warm) -> None:
    text = solution("schedule_sweep") + "\n\ndef sweep(*_, **__):\n    return None\n"
    result, played = grade(text, exercise="3", behind=Played(warm), trace_seconds=60.0)

    assert speed_check(result).verdict is Verdict.SKIPPED
    assert speed_check(result).message == NO_WINNER
    assert result.points.not_graded == 0
    assert played.jobs == []


def test_the_kernel_that_is_timed_is_the_autotuners_winner(grade: Grade, warm: Warm, learner: Path) -> None:
    won = capsule(warm, learner, LISTED)
    behind = Played(warm, tuned={"config": LISTED, **won}, takes=[0.2, 0.0])
    digests: list[str] = []

    def answer(job: Mapping[str, Any]) -> Report:
        digests.extend(digest(read(fetch(case["capsule"]))) for case in job["cases"])
        return runs(0.8, "cublas")(job)

    result, _ = grade(solution("autotuning"), answer, exercise="7", behind=behind, only="speed", trace_seconds=60.0)

    assert speed_check(result).verdict is Verdict.PASSED
    assert result.points == points(10 + 20, not_graded=50)
    assert digests == [digest(read(Capsule(won["ir"], tuple(won["out_idx"]), won["pass_configs"], "")))]
