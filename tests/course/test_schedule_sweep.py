"""Exercise 3: what its checks ask for is what they say, and each typical error is told from a right answer."""

from __future__ import annotations

import importlib.util
import json
import math
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tlpuzzles_solutions
from tests.mutants.mutant import right, wrong
from tlpuzzles.border import playing
from tlpuzzles.border.caller import plain
from tlpuzzles.course import sweeps
from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, Measure, named, same
from tlpuzzles.course.legality import smem_bytes, why_refused
from tlpuzzles.course.schedule_sweep import EXERCISE
from tlpuzzles.device.limits import ARCHITECTURES, T4
from tlpuzzles.verdict.model import Kind
from tlpuzzles.workspace.folders import shipped
from tlpuzzles.workspace.hints import split_hints

SEEDS = range(20)
CHECKS = {check.id: check for check in EXERCISE.functions}
PROPOSED = EXERCISE.proposed
WRONG_FUNCTIONS = [mutant for mutant in wrong("schedule_sweep") if mutant.kind is Kind.FUNCTION]

each_check = pytest.mark.parametrize("check", EXERCISE.functions, ids=CHECKS)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ModuleType]:
    """Imports a source text as a module."""
    folder = tmp_path_factory.mktemp("files")
    number = iter(range(10_000))

    def load(source: str) -> ModuleType:
        path = folder / f"learners_{next(number)}.py"
        path.write_text(source, "utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="module")
def solution(loaded: Callable[[str], ModuleType]) -> ModuleType:
    return loaded(tlpuzzles_solutions.path("schedule_sweep").read_text("utf-8"))


def answered(module: ModuleType, call: Call) -> Answer:
    """What the caller's process sends back for a call."""
    sent = json.loads(json.dumps(call.to_json()))
    uses: list[Any] = []
    arguments = {name: playing.build(value, uses) for name, value in sent["arguments"].items()}
    value = getattr(module, sent["function"])(**arguments)
    return Answer(json.loads(json.dumps(plain(value, call.function))), tuple(uses))


def judged(check: FunctionCheck, module: ModuleType, seed: int) -> Fault | None:
    calls = check.calls(random.Random(seed))
    answers = [answered(module, call) for call in calls]
    fault = check.judge(calls, answers)
    return None if fault is None else named(check, fault, calls, answers)


@each_check
def test_solution_is_right_whatever_is_drawn(check: FunctionCheck, solution: ModuleType) -> None:
    for seed in SEEDS:
        assert judged(check, solution, seed) is None


@each_check
@pytest.mark.parametrize("path", right("schedule_sweep"), ids=lambda path: path.stem)
def test_other_ways_are_right(check: FunctionCheck, path: Path, loaded: Callable[[str], ModuleType]) -> None:
    module = loaded(path.read_text("utf-8"))

    for seed in range(5):
        assert judged(check, module, seed) is None


FROM_HINTS = """

def candidates(M, N, K, smem_limit):
    found = []
    for block_M, block_N, block_K, threads in {tiles}:
        if (block_M > M or block_N > N) and (block_M, block_N) != (64, 64):
            continue
        for num_stages, use_swizzle in {pairs}:
            if smem_bytes(block_M, block_N, block_K, num_stages) <= smem_limit:
                found.append(dict(block_M=block_M, block_N=block_N, block_K=block_K,
                                  num_stages=num_stages, threads=threads, use_swizzle=use_swizzle))
    return found
"""


def test_the_list_that_the_hints_lead_to_is_right(loaded: Callable[[str], ModuleType]) -> None:
    """Those who write down no more than the third hint names."""
    hint = " ".join(split_hints(shipped(EXERCISE).hints(EXERCISE).read_text("utf-8"))[2].split())
    tiles = re.findall(r"\(\d+, \d+, \d+, \d+\)", hint)
    pairs = re.findall(r"\(\d, (?:True|False)\)", hint)
    assert tiles
    assert pairs
    text = FROM_HINTS.format(tiles=f"[{', '.join(tiles)}]", pairs=f"[{', '.join(pairs)}]")
    module = loaded(tlpuzzles_solutions.path("schedule_sweep").read_text("utf-8") + text)

    for check in CHECKS.values():
        for seed in SEEDS:
            assert judged(check, module, seed) is None


@pytest.mark.parametrize("mutant", WRONG_FUNCTIONS, ids=lambda mutant: mutant.id)
def test_wrong_functions_are_found_and_named_whatever_is_drawn(
    mutant: Any, loaded: Callable[[str], ModuleType]
) -> None:
    module = loaded(mutant.source("schedule_sweep"))

    for seed in range(5):
        try:
            fault = judged(CHECKS[mutant.check], module, seed)
        except (RuntimeError, TypeError, IndexError):
            assert mutant.mistake is None
            continue
        assert fault is not None
        assert fault.mistake == (mutant.mistake or fault.mistake)
        assert len(fault.message) < 700


@each_check
def test_a_mistake_differs_from_a_right_answer(check: FunctionCheck, solution: ModuleType) -> None:
    for seed in SEEDS:
        calls = check.calls(random.Random(seed))
        for mistake in check.mistakes:
            values = [mistake.compute(**call.arguments) for call in calls]
            assert not all(
                same(answered(solution, call).value, value) for call, value in zip(calls, values, strict=True)
            )


def test_mistakes_in_counting_differ_from_each_other() -> None:
    """Whole KiB and KiB are one error, told by two values."""
    for check in (CHECKS["smem-bytes"], CHECKS["smem-no-stages"]):
        for seed in SEEDS:
            calls = check.calls(random.Random(seed))
            values = {m.id: tuple(m.compute(**call.arguments) for call in calls) for m in check.mistakes}
            values.pop("whole-kib-for-bytes")
            assert len(set(values.values())) == len(values)


def test_counting_is_asked_for_with_different_sides_stages_and_widths() -> None:
    for seed in SEEDS:
        calls = CHECKS["smem-bytes"].calls(random.Random(seed))
        for call in calls:
            assert len({call.arguments[side] for side in ("block_M", "block_N", "block_K")}) == 3
        assert {call.arguments.get("itemsize") for call in calls} >= {None, 1, 2, 4}
        assert all(call.arguments["num_stages"] >= 1 for call in calls)
        assert all(call.arguments["num_stages"] == 0 for call in CHECKS["smem-no-stages"].calls(random.Random(seed)))


def test_candidates_are_asked_for_on_every_gpu_and_for_large_and_small_problems() -> None:
    for seed in SEEDS:
        calls = CHECKS["candidates-fit"].calls(random.Random(seed))
        sizes = [[call.arguments[side] for side in "MNK"] for call in calls]
        assert {(call.arch, call.arguments["smem_limit"]) for call in calls} == {
            (gpu.name, gpu.shared_bytes) for gpu in ARCHITECTURES
        }
        assert min(map(max, sizes)) <= 128
        assert max(map(min, sizes)) >= 2048


def test_a_large_tile_is_asked_for_where_the_problem_is_large_and_nowhere_else(solution: ModuleType) -> None:
    check = CHECKS["candidates-large"]
    for seed in SEEDS:
        calls = check.calls(random.Random(seed))
        assert {call.arch for call in calls} == {gpu.name for gpu in ARCHITECTURES}
        assert min(call.arguments[side] for call in calls for side in "MNK") >= 4096
    large = {"block_M": 128, "block_N": 128, "block_K": 32, "num_stages": 2, "threads": 128, "use_swizzle": True}
    small = {**large, "block_M": 64}
    # It fits on every GPU, so that nobody is asked for what cannot run.
    assert all(why_refused(large, gpu) is None for gpu in ARCHITECTURES)
    for one in (large, {**small, "block_N": 256}):
        assert check.judge(calls, [Answer([small, one])] * len(calls)) is None
    fault = check.judge(calls, [*[Answer([small, large])] * 3, Answer([small, {**large, "block_N": 64}])])
    assert fault is not None
    assert "64 x 128" in fault.message
    assert fault.mistake == "small-tiles-only"


def test_every_sweep_has_a_right_answer_that_no_place_in_the_list_gives() -> None:
    for seed in SEEDS:
        calls = CHECKS["sweep-best"].calls(random.Random(seed))
        places = [_fastest_place(call) for call in calls]
        assert places[1] == 0
        assert places[2] == 6
        assert {places[0], places[3]} <= {1, 2, 3, 4, 5}


def _fastest_place(call: Call) -> int:
    times = [time for _, time in _measure(call).times]
    return times.index(min(times, key=lambda time: math.inf if time is None else time))


def _measure(call: Call) -> Measure:
    measure = call.arguments["measure"]
    assert isinstance(measure, Measure)
    return measure


def test_failures_come_first_last_and_in_between_of_both_kinds() -> None:
    for seed in SEEDS:
        times = [
            [time for _, time in _measure(call).times] for call in CHECKS["sweep-survives"].calls(random.Random(seed))
        ]
        for place in (0, -1):
            kinds = {"raises" if row[place] is None else "nan" if math.isnan(row[place]) else "time" for row in times}
            assert kinds >= {"raises", "nan"}
        assert all(any(time is not None and not math.isnan(time) for time in row) for row in times)


def test_equal_times_may_come_in_any_order() -> None:
    (call, *_) = CHECKS["sweep-table"].calls(random.Random(1))
    schedules = [dict(schedule) for schedule, _ in _measure(call).times]
    table = sorted(([time, schedule] for schedule, time in _measure(call).times), key=lambda row: row[0])
    times = [row[0] for row in table]
    tied = next(i for i in range(len(times) - 1) if times[i] == times[i + 1])
    table[tied], table[tied + 1] = table[tied + 1], table[tied]

    assert CHECKS["sweep-table"].judge([call], [Answer([table[0][1], table], tuple(schedules))]) is None


def test_a_schedule_that_was_never_measured_is_missed() -> None:
    (call, *_) = CHECKS["sweep-table"].calls(random.Random(1))
    table = sorted(([time, schedule] for schedule, time in _measure(call).times), key=lambda row: row[0])

    fault = CHECKS["sweep-table"].judge([call], [Answer([table[0][1], table], ())])

    assert fault is not None
    assert "never measured" in fault.message


@pytest.mark.parametrize("value", [None, 7, [], ["x"], [[128, 128, 32, 3, 128, True]], [{"block_M": 128}], [{}]])
def test_what_is_no_list_of_schedules_fails_every_check_and_is_not_read(value: object) -> None:
    assert PROPOSED is not None
    for id_ in (id_ for id_ in CHECKS if id_.startswith("candidates-")):
        calls = CHECKS[id_].calls(random.Random(1))
        assert CHECKS[id_].judge(calls, [Answer(value)] * len(calls)) is not None
    assert PROPOSED.read(Answer(value)) == []


@pytest.mark.parametrize(
    "value", [None, 3.0, [], [None], [1.0, []], [{}, [], 3], [{}, 3], [{}, [3]], [{}, [[1.0, 2.0, 3.0]]]]
)
def test_what_is_no_answer_of_a_sweep_is_said(value: object) -> None:
    for id_ in ("sweep-best", "sweep-table", "sweep-survives", "sweep-none"):
        calls = CHECKS[id_].calls(random.Random(1))
        assert CHECKS[id_].judge(calls, [Answer(value)] * len(calls)) is not None


def test_schedules_that_can_be_traced_are_read(solution: ModuleType) -> None:
    assert PROPOSED is not None
    call = PROPOSED.ask({"M": 500, "N": 600, "K": 700}, T4)
    answer = answered(solution, call)
    broken = Answer([*answer.value, {"block_M": 3}, answer.value[0], "x"])

    assert call.arguments == {"M": 500, "N": 600, "K": 700, "smem_limit": 65_536}
    assert PROPOSED.read(broken) == answer.value
    assert len(answer.value) >= 8
    assert len(PROPOSED.read(Answer([{**answer.value[0], "block_M": 16 * n} for n in range(1, 100)]))) == 32


def test_the_winner_of_measured_times_must_be_the_fastest(solution: ModuleType) -> None:
    assert PROPOSED is not None
    assert PROPOSED.choose is not None
    schedules = [{"block_M": 64}, {"block_M": 128}, {"block_M": 256}]
    measure = Measure(tuple(zip(schedules, (math.nan, 2.0, 3.0), strict=True)))
    call = PROPOSED.choose(schedules, measure)

    assert sweeps.chosen(schedules, measure, answered(solution, call)) is None
    for best in (schedules[0], schedules[2], None, {"block_M": 32}, 2.0):
        assert sweeps.chosen(schedules, measure, Answer([best, []])) is not None


def test_the_solution_proposes_a_sweep_of_a_sensible_length(solution: ModuleType) -> None:
    assert PROPOSED is not None
    for gpu in ARCHITECTURES:
        assert 10 <= len(PROPOSED.read(answered(solution, PROPOSED.ask(PROPOSED.tuned_sizes, gpu)))) <= 24


def test_sizes_are_ragged_small_and_never_give_a_square_grid() -> None:
    (case,) = EXERCISE.cases
    for sizes in (case.sizes(random.Random(seed)) for seed in range(200)):
        assert sizes["M"] % 2
        assert {sizes["N"] % 16, sizes["K"] % 16} == {8}
        assert sizes["M"] * sizes["N"] * sizes["K"] < 40e6
        for high, wide in _pairs((64, 128, 256)):
            assert -(-sizes["M"] // high) != -(-sizes["N"] // wide)


def _pairs(sides: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    return ((high, wide) for high in sides for wide in sides)


def test_solution_counts_as_the_grader_does(solution: ModuleType) -> None:
    for arguments in ((128, 128, 32, 3), (64, 32, 16, 0), (128, 256, 64, 4, 4), (16, 8, 8, 1, 1)):
        assert solution.smem_bytes(*arguments) == smem_bytes(*arguments)
