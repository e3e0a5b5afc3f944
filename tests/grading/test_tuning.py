"""Choosing the fastest schedule: everything is real but the GPU, which is played."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import tlpuzzles_solutions
from tests.mutants.mutant import wrong
from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.course import catalog
from tlpuzzles.course.schedules import AGAIN, WINNER
from tlpuzzles.device.limits import H100
from tlpuzzles.grading import ahead, caches, submission, tracing, tuning
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.verdict.model import Check, Verdict

SECONDS = 60.0
LISTED = {"block_M": 128, "block_N": 128, "block_K": 64, "num_stages": 2, "threads": 128}
"""A configuration that the solution of exercise 7 lists for an H100."""


@dataclass
class Played:
    """A warm process whose children that need a GPU say what they are told to."""

    warm: Warm
    slowness: Callable[[str], float] = lambda key: 1.0 + int(key)
    """Milliseconds by key."""
    tuned: Mapping[str, Any] = field(default_factory=dict)
    """What the autotuner's process says."""
    takes: list[float] = field(default_factory=list)
    """Seconds that each tuning takes."""
    kept: list[Path] = field(default_factory=list)
    """Where the autotuner's results are that a tuning finds."""
    keeps: bool = True
    """Whether it keeps its own."""
    ahead: list[int] = field(default_factory=list)
    """How many kernels each tuning was to compile at a time, before."""
    shares: list[tuple[list[int], int]] = field(default_factory=list)
    """The shares that were compiled before, each with how many at a time."""
    of_share: Report = field(default_factory=lambda: _report({"kind": "loaded"}))
    measured: list[Mapping[str, Any]] = field(default_factory=list)

    def run(self, role: str, job: Mapping[str, Any], limits: Limits, folder: Path, **options: Any) -> Report:
        if role == "measure":
            self.measured.append(job)
            times = {key: self.slowness(key) for key in job["kernels"]}
            return _report({"kind": "measured", "milliseconds": times})
        if role == "cuda":
            return _report()
        if role == "tune" and "share" in job:
            self.shares.append((job["share"], job["ahead"]))
            return self.of_share
        if role == "tune":
            time.sleep(self.takes.pop(0))
            self.ahead.append(job["ahead"])
            result = options["cache"] / "result"
            cached = result.exists()
            if cached and not result.read_text():
                return _report({"kind": "loaded"}, {"kind": "error", "stage": "tune", "message": "a truncated file"})
            if self.keeps:
                result.parent.mkdir(exist_ok=True)
                result.write_text("a result")
                self.kept.append(result)
            return _report({"kind": "loaded"}, {"kind": "tuned", "cached": cached, **self.tuned})
        return self.warm.run(role, job, limits, folder, **options)


def _report(*messages: Message) -> Report:
    return Report(End.FINISHED, list(messages), "", 0, 0)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "cache_dir", lambda: tmp_path / "cache")


def tune(played: Played, slug: str, text: str, learner: Path) -> tuple[dict[str, Check], tuning.Tuned]:
    exercise = catalog.find(slug)
    file = learner / exercise.file
    file.write_text(text, encoding="utf-8")
    assert exercise.proposed is not None
    tuned = tuning.Tuning(
        played,  # type: ignore[arg-type]
        exercise,
        exercise.proposed,
        submission.read(file),
        H100,
        7,
        learner,
    ).run(SECONDS)
    return {check.id: check for check in tuned.checks}, tuned


def solution(slug: str) -> str:
    return tlpuzzles_solutions.path(slug).read_text("utf-8")


def capsule(warm: Warm, learner: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """The kernel of a configuration, as the autotuner's process would hand it over."""
    exercise = catalog.find("autotuning")
    file = learner / "tuned.py"
    file.write_text(solution("autotuning"), encoding="utf-8")
    assert exercise.proposed is not None
    case = replace(exercise.case(exercise.proposed.case), schedule=dict(config))
    posed = [Posed(case, exercise.proposed.tuned_sizes, case.id)]
    traced = tracing.trace(warm, submission.read(file), exercise.factory, H100.name, posed, SECONDS, learner)
    found = traced.capsules[case.id]
    return {"ir": found.ir, "out_idx": list(found.out_idx or ()), "pass_configs": dict(found.pass_configs)}


def compared(played: Played) -> list[str]:
    """The kernels that were measured."""
    return [Path(kernel["capsule"]).read_text("utf-8") for kernel in played.measured[0]["kernels"].values()]


def test_the_sweep_is_played_what_was_measured(warm: Warm, learner: Path) -> None:
    played = Played(warm, lambda key: 0.2 if key == "5" else 1.0 + int(key))
    checks, tuned = tune(played, "schedule_sweep", solution("schedule_sweep"), learner)

    assert checks[WINNER].verdict is Verdict.PASSED, checks[WINNER].message
    assert "0.200 ms" in checks[WINNER].message
    assert tuned.winner is not None


def test_a_sweep_that_takes_the_slowest_fails(warm: Warm, learner: Path) -> None:
    mutant = next(one for one in wrong("schedule_sweep") if one.mistake == "takes-the-slowest")
    checks, tuned = tune(Played(warm), "schedule_sweep", mutant.source("schedule_sweep"), learner)

    assert checks[WINNER].verdict is Verdict.FAILED
    assert tuned.winner is None


def test_the_autotuners_winner_is_measured_beside_others(warm: Warm, learner: Path) -> None:
    played = Played(warm, tuned={"config": LISTED, **capsule(warm, learner, LISTED)}, takes=[0.2, 0.0])
    checks, tuned = tune(played, "autotuning", solution("autotuning"), learner)

    assert {id_: check.verdict for id_, check in checks.items()} == dict.fromkeys((WINNER, AGAIN), Verdict.PASSED), [
        check.message for check in checks.values()
    ]
    assert tuned.winner == LISTED
    assert len(played.measured[0]["kernels"]) == 1 + tuning.BESIDE


def test_a_winner_that_others_beat_fails(warm: Warm, learner: Path) -> None:
    played = Played(
        warm,
        lambda key: 0.5 if key == "3" else 1.0,
        {"config": LISTED, **capsule(warm, learner, LISTED)},
        [0.2, 0.0],
    )
    checks, tuned = tune(played, "autotuning", solution("autotuning"), learner)

    assert checks[WINNER].verdict is Verdict.FAILED
    assert "takes 0.500 ms" in checks[WINNER].message
    assert tuned.winner == LISTED


def test_a_winner_that_is_not_listed_fails_and_the_cache_is_still_judged(warm: Warm, learner: Path) -> None:
    odd = {**LISTED, "block_K": 16}
    played = Played(warm, tuned={"config": odd, **capsule(warm, learner, odd)}, takes=[0.2, 0.0])
    checks, tuned = tune(played, "autotuning", solution("autotuning"), learner)

    assert "none of the configurations listed" in checks[WINNER].message
    assert checks[AGAIN].verdict is Verdict.PASSED
    assert tuned.winner is None


def test_a_kernel_that_is_another_one_where_it_is_tuned_is_not_timed(warm: Warm, learner: Path) -> None:
    other = capsule(warm, learner, {**LISTED, "num_stages": 3})
    played = Played(warm, tuned={"config": LISTED, **other}, takes=[0.2, 0.0])
    checks, _ = tune(played, "autotuning", solution("autotuning"), learner)

    assert checks[WINNER].verdict is Verdict.FAILED
    assert "another kernel" in checks[WINNER].message
    assert "0" not in played.measured[0]["kernels"]


def test_a_second_run_that_is_not_served_from_the_cache_fails_each_time(warm: Warm, learner: Path) -> None:
    """However little time it takes: the kernels of a file that is tuned again are compiled already."""
    made = {"config": LISTED, **capsule(warm, learner, LISTED)}
    for _ in range(2):
        played = Played(warm, tuned=made, takes=[0.2, 0.0], keeps=False)
        checks, _tuned = tune(played, "autotuning", solution("autotuning"), learner)

        assert checks[WINNER].verdict is Verdict.PASSED
        assert checks[AGAIN].verdict is Verdict.FAILED
        assert "not served from the cache" in checks[AGAIN].message
        assert played.takes == []


def test_a_second_run_that_takes_as_long_as_the_first_fails(
    warm: Warm, learner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "CACHED_SECONDS", 0.0)
    played = Played(warm, tuned={"config": LISTED, **capsule(warm, learner, LISTED)}, takes=[0.2, 0.19])
    checks, _ = tune(played, "autotuning", solution("autotuning"), learner)

    assert checks[AGAIN].verdict is Verdict.FAILED


def test_where_there_are_cores_configurations_are_compiled_in_several_processes_first(
    warm: Warm, learner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "at_once", lambda: 16)
    played = Played(warm, tuned={"config": LISTED, **capsule(warm, learner, LISTED)}, takes=[0.2, 0.0])
    checks, _ = tune(played, "autotuning", solution("autotuning"), learner)

    assert checks[WINNER].verdict is Verdict.PASSED
    assert sorted(played.shares) == [([first, 8], 2) for first in range(8)]


def test_a_file_that_hangs_while_its_shares_are_compiled_is_not_waited_for_again(
    warm: Warm, learner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "at_once", lambda: 16)
    hung = Report(End.TIMED_OUT, [], "", 0, 300)
    played = Played(warm, of_share=hung)
    checks, _ = tune(played, "autotuning", solution("autotuning"), learner)

    assert "took longer than 300 s" in checks[WINNER].message
    assert played.ahead == []


def test_the_same_file_graded_again_is_tuned_from_the_cache(warm: Warm, learner: Path) -> None:
    """Its first run is the second of the earlier grading; a file that differs is tuned from nothing."""
    made = {"config": LISTED, **capsule(warm, learner, LISTED)}
    cold = Played(warm, tuned=made, takes=[0.6, 0.0])
    tune(cold, "autotuning", solution("autotuning"), learner)
    again = Played(warm, tuned=made, takes=[0.0])
    checks, tuned = tune(again, "autotuning", solution("autotuning"), learner)
    other = Played(warm, tuned=made, takes=[0.0, 0.0])
    tune(other, "autotuning", solution("autotuning") + "\n# edited\n", learner)

    assert checks[AGAIN].verdict is Verdict.PASSED
    assert checks[AGAIN].message.startswith("tuned in 1 s, and again in 0.")
    assert tuned.winner == LISTED
    assert [len(played.ahead) for played in (cold, again, other)] == [2, 1, 2]
    assert cold.ahead[0] > 0
    assert cold.ahead[1] == again.ahead[0] == 0
    assert compared(again) == compared(cold)


def test_results_that_cannot_be_read_are_made_anew(warm: Warm, learner: Path) -> None:
    made = {"config": LISTED, **capsule(warm, learner, LISTED)}
    cold = Played(warm, tuned=made, takes=[0.0, 0.0])
    tune(cold, "autotuning", solution("autotuning"), learner)
    cold.kept[0].write_text("")
    again = Played(warm, tuned=made, takes=[0.0, 0.0, 0.0])
    checks, _ = tune(again, "autotuning", solution("autotuning"), learner)

    assert {check.verdict for check in checks.values()} == {Verdict.PASSED}, [c.message for c in checks.values()]


def test_a_winner_that_failed_is_looked_for_anew(warm: Warm, learner: Path) -> None:
    """TileLang's times were off once: what it kept of that must not fail the file for ever."""
    made = {"config": LISTED, **capsule(warm, learner, LISTED)}
    beaten = Played(warm, lambda key: 0.5 if key == "3" else 1.0, made, [0.0, 0.0])
    tune(beaten, "autotuning", solution("autotuning"), learner)
    again = Played(warm, tuned=made, takes=[0.0, 0.0])
    tune(again, "autotuning", solution("autotuning"), learner)

    assert again.takes == []
