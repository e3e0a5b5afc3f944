"""From made-up gradings of reference solutions to the marks of a class's GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tests.grading.timed import NO_ROOM, NOISY, WRONG, Said, result
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise, Timing
from tlpuzzles.grading import versions
from tlpuzzles.grading.calibrating import Machine, Timed, calibrate, header, measure, merge
from tlpuzzles.verdict.model import Check, Kind, Result, Verdict
from tlpuzzles.verdict.thresholds import Origin, Threshold, Thresholds, dump, shipped

GEMM = catalog.find("tiled_gemm")
ATTENTION = catalog.find("flash_attention")
MACHINE = Machine("Tesla T4", "2026-11-29", "driver 580.1, torch 2.13.0, CUDA 13.0")
SMALL, LARGE = "speed-4096", "speed-8192"
TIMED = [(exercise, timing) for exercise in catalog.exercises() for timing in exercise.timings]
IDS = [f"{exercise.number}-{timing.case.id}" for exercise, timing in TIMED]


class Gradings:
    """Gives results one after another, and remembers what was asked."""

    def __init__(self, *said: Mapping[str, Said] | Result, exercise: Exercise = GEMM) -> None:
        self.results = [one if isinstance(one, Result) else result(exercise, one) for one in said]
        self.asked: list[str] = []

    def __call__(self, only: str) -> Result:
        self.asked.append(only)
        return self.results[len(self.asked) - 1]


def ratios(cases: Sequence[Timed]) -> dict[str, list[float]]:
    return {case.id: [speed.ratio for speed in case.speeds] for case in cases}


# --- how often is graded


def test_a_quiet_machine_is_graded_as_often_as_was_asked() -> None:
    gradings = Gradings(*({SMALL: ratio, LARGE: 0.9} for ratio in (0.80, 0.81, 0.82)))
    cases = measure(GEMM, 3, gradings)
    assert gradings.asked == ["speed"] * 3
    assert ratios(cases) == {SMALL: [0.80, 0.81, 0.82], LARGE: [0.9] * 3}


def test_a_noisy_grading_is_made_up_for_alone() -> None:
    gradings = Gradings({SMALL: 0.8, LARGE: 0.9}, {SMALL: NOISY, LARGE: 0.9}, {SMALL: 0.82})
    cases = measure(GEMM, 2, gradings)
    assert gradings.asked == ["speed", "speed", SMALL]
    assert ratios(cases) == {SMALL: [0.80, 0.82], LARGE: [0.9, 0.9]}
    assert all(case.is_done(2) for case in cases)


@pytest.mark.parametrize("what", [NOISY, NO_ROOM])
def test_a_case_that_is_never_measured_is_left_out_after_two_more_tries(what: Said) -> None:
    gradings = Gradings(*[{SMALL: 0.8, LARGE: what}] * 2, *[{LARGE: what}] * 9)
    small, large = measure(GEMM, 2, gradings)
    assert gradings.asked == ["speed", "speed", LARGE]
    assert small.is_done(2)
    assert not large.is_done(2)
    assert large.why_not() == f"in 3 gradings it was not measured, at last because: {what.message}"  # type: ignore[union-attr]


def test_a_wrong_reference_solution_is_not_graded_again_and_is_an_error_of_ours() -> None:
    gradings = Gradings({SMALL: 0.8, LARGE: WRONG}, {SMALL: 0.8})
    small, large = measure(GEMM, 2, gradings)
    assert gradings.asked == ["speed", SMALL]
    assert small.is_done(2)
    assert large.why_not() == f"the reference solution failed, which is an error of ours: {WRONG.message}"


def test_what_kept_a_kernel_from_being_timed_is_named() -> None:
    check = Check(id="gemm", title="uses T.gemm", kind=Kind.REQUIREMENT, verdict=Verdict.FAILED, message="It does not.")
    cases = measure(GEMM, 5, gradings := Gradings(result(GEMM, {SMALL: NO_ROOM}, others=[check])))
    assert gradings.asked == ["speed"]
    assert {case.fault for case in cases} == {"uses T.gemm: It does not."}


def test_a_failure_beside_a_ratio_does_not_take_it_away() -> None:
    check = Check(id="again", title="finds it again", kind=Kind.TUNING, verdict=Verdict.FAILED, message="It did not.")
    cases = measure(GEMM, 1, Gradings(result(GEMM, {SMALL: 0.8, LARGE: 0.9}, others=[check])))
    assert all(case.is_done(1) for case in cases)


def test_a_ratio_beside_another_library_is_not_mixed_in() -> None:
    said = dict.fromkeys((timing.case.id for timing in ATTENTION.timings), 0.5)
    found = [result(ATTENTION, said, against=which) for which in (1, 2, 1)]
    cases = measure(ATTENTION, 2, Gradings(*found))
    assert {speed.baseline_id for case in cases for speed in case.speeds} == {"flash-sdpa"}
    assert cases[0].missed == ["it was timed beside SDPA, memory-efficient, and before beside SDPA by FlashAttention"]


# --- what it comes to


def timed(exercise: Exercise, case: str, found: Sequence[float], **changed: float) -> Timed:
    one = Timed(next(timing for timing in exercise.timings if timing.case.id == case))
    for ratio in found:
        one.take(result(exercise, {case: ratio}, **changed))  # type: ignore[arg-type]
    return one


def entry(**changed: object) -> Threshold:
    fields = {
        "exercise": "tiled_gemm",
        "case": SMALL,
        "gpu": "sm_90",
        "against": "cublas",
        "pass_at": 0.4,
        "full_at": 0.9,
        "origin": "measured",
        "source": "x",
        "reference": 1.0,
    }
    return Threshold.model_validate({**fields, **changed})


def test_marks_are_the_course_s_share_of_the_median() -> None:
    found = timed(GEMM, SMALL, [0.81, 0.50, 0.80, 0.804, 0.82], self_ratio=0.995)
    one = calibrate(GEMM, found, MACHINE, Thresholds(entries=(entry(),)))
    mark = one.threshold
    assert (mark.reference, mark.pass_at, mark.full_at) == (0.804, 0.322, 0.724)
    assert (mark.exercise, mark.case, mark.gpu, mark.against) == ("tiled_gemm", SMALL, "Tesla T4", "cublas")
    assert mark.origin is Origin.CALIBRATED
    assert one.noise == pytest.approx(0.16)
    assert mark.source == (
        "Calibrated on Tesla T4, 2026-11-29, driver 580.1, torch 2.13.0, CUDA 13.0: reference 0.804 +- 0.160 over "
        "5 gradings, cublas within 0.5 % of itself."
    )
    assert one.is_unsteady
    assert not calibrate(GEMM, timed(GEMM, SMALL, [0.80, 0.82]), MACHINE, shipped()).is_unsteady


def test_attention_has_the_share_of_its_first_baseline_beside_any() -> None:
    case = "speed-full-64"
    found = timed(ATTENTION, case, [0.5], against=2)  # type: ignore[arg-type]
    course = Thresholds(
        entries=(
            entry(exercise="flash_attention", case=case, against="efficient-sdpa", pass_at=0.1),
            entry(exercise="flash_attention", case=case, against="cudnn-sdpa"),
        )
    )
    mark = calibrate(ATTENTION, found, MACHINE, course).threshold
    assert (mark.against, mark.pass_at, mark.full_at) == ("efficient-sdpa", 0.2, 0.45)


@pytest.mark.parametrize(
    "changed", [{"reference": None}, {"gpu": "sm_80"}, {"case": LARGE}, {"against": "eager"}, {"origin": "estimated"}]
)
def test_without_a_share_of_the_course_s_the_rule_holds_and_is_named(changed: Mapping[str, object]) -> None:
    one = calibrate(GEMM, timed(GEMM, SMALL, [0.5]), MACHINE, Thresholds(entries=(entry(**changed),)))
    assert (one.threshold.pass_at, one.threshold.full_at) == (0.3, 0.475)
    assert not one.of_course
    assert one.threshold.source.endswith("Its marks are 0.6 and 0.95 of that, as the course has no share of its own.")


def test_full_marks_ask_for_no_more_than_the_reference_reached() -> None:
    course = Thresholds(entries=(entry(full_at=1.3),))
    mark = calibrate(GEMM, timed(GEMM, SMALL, [0.5004]), MACHINE, course).threshold
    assert mark.full_at == mark.reference == 0.5


@pytest.mark.parametrize("ratio", [1e-4, 0.012345, 0.5, 1.0, 9.8765])
@pytest.mark.parametrize(("exercise", "timing"), TIMED, ids=IDS)
def test_every_timed_case_can_be_calibrated(exercise: Exercise, timing: Timing, ratio: float) -> None:
    mark = calibrate(exercise, timed(exercise, timing.case.id, [ratio]), MACHINE, shipped()).threshold
    assert mark.reference == pytest.approx(ratio, rel=6e-3)
    assert 0.3 * ratio < mark.pass_at < mark.full_at <= mark.reference


@pytest.mark.parametrize("ratio", [0.0, -1.0, 1e-9, 11.0, float("nan"), float("inf")])
def test_a_ratio_that_can_be_no_mark_is_measured_again_and_left_out(ratio: float) -> None:
    (small, large) = measure(GEMM, 1, Gradings({SMALL: 0.8, LARGE: ratio}, *[{LARGE: ratio}] * 9))
    assert small.is_done(1)
    assert not large.is_done(1)
    assert f"its ratio was {ratio:.3g}, which is an error of ours" in large.why_not()


# --- the file


def test_merging_keeps_what_was_not_measured_and_replaces_what_was() -> None:
    mine, other_gpu, other_case, other_library = (
        entry(gpu="Tesla T4", origin="calibrated"),
        entry(gpu="NVIDIA L4"),
        entry(gpu="Tesla T4", case=LARGE),
        entry(gpu="Tesla T4", against="eager"),
    )
    known = Thresholds(entries=(other_gpu, mine, other_case, other_library))
    again = entry(gpu="TESLA T4", pass_at=0.2, origin="calibrated")
    new = entry(gpu="Tesla T4", exercise="row_softmax")
    assert merge(known, [again, new]).entries == (other_gpu, again, other_case, other_library, new)


def test_the_header_says_with_what_how_noisy_and_how_to_make_it_again() -> None:
    found = [
        calibrate(GEMM, timed(GEMM, case, [0.79, 0.81], self_ratio=self_ratio), MACHINE, shipped())
        for case, self_ratio in ((SMALL, 1.002), (LARGE, 0.997))
    ]
    text = dump(Thresholds(entries=()), header(MACHINE, found, "tlpuzzles calibrate 2"))
    assert "# Last written on Tesla T4, 2026-11-29,\n# with driver 580.1, torch 2.13.0, CUDA 13.0.\n" in text
    assert "each reference within +- 1.3 % over its gradings, each library within 0.3 % of itself" in text
    assert "#     tlpuzzles calibrate 2\n" in text


def test_software_has_torch_s_cuda_without_importing_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "__init__.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "version.py").write_text("from typing import Optional\ncuda: Optional[str] = '13.0'\n")
    spec = ModuleSpec("torch", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(versions, "find_spec", {"torch": spec}.__getitem__)
    known: Callable[[str], str] = {"nvidia-cudnn-cu13": "9.15.1.9"}.__getitem__
    monkeypatch.setattr(versions, "version", known)
    said = versions.software("580.1")
    assert said.startswith("driver 580.1, torch ")
    assert ", CUDA 13.0, cuDNN 9.15.1.9, tilelang " in said
    (tmp_path / "version.py").write_text("cuda = None\n")
    said = versions.software(None)
    assert said.startswith("torch ")
    assert "CUDA" not in said
    assert "cuDNN" not in said
