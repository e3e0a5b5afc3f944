"""What checks add up to."""

from __future__ import annotations

import pytest

from tlpuzzles.verdict.measured import Stopped
from tlpuzzles.verdict.model import Check, Kind, Speed, Verdict
from tlpuzzles.verdict.points import nothing, points, verdict


def check(kind: Kind, ended: Verdict, id_: str = "x") -> Check:
    return Check(id=id_, title=id_, kind=kind, verdict=ended, message="" if ended is Verdict.PASSED else "because")


def cases(passed: int, total: int, other: Verdict = Verdict.FAILED) -> list[Check]:
    ended = [Verdict.PASSED] * passed + [other] * (total - passed)
    return [check(Kind.CORRECTNESS, e, f"case-{number}") for number, e in enumerate(ended)]


@pytest.mark.parametrize(
    ("passed", "total", "earned"),
    [(0, 7, 0), (7, 7, 60), (1, 7, 9), (6, 7, 51), (3, 7, 26), (1, 8, 8), (99, 100, 59), (199, 200, 59), (1, 200, 1)],
)
def test_correctness_is_shared_evenly(passed: int, total: int, earned: int) -> None:
    result = points(cases(passed, total))
    assert (result.earned, result.possible, result.not_graded) == (earned, 100, 40)


def test_one_more_right_case_never_earns_less() -> None:
    for total in range(1, 40):
        earned = [points(cases(passed, total)).earned for passed in range(total + 1)]
        assert earned == sorted(earned)
        assert (earned[0], earned[-1]) == (0, 60)


@pytest.mark.parametrize("kind", [Kind.REQUIREMENT, Kind.ORDER, Kind.PORTABILITY])
def test_another_kernel_than_the_one_asked_for_earns_nothing(kind: Kind) -> None:
    checks = [*cases(7, 7), check(kind, Verdict.FAILED)]
    assert points(checks).earned == 0
    assert points(checks).not_graded == 40
    assert verdict(checks) is Verdict.FAILED
    warned = Check(id="t4", title="T4", kind=kind, verdict=Verdict.PASSED, message="needs a smaller tile on a T4")
    assert points([*cases(7, 7), warned]).earned == 60


def test_cases_of_another_device_have_no_share() -> None:
    checks = [*cases(5, 5), check(Kind.CORRECTNESS, Verdict.SKIPPED, "waves")]
    assert points(checks, elsewhere={"waves"}).earned == 60
    assert points(checks).earned == 50
    assert verdict(checks) is Verdict.PASSED


def test_cases_that_were_not_asked_for_are_not_graded() -> None:
    checks = cases(1, 6, Verdict.SKIPPED)
    result = points(checks, unasked={f"case-{number}" for number in range(1, 6)})
    assert (result.earned, result.not_graded) == (10, 90)


@pytest.mark.parametrize("ended", [Verdict.ERROR, Verdict.INCONCLUSIVE])
def test_what_stayed_open_is_not_graded(ended: Verdict) -> None:
    result = points(cases(2, 3, ended))
    assert (result.earned, result.not_graded) == (40, 60)
    assert verdict(cases(2, 3, ended)) is ended


def test_cases_that_were_not_reached_earn_nothing() -> None:
    checks = [check(Kind.BUILD, Verdict.FAILED), *cases(0, 6, Verdict.SKIPPED)]
    assert (points(checks).earned, points(checks).not_graded) == (0, 40)
    assert (points(checks[:1]).earned, points(checks[:1]).not_graded) == (0, 40)
    assert points([]).not_graded == 100


def test_verdicts() -> None:
    passed, failed = check(Kind.CORRECTNESS, Verdict.PASSED), check(Kind.ORDER, Verdict.FAILED)
    error, open_ = check(Kind.BUILD, Verdict.ERROR), check(Kind.CORRECTNESS, Verdict.INCONCLUSIVE)
    skipped = check(Kind.CORRECTNESS, Verdict.SKIPPED)
    assert verdict([passed]) is Verdict.PASSED
    assert verdict([passed, skipped]) is Verdict.PASSED
    assert verdict([passed, open_]) is Verdict.INCONCLUSIVE
    assert verdict([passed, open_, failed]) is Verdict.FAILED
    assert verdict([passed, open_, failed, error]) is Verdict.ERROR
    assert verdict([skipped]) is Verdict.INCONCLUSIVE
    assert verdict([check(Kind.BUILD, Verdict.PASSED)]) is Verdict.INCONCLUSIVE


def test_functions_and_kernels_share_the_points() -> None:
    functions = [check(Kind.FUNCTION, Verdict.PASSED, "a"), check(Kind.FUNCTION, Verdict.FAILED, "b")]
    kernels = [check(Kind.CORRECTNESS, Verdict.PASSED, "c"), check(Kind.OUTPUT, Verdict.PASSED, "d")]
    assert points([*functions, *kernels]).earned == 45
    assert points([*functions, *kernels, check(Kind.TUNING, Verdict.SKIPPED, "tuned")]).earned == 36
    assert points([*functions, *kernels, check(Kind.TUNING, Verdict.SKIPPED, "t")], elsewhere={"t"}).earned == 45


def test_a_function_is_worth_its_points_whatever_the_kernel_is() -> None:
    functions = [check(Kind.FUNCTION, Verdict.PASSED, "a"), check(Kind.FUNCTION, Verdict.PASSED, "b")]
    kernels = [check(Kind.CORRECTNESS, Verdict.PASSED, "c"), check(Kind.REQUIREMENT, Verdict.FAILED, "d")]
    assert points([*functions, *kernels]).earned == 40
    assert verdict([*functions, *kernels]) is Verdict.FAILED


def test_an_exercise_without_speed_has_no_points_for_it() -> None:
    result = points(cases(7, 7), timed=False)
    assert (result.earned, result.possible, result.not_graded) == (60, 60, 0)
    assert nothing(timed=False).possible == 60


# --- speed


def timed(*ended: Verdict, graded: bool = True) -> list[Check]:
    return [
        Check(
            id=f"speed-{number}",
            title="a speed",
            kind=Kind.SPEED,
            verdict=e,
            message="" if e is Verdict.PASSED else "because",
            graded=graded,
        )
        for number, e in enumerate(ended)
    ]


def speeds(*scores: float | None) -> list[Speed]:
    return [
        Speed(
            case=f"speed-{number}",
            title="a speed",
            ratio=0.8,
            ci=(0.79, 0.81),
            baseline="cuBLAS",
            baseline_id="cublas",
            milliseconds=1.0,
            baseline_milliseconds=0.8,
            graded=True,
            score=score,
            self_ratio=1.0,
            self_ci=(0.999, 1.001),
            blocks=40,
            rounds=8,
            stopped=Stopped.NARROW,
        )
        for number, score in enumerate(scores)
    ]


RIGHT = cases(7, 7)
P, F, S, OPEN = Verdict.PASSED, Verdict.FAILED, Verdict.SKIPPED, Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("scores", "earned"),
    [
        ([1.0], 40),
        ([0.0], 0),
        ([0.5], 20),
        ([0.999], 39),
        ([0.001], 1),
        ([1.0, 0.0], 20),
        ([1.0, 1.0, 1.0], 40),
        ([1.0, 1.0, 1.0, 0.99], 39),
        ([0.0, 0.0, 0.0, 0.01], 1),
        ([0.25, 0.5], 15),
    ],
)
def test_the_40_of_speed_are_shared_evenly_by_the_timed_cases(scores: list[float], earned: int) -> None:
    result = points([*RIGHT, *timed(*(P for _ in scores))], speeds(*scores))
    assert (result.earned, result.possible, result.not_graded) == (60 + earned, 100, 0)


def test_a_faster_kernel_never_earns_less() -> None:
    for total in range(1, 6):
        scores = [n / 50 for n in range(51)]
        earned = [points([*RIGHT, *timed(*[P] * total)], speeds(*[one] * total)).earned for one in scores]
        assert earned == sorted(earned)
        assert (earned[0], earned[-1]) == (60, 100)


def test_a_kernel_that_is_too_slow_fails_the_exercise_and_keeps_its_other_points() -> None:
    checks = [*RIGHT, *timed(F, P)]
    assert verdict(checks) is Verdict.FAILED
    result = points(checks, speeds(0.0, 0.5))
    assert (result.earned, result.not_graded) == (70, 0)


def test_an_estimated_mark_gives_points_and_fails_nothing() -> None:
    checks = [*RIGHT, *timed(F, P, graded=False)]
    assert verdict(checks) is Verdict.PASSED
    assert points(checks, speeds(0.0, 1.0)).earned == 80


def test_a_noisy_machine_leaves_the_speed_open() -> None:
    checks = [*RIGHT, *timed(OPEN, P)]
    assert verdict(checks) is Verdict.INCONCLUSIVE
    result = points(checks, speeds(None, 0.5))
    assert (result.earned, result.not_graded) == (70, 20)
    assert verdict([*RIGHT, *timed(OPEN, graded=False)]) is Verdict.PASSED
    assert verdict([*cases(6, 7), *timed(OPEN)]) is Verdict.FAILED


@pytest.mark.parametrize("ended", [Verdict.SKIPPED, Verdict.ERROR])
def test_a_case_without_a_measurement_or_marks_is_not_graded(ended: Verdict) -> None:
    """There is no mark for this GPU; it has none of the baselines; the measurement failed."""
    for measured in (speeds(None), []):
        result = points([*RIGHT, *timed(ended)], measured)
        assert (result.earned, result.not_graded) == (60, 40)


def test_a_wrong_output_of_a_timed_call_earns_nothing() -> None:
    for measured in (speeds(0.0), []):
        checks = [*RIGHT, *timed(F)]
        result = points(checks, measured)
        assert (result.earned, result.not_graded) == (60, 0)
        assert verdict(checks) is Verdict.FAILED


def test_a_wrong_kernel_is_not_timed_and_earns_nothing_for_speed() -> None:
    checks = [*cases(6, 7), *timed(S, S)]
    assert (points(checks).earned, points(checks).not_graded) == (51, 0)
    not_built = [check(Kind.BUILD, Verdict.FAILED), *cases(0, 7, Verdict.SKIPPED), *timed(S, S)]
    assert (points(not_built).earned, points(not_built).not_graded) == (0, 0)


def test_a_wrong_kernels_speed_is_not_graded_where_it_could_not_or_should_not_be() -> None:
    checks = [*cases(6, 7), *timed(S, S)]
    ids = {"speed-0", "speed-1"}
    for result in (points(checks, elsewhere=ids), points(checks, unasked=ids)):
        assert (result.earned, result.not_graded) == (51, 40)
    assert points([*RIGHT, *timed(S, S)], elsewhere=ids).not_graded == 40


@pytest.mark.parametrize("kind", [Kind.REQUIREMENT, Kind.ORDER, Kind.PORTABILITY, Kind.CORRECTNESS])
def test_the_speed_of_another_kernel_than_the_one_asked_for_earns_nothing(kind: Kind) -> None:
    checks = [*RIGHT, check(kind, Verdict.FAILED), *timed(P)]
    result = points(checks, speeds(1.0))
    assert result.earned == (0 if kind is not Kind.CORRECTNESS else 53)
    assert result.not_graded == 0


def test_a_wrong_function_does_not_take_the_speed_of_a_right_kernel() -> None:
    checks = [*cases(1, 1), check(Kind.FUNCTION, Verdict.FAILED), *timed(P)]
    assert points(checks, speeds(1.0)).earned == 70
    assert points([*checks[:2], *timed(S)]).not_graded == 0, "but without a winner to time, there is none"


def test_our_error_leaves_the_speed_that_was_not_reached_open() -> None:
    checks = [check(Kind.BUILD, Verdict.ERROR), *timed(S, S)]
    assert points(checks).not_graded == 100
    assert points([*cases(2, 3, Verdict.ERROR), *timed(S)]).not_graded == 60


def test_speed_asked_for_alone_has_looked_at_a_result() -> None:
    unasked = {f"case-{number}" for number in range(7)} | {"speed-1"}
    checks = [*cases(0, 7, Verdict.SKIPPED), *timed(P, S)]
    assert verdict(checks) is Verdict.PASSED
    result = points(checks, speeds(0.5), unasked=unasked)
    assert (result.earned, result.not_graded) == (10, 80)
    assert verdict([*cases(0, 7, Verdict.SKIPPED), *timed(S)]) is Verdict.INCONCLUSIVE
    assert verdict(timed(F)) is Verdict.FAILED
    assert points(timed(F), speeds(0.0)).not_graded == 60


def test_a_skeleton_has_no_points_and_its_speed_is_graded_where_a_kernels_would_be() -> None:
    assert (nothing(timed=True).possible, nothing(timed=True).not_graded) == (100, 40)
    assert (nothing(timed=True, speed_is_graded=True).earned, nothing(timed=True, speed_is_graded=True).not_graded) == (
        0,
        0,
    )
