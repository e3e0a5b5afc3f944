"""Which gradings a save leads to, and in which order."""

from __future__ import annotations

import pytest

from tests.report.samples import passed as any_result
from tlpuzzles.course import catalog
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.options import Options
from tlpuzzles.verdict.model import Check, Detail, Kind, Points, Result, Verdict
from tlpuzzles.watch.stages import QUICK, Before, Stage, goes_on, stages

WHOLE = Options(seed=71_003)
FAILED = Check(
    id="causal-ragged",
    title="ragged",
    kind=Kind.CORRECTNESS,
    verdict=Verdict.FAILED,
    message="wrong",
    detail=Detail(seed=5),
)
PASSED = Check(id="causal-even", title="even", kind=Kind.CORRECTNESS, verdict=Verdict.PASSED)


def graded(*checks: Check, verdict: Verdict = Verdict.FAILED, seconds: float = 6.0, only: str | None = None) -> Result:
    return any_result().model_copy(
        update={
            "checks": checks,
            "verdict": verdict,
            "seconds": seconds,
            "only": only,
            "points": Points(earned=0, possible=100, not_graded=40),
        }
    )


def asked(before: Before, slug: str = "flash_attention", *, on_cuda: bool = False) -> list[tuple[Stage, Options]]:
    return list(stages(catalog.find(slug), WHOLE, before, on_cuda=on_cuda))


def test_the_first_grading_asks_all_cases_and_then_the_rest() -> None:
    (cases, of_cases), (everything, of_everything) = asked(Before())
    assert (cases, everything) == (Stage.CASES, Stage.EVERYTHING)
    assert of_cases.portability is Portability.OFF
    assert not of_cases.speed
    assert of_everything == WHOLE


def test_what_failed_is_asked_first_on_the_same_problem() -> None:
    before = Before().after(Stage.CASES, graded(PASSED, FAILED))
    (stage, options), *rest = asked(before)
    assert (stage, options.only, options.seed) == (Stage.ONE_FIRST, "causal-ragged", 5)
    assert [stage for stage, _ in rest] == [Stage.CASES, Stage.EVERYTHING]


def test_after_a_pass_the_first_case_is_asked_first() -> None:
    before = Before().after(Stage.CASES, graded(PASSED, verdict=Verdict.PASSED))
    (_, options), *_ = asked(before)
    assert options.only == catalog.find("flash_attention").cases[0].id
    assert options.seed == WHOLE.seed


def test_where_all_cases_are_quick_none_is_asked_before_the_others() -> None:
    before = Before().after(Stage.CASES, graded(FAILED, seconds=QUICK / 2))
    assert [stage for stage, _ in asked(before)] == [Stage.CASES, Stage.EVERYTHING]


def test_how_long_the_first_grading_waited_and_other_gpus_took_is_soon_forgotten() -> None:
    before = Before().after(Stage.CASES, graded(FAILED, seconds=1.9 * QUICK))
    assert asked(before)[0][0] is Stage.ONE_FIRST
    before = before.after(Stage.CASES, graded(PASSED, verdict=Verdict.PASSED, seconds=QUICK / 2))
    before = before.after(Stage.EVERYTHING, graded(PASSED, verdict=Verdict.PASSED, seconds=5 * QUICK))
    assert asked(before)[0][0] is Stage.CASES


def test_a_grading_in_which_most_was_known_does_not_hide_how_long_all_cases_take() -> None:
    before = Before().after(Stage.CASES, graded(FAILED, seconds=4.1 * QUICK))
    for _ in range(2):
        before = before.after(Stage.CASES, graded(PASSED, verdict=Verdict.PASSED, seconds=0.2))
        assert asked(before)[0][0] is Stage.ONE_FIRST


def test_what_passes_alone_is_no_longer_the_one_that_failed() -> None:
    before = Before("causal-ragged", 5, 6.0)
    after = before.after(Stage.ONE_FIRST, graded(PASSED, verdict=Verdict.PASSED, seconds=1.0, only="causal-ragged"))
    assert after == Before(None, 5, 6.0)
    assert before.after(Stage.ONE_FIRST, graded(FAILED, only="causal-ragged", seconds=1.0)) == before


def test_a_file_that_gives_no_kernel_is_told_so_once() -> None:
    """Whatever is asked first: the other cases would say the same."""
    broken = Check(id="build", title="b", kind=Kind.BUILD, verdict=Verdict.FAILED, message="no kernel")
    assert not goes_on(Stage.ONE_FIRST, graded(broken, only="causal-ragged"))
    assert goes_on(Stage.ONE_FIRST, graded(FAILED, only="causal-ragged"))


def test_tuning_on_a_gpu_is_done_once() -> None:
    assert [stage for stage, _ in asked(Before(), "autotuning", on_cuda=True)] == [Stage.EVERYTHING]
    assert [stage for stage, _ in asked(Before(), "tiled_gemm", on_cuda=True)] == [Stage.CASES, Stage.EVERYTHING]


@pytest.mark.parametrize(
    ("stage", "verdict", "on"),
    [
        (Stage.ONE_FIRST, Verdict.FAILED, True),
        (Stage.CASES, Verdict.PASSED, True),
        (Stage.CASES, Verdict.FAILED, False),
        (Stage.CASES, Verdict.NOT_STARTED, False),
        (Stage.CASES, Verdict.ERROR, False),
    ],
)
def test_a_result_with_something_to_mend_ends_it(stage: Stage, verdict: Verdict, on: bool) -> None:
    assert goes_on(stage, graded(verdict=verdict)) is on
