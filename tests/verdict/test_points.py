"""What checks add up to."""

from __future__ import annotations

import pytest

from tlpuzzles.verdict.model import Check, Kind, Verdict
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
    skipped, slow = check(Kind.CORRECTNESS, Verdict.SKIPPED), check(Kind.SPEED, Verdict.FAILED)
    assert verdict([passed]) is Verdict.PASSED
    assert verdict([passed, skipped]) is Verdict.PASSED
    assert verdict([passed, slow]) is Verdict.PASSED
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
