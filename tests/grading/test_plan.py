from __future__ import annotations

from dataclasses import replace

import pytest

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Case, Runs
from tlpuzzles.grading import proposals
from tlpuzzles.grading.plan import UnknownCase, draw, new_seed, plan

CASES = (
    Case("small", "small", lambda rng: {"N": rng.randint(2, 10**9)}),
    Case("wave", "larger than a wave", lambda rng: {"N": rng.randint(2, 10**9)}, runs=Runs.ON_CUDA),
)
EXERCISE = replace(catalog.find("1"), cases=CASES)


def test_a_seed_draws_the_same_problems_again() -> None:
    first, again = plan(EXERCISE, 7, on_cuda=True), plan(EXERCISE, 7, on_cuda=True)
    assert first == again
    assert first.problems[0].sizes != plan(EXERCISE, 8, on_cuda=True).problems[0].sizes


def test_one_case_alone_is_drawn_as_among_all() -> None:
    alone = plan(EXERCISE, 7, on_cuda=True, only="wave")
    assert [p.sizes for p in alone.problems] == [draw(EXERCISE, CASES[1], 7)]
    assert [case.id for case, _ in alone.left_out] == ["small"]


def test_a_case_for_a_gpu_is_left_out_without_one() -> None:
    on_cpu = plan(EXERCISE, 7, on_cuda=False)
    assert [p.case.id for p in on_cpu.problems] == ["small"]
    assert on_cpu.left_out == ((CASES[1], "needs a GPU"),)


def test_an_unknown_case_is_named_with_those_that_exist() -> None:
    with pytest.raises(UnknownCase, match=r"no case 'smal'. It has: small, wave"):
        plan(EXERCISE, 7, on_cuda=False, only="smal")


def test_seeds_differ() -> None:
    assert len({new_seed() for _ in range(20)}) == 20


def test_cases_that_draw_alike_share_sizes_and_kernel() -> None:
    sizes = CASES[0].sizes
    alike = replace(EXERCISE, cases=(*CASES, Case("other inputs", "", sizes), Case("half", "", sizes, dtype="float32")))
    drawn = plan(alike, 7, on_cuda=True)
    assert [p.kernel for p in drawn.problems] == ["small", "wave", "small", "half"]
    assert [p.case.id for p in drawn.kernels] == ["small", "wave", "half"]
    assert drawn.problems[3].sizes == drawn.problems[0].sizes


def test_schedules_are_graded_on_the_problem_that_they_were_asked_for() -> None:
    sweep = catalog.find("3")
    assert sweep.proposed is not None
    asked = draw(sweep, sweep.case(sweep.proposed.case), 7)
    with_cases = proposals.with_cases(sweep, [{"block_M": 64}, {"block_M": 128}])

    posed = plan(with_cases, 7, on_cuda=False)

    assert [problem.case.id for problem in posed.problems] == [f"{sweep.proposed.case}-{n}" for n in (1, 2)]
    assert {tuple(problem.sizes.items()) for problem in posed.problems} == {tuple(asked.items())}
    assert [problem.arguments["block_M"] for problem in posed.problems] == [64, 128]
    assert [p.case.id for p in plan(with_cases, 7, on_cuda=False, only=sweep.proposed.case).problems] != []


def test_schedules_that_are_not_there_are_left_out_with_the_reason() -> None:
    sweep = catalog.find("3")
    assert sweep.proposed is not None
    posed = plan(sweep, 7, on_cuda=False, withheld={sweep.proposed.case: "there are none"})

    assert posed.problems == ()
    assert [reason for _, reason in posed.left_out] == ["there are none"]
