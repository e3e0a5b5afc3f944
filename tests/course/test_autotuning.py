"""Exercise 7: which tuning spaces are good, what is wrong with others, and that the solution's can be run."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import tlpuzzles_solutions
from tests import tracing
from tlpuzzles.course.autotuning import EXERCISE
from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, Of
from tlpuzzles.course.legality import why_refused
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
    return check.judge(calls, [Answer(lists[min(i, len(lists) - 1)]) for i in range(len(calls))])


@pytest.mark.parametrize("check", CHECKS)
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


def test_autotune_is_asked_for_the_problems_that_configs_is_asked_for() -> None:
    calls = CHECKS["tuning-space"].calls(random.Random(2))

    assert [call.of for call in calls] == [Of.CALL, Of.CALL, Of.TUNING_SPACE, Of.CALL, Of.TUNING_SPACE]
    assert calls[0].arguments == calls[1].arguments == calls[2].arguments
    assert calls[3].arguments == calls[4].arguments


def _asked() -> Iterator[Call]:
    for seed in SEEDS:
        for check in EXERCISE.functions:
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

    assert list(proposed.read(Answer([GOOD[0], None, {"block_M": 64}, GOOD[0], GOOD[1], [1]]))) == GOOD[:2]
    assert list(proposed.read(Answer("GOOD"))) == []
    assert len(proposed.read(Answer([config(block_K=n) for n in range(1, 100)]))) <= 24


@pytest.mark.slow
@pytest.mark.parametrize("gpu", ARCHITECTURES, ids=lambda gpu: gpu.name)
def test_all_that_the_solution_lists_compiles_and_fits(gpu: Architecture, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from tlpuzzles.border.stand_ins import CAPABILITIES
    from tlpuzzles.device.cuda.lower import lower
    from tlpuzzles.device.cuda.model import LowerOutcome

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
