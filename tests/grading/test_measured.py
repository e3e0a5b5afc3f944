"""What is measured on a GPU, with the GPU played: a kernel that dies is left out, and `profile` must agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tlpuzzles.border.children import Warm
from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.course import catalog
from tlpuzzles.grading import caches, measuring, profiling, submission
from tlpuzzles.grading.stages import Built
from tlpuzzles.verdict.model import Verdict

LAUNCHING: Message = {"kind": "launching", "key": "bad"}


@dataclass
class Played:
    """Answers jobs for a GPU; others are done as they are."""

    warm: Warm | None
    answer: Callable[[str, dict[str, Any]], Report]
    jobs: list[dict[str, Any]] = field(default_factory=list)
    caches: dict[str, Path | None] = field(default_factory=dict)
    """Where each role finds what was compiled."""

    def run(self, role: str, job: dict[str, Any], *rest: Any, **options: Any) -> Report:
        if role in ("measure", "call"):
            self.jobs.append(job)
            self.caches[role] = options.get("cache")
            return self.answer(role, job)
        assert self.warm is not None
        return self.warm.run(role, job, *rest, **options)


def report(*messages: Message, end: End = End.FINISHED) -> Report:
    return Report(end, list(messages), "", 0, 0)


@pytest.mark.parametrize(("end", "says"), [(End.TIMED_OUT, "hangs"), (End.SIGNALLED, "ended its process")])
def test_a_kernel_that_takes_its_process_down_is_left_out(tmp_path: Path, end: End, says: str) -> None:
    exercise = catalog.find("2")
    case = exercise.cases[0]
    kernels = {key: Built(case, {}, tmp_path / key, ("A", "B", "C"), key, None, key) for key in ("good", "bad")}

    def answer(_role: str, job: dict[str, Any]) -> Report:
        if "bad" in job["kernels"]:
            return report(LAUNCHING, end=end)
        return report({"kind": "measured", "milliseconds": {"good": 2.0}})

    played = Played(None, answer)
    sizes = {"M": 8, "N": 16, "K": 32}
    times = measuring.measure(played, exercise, case, sizes, "sm_90a", kernels, tmp_path)  # type: ignore[arg-type]

    assert times.kernels == {"good": 2.0}
    assert says in times.refused["bad"]
    assert len(played.jobs) == 2


@pytest.mark.parametrize(
    ("value", "verdict", "says"),
    [
        (0.26, Verdict.PASSED, "profile says 0.2600 ms, the grader measured 0.2500 ms"),
        (0.00026, Verdict.FAILED, "looks like seconds"),
        (251.0, Verdict.FAILED, "looks like microseconds"),
        (0.9, Verdict.FAILED, "takes 0.2500 ms by the grader's measurement"),
        ("fast", Verdict.FAILED, "must return milliseconds"),
        (True, Verdict.FAILED, "must return milliseconds"),
    ],
)
def test_profile_is_held_against_the_graders_measurement(
    warm: Warm, learner: Path, value: object, verdict: Verdict, says: str
) -> None:
    exercise = catalog.find("introspection")
    asked = exercise.profiling
    assert asked is not None
    first = exercise.cases[0].id

    def answer(role: str, _job: dict[str, Any]) -> Report:
        if role == "call":
            return report({"kind": "loaded"}, {"kind": "answer", "id": "profile", "value": value, "uses": []})
        return report({"kind": "measured", "milliseconds": {first: 0.25}})

    file = learner / "introspection.py"
    file.write_text("def profile(kernel): ...\n")
    played = Played(warm, answer)
    check, _ = profiling.check(
        played,  # type: ignore[arg-type]
        exercise,
        replace(asked, sizes={"N": 1 << 10}),
        submission.read(file),
        "sm_90a",
        "a GPU",
        7,
        learner,
    )

    assert check.verdict is verdict, check.message
    assert says in check.message
    # It is no kernel of the exercise's: there is nothing to compare it with.
    assert played.jobs[-1].get("exercise") is None
    # The same file profiles from what it compiled before; what is trusted is not read from there.
    assert played.caches["call"] == caches.profiled(file.read_text(), "a GPU", learner)
    assert played.caches["call"] != caches.profiled("another file", "a GPU", learner)
    assert played.caches["measure"] == caches.kernels()
