from __future__ import annotations

from dataclasses import replace

import pytest

from tlpuzzles.course import catalog
from tlpuzzles.course.functions import Answer
from tlpuzzles.course.vocabulary import Case, Runs, Sizes
from tlpuzzles.grading import proposals
from tlpuzzles.grading.plan import UnknownCase, draw, names, new_seed, plan

CASES = (
    Case("small", "small", lambda rng: {"N": rng.randint(2, 10**9)}),
    Case("wave", "larger than a wave", lambda rng: {"N": rng.randint(2, 10**9)}, runs=Runs.ON_CUDA),
)
EXERCISE = replace(catalog.find("1"), cases=CASES, timings=())
GEMM = catalog.find("2")
SMALL, LARGE = "speed-4096", "speed-8192"
SCHEDULE = {"block_M": 128, "block_N": 128, "block_K": 32, "num_stages": 2, "threads": 128, "use_swizzle": False}


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
    assert len({new_seed(b"the same file") for _ in range(20)}) == 20


def test_the_same_file_gets_the_same_sizes_and_another_file_others() -> None:
    """What was compiled for them serves again. Inputs, which all of the seed draws, are new each time."""

    def sizes(content: bytes) -> list[Sizes]:
        return [problem.sizes for problem in plan(EXERCISE, new_seed(content), on_cuda=True).problems]

    assert sizes(b"a file") == sizes(b"a file")
    assert sizes(b"a file") != sizes(b"another")


def test_a_seed_can_be_typed_in_again() -> None:
    seeds = [new_seed(str(number).encode()) for number in range(200)]

    assert all(0 <= seed < 10**10 for seed in seeds)


def test_schedules_follow_the_file_as_its_sizes_do() -> None:
    sweep = catalog.find("3")
    assert sweep.proposed is not None
    answer = Answer([{**SCHEDULE, "block_K": 16 * k} for k in range(1, 20)])
    first, again, other = (proposals.read(sweep, answer, seed) for seed in (12_00077, 98_00077, 12_00078))

    assert len(first) == sweep.proposed.sample
    assert first == again
    assert first != other


def test_timed_kernels_are_kernels_of_their_own_and_no_cases() -> None:
    posed = plan(GEMM, 7, on_cuda=True)

    assert [problem.case.id for problem in posed.timed] == [SMALL, LARGE]
    assert posed.timed[0].sizes == {"M": 4096, "N": 4096, "K": 4096}
    assert [problem.case.id for problem in posed.kernels][-2:] == [SMALL, LARGE]
    assert not {SMALL, LARGE} & {problem.case.id for problem in posed.problems}


def test_no_seed_moves_what_is_timed() -> None:
    """Marks are kept for those sizes."""
    for exercise in catalog.exercises():
        winner = None if exercise.proposed is None else SCHEDULE
        first, other = (plan(exercise, seed, on_cuda=True, winner=winner).timed for seed in (1, 2))
        assert first == other
        assert len(first) == len(exercise.timings)


def test_nothing_is_timed_without_a_gpu_or_if_not_asked() -> None:
    for posed in (plan(GEMM, 7, on_cuda=False), plan(GEMM, 7, on_cuda=True, speed=False)):
        assert posed.timed == ()
        assert not {SMALL, LARGE} & {problem.case.id for problem in posed.kernels}


@pytest.mark.parametrize(("only", "cases"), [("speed", [SMALL, LARGE]), (LARGE, [LARGE]), ("ragged", [])])
def test_what_is_timed_can_be_asked_for_alone(only: str, cases: list[str]) -> None:
    posed = plan(GEMM, 7, on_cuda=True, only=only)

    assert [problem.case.id for problem in posed.timed] == cases
    assert [problem.case.id for problem in posed.problems] == [only] * (not cases)
    assert posed.timed == tuple(p for p in plan(GEMM, 7, on_cuda=True).timed if p.case.id in cases)


def test_names_that_can_be_asked_for_are_each_listed_once() -> None:
    for exercise in catalog.exercises():
        listed = names(exercise)
        assert len(listed) == len(set(listed))
        assert ("speed" in listed) == bool(exercise.timings)
        assert {timing.case.id for timing in exercise.timings} <= set(listed)


def test_speed_of_an_exercise_that_is_not_timed_is_unknown() -> None:
    with pytest.raises(UnknownCase):
        plan(catalog.find("8"), 7, on_cuda=True, only="speed")


@pytest.mark.parametrize("number", ["3", "7"])
def test_of_proposed_schedules_the_winner_is_timed(number: str) -> None:
    exercise = catalog.find(number)

    assert plan(exercise, 7, on_cuda=True).timed == ()
    (timed,) = plan(exercise, 7, on_cuda=True, winner=SCHEDULE).timed
    assert timed.case.id == "speed"
    assert timed.case.schedule == SCHEDULE
    assert timed.arguments.items() >= {**SCHEDULE, **timed.sizes}.items()
    assert plan(exercise, 7, on_cuda=True, only="speed", winner=SCHEDULE).problems == ()


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
