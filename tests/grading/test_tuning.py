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
from tlpuzzles.grading import measuring, submission, tracing, tuning
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
    measured: list[Mapping[str, Any]] = field(default_factory=list)

    def run(self, role: str, job: Mapping[str, Any], limits: Limits, folder: Path, **options: Any) -> Report:
        if role == "measure":
            self.measured.append(job)
            times = {key: self.slowness(key) for key in job["kernels"]} | {measuring.BASELINE: 0.5}
            return _report({"kind": "measured", "milliseconds": times})
        if role == "tune":
            time.sleep(self.takes.pop(0))
            return _report({"kind": "loaded"}, {"kind": "tuned", **self.tuned})
        return self.warm.run(role, job, limits, folder, **options)


def _report(*messages: Message) -> Report:
    return Report(End.FINISHED, list(messages), "", 0, 0)


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


def test_the_sweep_is_played_what_was_measured(warm: Warm, learner: Path) -> None:
    played = Played(warm, lambda key: 0.2 if key == "5" else 1.0 + int(key))
    checks, tuned = tune(played, "schedule_sweep", solution("schedule_sweep"), learner)

    assert checks[WINNER].verdict is Verdict.PASSED, checks[WINNER].message
    assert "0.200 ms" in checks[WINNER].message
    assert "torch takes 0.500 ms" in checks[WINNER].message
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
    checks, _ = tune(played, "autotuning", solution("autotuning"), learner)

    assert checks[WINNER].verdict is Verdict.FAILED
    assert "takes 0.500 ms" in checks[WINNER].message


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


def test_a_second_run_that_is_not_served_from_the_cache_fails(
    warm: Warm, learner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "CACHED_SECONDS", 0.0)
    played = Played(warm, tuned={"config": LISTED, **capsule(warm, learner, LISTED)}, takes=[0.3, 0.28])
    checks, _ = tune(played, "autotuning", solution("autotuning"), learner)

    assert checks[WINNER].verdict is Verdict.PASSED
    assert "not served from the cache" in checks[AGAIN].message
