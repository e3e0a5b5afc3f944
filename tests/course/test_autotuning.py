"""Exercise 7: which tuning spaces are good, what is wrong with others, and that the solution's can be run."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import tlpuzzles_solutions
from tests import tracing
from tlpuzzles.course.autotuning import EXERCISE
from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, Of, named
from tlpuzzles.course.legality import why_refused
from tlpuzzles.course.tuning_bytes import smem_bytes, tiles
from tlpuzzles.course.tuning_space import a_gpu
from tlpuzzles.device.limits import ARCHITECTURES, Architecture

CHECKS = {check.id: check for check in EXERCISE.functions}
OF_THE_LIST = ["configs-form", "configs-count", "configs-vary", "configs-legal", "configs-small-problem"]
SEEDS = range(100)


def config(block_M: int = 64, block_N: int = 64, block_K: int = 32, num_stages: int = 2, threads: int = 128) -> Any:
    return {
        "block_M": block_M,
        "block_N": block_N,
        "block_K": block_K,
        "num_stages": num_stages,
        "threads": threads,
    }


GOOD = [config(), config(block_M=128), config(block_K=64), config(block_M=128, block_N=128, threads=256)]


def judged(check: FunctionCheck, lists: Sequence[Any]) -> Fault | None:
    """What is said of answers to the check's calls: the lists in turn, the last for all that are left."""
    calls = check.calls(random.Random(1))
    values = [lists[min(i, len(lists) - 1)] for i in range(len(calls))]
    return check.judge(calls, [Answer(told(call, value)) for call, value in zip(calls, values, strict=True)])


PARAMETERS = [*"MNK", "block_M", "block_N", "block_K", "num_stages", "threads", "panel", "dtype", "accum_dtype"]


def told(call: Call, value: Any) -> Any:
    """The answer to a call about a list of configs, as the caller's process gives it."""
    if call.of is Of.TUNING_SPACE:
        return {"autotuned": True, "decorated": True, "configs": value}
    return {"value": value, "parameters": PARAMETERS} if call.beside else value


@pytest.mark.parametrize("check", [*OF_THE_LIST, "tuning-space"])
def test_a_short_list_for_every_gpu_is_right(check: str) -> None:
    assert judged(CHECKS[check], [GOOD]) is None


@pytest.mark.parametrize(
    ("check", "configs", "mistake"),
    [
        ("configs-form", None, "not-a-list"),
        ("configs-form", {"block_M": [64, 128]}, "not-a-list"),
        ("configs-form", [], "nothing-to-try"),
        ("configs-form", [*GOOD, [64, 64, 32, 2, 128]], "tuples-not-dicts"),
        ("configs-form", [*GOOD, "64x64"], "not-dicts"),
        ("configs-form", [{"block_X": 64, **{k: v for k, v in config().items() if k != "block_M"}}], "unknown-key"),
        ("configs-form", [{"block_M": 64}], "missing-key"),
        ("configs-form", [{**config(), "accum_dtype": "float16"}], "changes-the-result"),
        ("configs-form", [{**config(), "K": 64}], "sizes-in-config"),
        ("configs-form", [{**config(), "pass_configs": {}}], "pass-configs-in-config"),
        ("configs-form", [*GOOD, {**config(), "use_swizzle": True}], "no-parameter"),
        ("configs-form", [config(num_stages=-1)], "not-a-number"),
        ("configs-form", [{**config(), "threads": True}], "not-a-number"),
        ("configs-form", [{**config(), "threads": 128.0}], "not-a-number"),
        ("configs-count", GOOD[:1], "one-config"),
        ("configs-count", GOOD[:3], "too-few"),
        ("configs-count", [*GOOD, dict(reversed(GOOD[0].items()))], "listed-twice"),
        ("configs-count", [config(block_K=16 * n) for n in range(1, 26)], "too-many"),
        ("configs-vary", [config(block_M=m, num_stages=s) for m in (64, 128) for s in (2, 3)], "too-alike"),
        ("configs-small-problem", [config(block_M=128)], "tiles-too-large"),
        ("configs-small-problem", [config(block_N=256)], "tiles-too-large"),
    ],
)
def test_a_bad_list_is_told_what_is_bad_about_it(check: str, configs: Any, mistake: str) -> None:
    fault = judged(CHECKS[check], [configs])

    assert fault is not None
    assert fault.mistake == mistake


@pytest.mark.parametrize("check", OF_THE_LIST)
def test_a_list_that_cannot_be_read_is_no_error_of_ours(check: str) -> None:
    for answer in (None, 7, "configs", {}, [None], [[]], [{}], [{"block_M": "64"}]):
        assert judged(CHECKS[check], [answer]) is not None


def test_further_tunables_are_the_learners_own_affair() -> None:
    own = [{**each, "panel": panel} for each in GOOD for panel in (0, 8)]

    assert [judged(CHECKS[check], [own]) for check in OF_THE_LIST] == [None] * len(OF_THE_LIST)


def _lists(*largest: dict[str, int]) -> list[Any]:
    """A list for each GPU with a config of its own, T4, A100, L4 and H100 in turn."""
    return [[*GOOD, one] for one in largest]


@pytest.mark.parametrize(
    ("lists", "mistake"),
    [
        (_lists(config(64, 64), config(128, 256, 64, 3), config(128, 256, 64, 2), config(128, 256, 64, 4, 256)), None),
        (_lists(config(128, 256, 64, 2, 256)), "one-list-for-all"),
        (_lists(config(128, 128, 64, 4), config(128, 256, 64, 4), config(), config(64, 64, 64)), "bytes-forgotten"),
        (_lists(config(128, 128, 128, 5), config(128, 256, 128, 8), config(), config()), "stages-forgotten"),
        (_lists(config(256, 256, 128, 1, 512), config(), config(), config(64, 64, 64)), "bytes-forgotten"),
        (_lists(config(), config(), config(), config(256, 256, 512, 1, 512)), "over-the-limit"),
        (_lists(config(), config(16, 16, threads=256), config(), config(64, 64, 64)), "no-warp-partition"),
        (_lists(config(), config(), config(), config(threads=96)), "no-warp-partition"),
    ],
)
def test_each_gpu_is_asked_for_what_it_can_run(lists: Sequence[Any], mistake: str | None) -> None:
    fault = judged(CHECKS["configs-legal"], lists)

    assert (None if fault is None else fault.mistake) == mistake


def test_a_gpu_for_which_nothing_is_listed_is_named() -> None:
    fault = judged(CHECKS["configs-legal"], [GOOD, GOOD, [], GOOD])

    assert fault is not None
    assert "L4" in fault.message


@pytest.mark.parametrize(
    ("answers", "mistake"),
    [
        ([GOOD, GOOD, GOOD, GOOD[:2], GOOD[:2]], None),
        ([GOOD, GOOD, GOOD, GOOD[:2], GOOD], "called-at-import"),
        ([GOOD, GOOD, GOOD[:2], GOOD[:2], GOOD[:2]], "called-at-import"),
        ([GOOD, GOOD[::-1], GOOD, GOOD, GOOD], "not-the-same-twice"),
        ([GOOD, GOOD, GOOD[1:], GOOD, GOOD[1:]], "another-space"),
        ([GOOD, GOOD, None, GOOD, None], "another-space"),
    ],
)
def test_autotune_must_try_what_is_listed(answers: Sequence[Any], mistake: str | None) -> None:
    fault = judged(CHECKS["tuning-space"], answers)

    assert (None if fault is None else fault.mistake) == mistake


@pytest.mark.parametrize(
    ("decorated", "says"),
    [
        (True, "tuned_matmul has @tilelang.jit, but no @tilelang.autotune above it."),
        (False, "tuned_matmul has neither @tilelang.jit nor @tilelang.autotune above it."),
    ],
)
def test_a_missing_decorator_is_named(decorated: bool, says: str) -> None:
    calls = CHECKS["tuning-space"].calls(random.Random(1))
    nothing = {"autotuned": False, "decorated": decorated, "configs": None}

    fault = CHECKS["tuning-space"].judge(
        calls, [Answer(nothing if call.of is Of.TUNING_SPACE else GOOD) for call in calls]
    )

    assert fault is not None
    assert fault.message.startswith(says)
    assert (fault.mistake, fault.hint) == ("not-autotuned", 3)


def test_a_key_that_the_factory_does_not_take_is_named_with_what_to_do() -> None:
    fault = judged(CHECKS["configs-form"], [[GOOD[0], {**config(), "use_swizzle": True}]])

    assert fault is not None
    assert fault.message == (
        "Config 1 sets use_swizzle, but tuned_matmul has no such parameter: add it there, or leave it out here."
    )


def test_a_factory_that_takes_anything_takes_every_key() -> None:
    calls = CHECKS["configs-form"].calls(random.Random(1))
    own = {"value": [{**config(), "use_swizzle": True}], "parameters": None}

    assert CHECKS["configs-form"].judge(calls, [Answer(own)] * len(calls)) is None


def test_gpus_are_named_as_one_says_it() -> None:
    assert [a_gpu(gpu) for gpu in ARCHITECTURES] == ["a T4", "an A100", "an L4", "an H100 or H200"]


BYTES = [check for check in EXERCISE.functions if check.id.startswith("smem-")]


@pytest.mark.parametrize("check", BYTES, ids=lambda check: check.id)
def test_bytes_are_right_or_the_error_is_named(check: FunctionCheck) -> None:
    for seed in SEEDS:
        calls = check.calls(random.Random(seed))
        assert check.judge(calls, [Answer(smem_bytes(**call.arguments)) for call in calls]) is None
        assert check.judge(calls, [Answer(float(smem_bytes(**call.arguments))) for call in calls]) is None
        for mistake in check.mistakes:
            answers = [Answer(mistake.compute(**call.arguments)) for call in calls]
            fault = check.judge(calls, answers)
            if fault is not None:
                assert named(check, fault, calls, answers).mistake == mistake.id, (seed, mistake.id)


def test_every_error_in_the_bytes_is_found_by_a_check_that_names_it() -> None:
    for mistake in {mistake.id: mistake for check in BYTES for mistake in check.mistakes}.values():
        found = set()
        for check in BYTES:
            calls = check.calls(random.Random(3))
            answers = [Answer(mistake.compute(**call.arguments)) for call in calls]
            fault = check.judge(calls, answers)
            found.add(None if fault is None else named(check, fault, calls, answers).mistake)
        assert mistake.id in found, mistake.id


def test_bytes_are_asked_for_with_and_without_stages_and_with_a_large_c() -> None:
    for seed in SEEDS:
        calls = {check.id: check.calls(random.Random(seed)) for check in BYTES}
        assert {call.arguments["num_stages"] for call in calls["smem-no-stages"]} == {0}
        assert {call.arguments["num_stages"] for call in calls["smem-large-c"]} == {0, 1, 2, 3}
        assert min(call.arguments["num_stages"] for call in calls["smem-bytes"]) == 1
        for call in calls["smem-large-c"]:
            assert tiles(**call.arguments) < smem_bytes(**call.arguments)


def test_autotune_is_asked_for_the_problems_that_configs_is_asked_for() -> None:
    calls = CHECKS["tuning-space"].calls(random.Random(2))

    assert [call.of for call in calls] == [Of.CALL, Of.CALL, Of.TUNING_SPACE, Of.CALL, Of.TUNING_SPACE]
    assert calls[0].arguments == calls[1].arguments == calls[2].arguments
    assert calls[3].arguments == calls[4].arguments


def _asked() -> Iterator[Call]:
    for seed in SEEDS:
        for check in EXERCISE.functions:
            if check not in BYTES:
                yield from check.calls(random.Random(seed))


def test_problems_keep_their_meaning_whatever_is_drawn() -> None:
    for call in _asked():
        M, N, K = (call.arguments[name] for name in "MNK")
        assert len({M, N, K}) == 3
        small = M < 64
        # A tile of 64 x 128, as the usual lists have it, covers a small problem and is not mostly empty.
        assert (64 < 2 * M < 128 < 2 * N < 256) if small else min(M, N, K) >= 1024


def test_schedules_to_grade_are_those_that_can_be_traced() -> None:
    proposed = EXERCISE.proposed
    assert proposed is not None

    def read(value: Any) -> list[Any]:
        return list(proposed.read(Answer({"value": value, "parameters": PARAMETERS})))

    assert read([GOOD[0], None, {"block_M": 64}, GOOD[0], GOOD[1], [1], {**config(), "use_swizzle": True}]) == GOOD[:2]
    assert read("GOOD") == []
    for forged in (None, 7, [], GOOD, {}, {"value": 7}, {"value": GOOD, "parameters": 7}):
        assert len(proposed.read(Answer(forged))) <= len(GOOD)
    assert len(read([config(block_K=n) for n in range(1, 100)])) <= 24


def test_the_file_can_be_tried_on_a_machine_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    source = tlpuzzles_solutions.path("autotuning").read_text("utf-8")
    scope: dict[str, Any] = {"__name__": "solution"}
    exec(source.partition("@tilelang.autotune")[0], scope)

    assert scope["smem_limit"]() == 64 * 1024
    assert scope["configs"](4096, 4096, 4096)


@pytest.mark.slow
@pytest.mark.parametrize("gpu", ARCHITECTURES, ids=lambda gpu: gpu.name)
def test_all_that_the_solution_lists_compiles_and_fits(gpu: Architecture, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from tlpuzzles.border.stand_ins import CAPABILITIES
    from tlpuzzles.device.cuda.lower import lower
    from tlpuzzles.device.cuda.model import LowerOutcome

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: CAPABILITIES[gpu.name])
    source = tlpuzzles_solutions.path("autotuning").read_text("utf-8")
    scope: dict[str, Any] = {"__name__": "solution"}
    exec(source.partition("@tilelang.autotune")[0], scope)
    sizes = {"M": 2048, "N": 2048, "K": 2048}
    configs = scope["configs"](**sizes)

    assert configs
    for each in configs:
        assert why_refused(each, gpu) is None
        lowered = lower(tracing.document(source, "tuned_matmul", **sizes, **each), {}, gpu.name)
        assert lowered.outcome is LowerOutcome.COMPILES, (each, lowered.explanation)
        (launch,) = lowered.launches
        tile = {name: each[name] for name in ("block_M", "block_N", "block_K", "num_stages")}
        assert launch.dynamic_shared == scope["smem_bytes"](**tile)
