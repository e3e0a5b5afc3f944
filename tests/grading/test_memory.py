"""A kernel that has passed a case is not run again for it; one that does something else is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.grading.test_bad_input import GOOD
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Case
from tlpuzzles.grading import cpu
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.memory import Memory
from tlpuzzles.grading.options import Options
from tlpuzzles.grading.plan import Problem
from tlpuzzles.grading.stages import Built, store
from tlpuzzles.kernel.capsule import Capsule
from tlpuzzles.verdict.model import Check, Kind, Result, Verdict

SEED = 71_003
EXERCISE = catalog.find("1")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many runs each grading made."""
    made: list[int] = []
    really = cpu.run_all

    def run_all(jobs: list[cpu.Job], *rest: object) -> list[cpu.CpuRun]:
        made.append(len(jobs))
        return really(jobs, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(cpu, "run_all", run_all)
    return made


@pytest.fixture
def grader_with_memory(grader: Grader) -> Grader:
    return Grader(grader.warm, grader.scratch, grader.device, memory=Memory())


def grade(grader: Grader, folder: Path, text: str, seed: int = SEED, slug: str = "1", **options: object) -> Result:
    exercise = catalog.find(slug)
    file = folder / exercise.file
    file.write_text(text, encoding="utf-8")
    how = Options(seed=seed, portability=Portability.OFF, speed=False, **options)  # type: ignore[arg-type]
    return grader.grade(exercise, file, "", how)


def test_the_same_kernel_is_run_once(grader_with_memory: Grader, learner: Path, runs: list[int]) -> None:
    first = grade(grader_with_memory, learner, GOOD)
    again = grade(grader_with_memory, learner, "# a remark\n\n" + GOOD, SEED + 10**5)  # the same sizes, other inputs

    assert len(runs) == 1
    assert first.verdict is again.verdict is Verdict.PASSED
    assert [(check.id, check.verdict) for check in again.checks] == [(c.id, c.verdict) for c in first.checks]
    assert again.points == first.points


def test_another_kernel_is_run(grader_with_memory: Grader, learner: Path, runs: list[int]) -> None:
    grade(grader_with_memory, learner, GOOD)
    wrong = grade(grader_with_memory, learner, GOOD.replace("+ B[", "- B["))
    assert runs[0] == runs[1]
    assert wrong.verdict is Verdict.FAILED

    right = grade(grader_with_memory, learner, GOOD)
    assert right.verdict is Verdict.PASSED
    assert len(runs) == 2


def test_other_sizes_are_other_kernels(grader_with_memory: Grader, learner: Path, runs: list[int]) -> None:
    grade(grader_with_memory, learner, GOOD)
    grade(grader_with_memory, learner, GOOD, SEED + 1)
    assert len(runs) == 2
    assert runs[1] > 0


def test_what_failed_is_run_again(grader_with_memory: Grader, learner: Path, runs: list[int]) -> None:
    for _ in range(2):
        wrong = grade(grader_with_memory, learner, GOOD.replace("+ B[", "- B["))
        failed = [check for check in wrong.checks if check.kind is Kind.CORRECTNESS]
        assert {check.verdict for check in failed} == {Verdict.FAILED}
    assert runs[0] == runs[1]


def test_without_a_memory_everything_is_run(grader: Grader, learner: Path, runs: list[int]) -> None:
    for _ in range(2):
        grade(grader, learner, GOOD)
    assert runs[0] == runs[1]


def test_settings_of_the_compiler_make_another_kernel(
    grader_with_memory: Grader, learner: Path, runs: list[int]
) -> None:
    grade(grader_with_memory, learner, GOOD)
    jit = "@tilelang.jit(out_idx=[-1]"
    assert jit in GOOD
    fast = GOOD.replace(jit, jit + ", pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True}")
    assert grade(grader_with_memory, learner, fast).verdict is Verdict.PASSED
    assert runs[0] == runs[1]


@dataclass
class Kernels:
    """Built kernels of the two first cases of exercise 1, by a name that stands for what they do."""

    folder: Path
    cases: tuple[Case, ...] = EXERCISE.cases[:2]

    @property
    def problems(self) -> list[Problem]:
        return [Problem(case, {"N": 1000}, case.id) for case in self.cases]

    def built(self, name: str) -> dict[str, Built]:
        capsule = store(Capsule("{}", (2,), {}, "x.py"), self.folder / f"{name}.json")
        return {c.id: Built(c, {"N": 1000}, capsule, ("A", "B", "C"), name, None, "kernel") for c in self.cases}

    def checks(self, order: Verdict | None) -> list[Check]:
        """All cases right when run forward, and the check of the order."""
        found = [Check(id=c.id, title=c.title, kind=Kind.CORRECTNESS, verdict=Verdict.PASSED) for c in self.cases]
        if order is None:
            return found
        return [
            *found,
            Check(id="order", title="o", kind=Kind.ORDER, verdict=order, message="" if order is OK else "no"),
        ]


OK = Verdict.PASSED


@pytest.fixture
def kernels(tmp_path: Path) -> Kernels:
    return Kernels(tmp_path)


def test_where_no_order_is_judged_as_on_a_gpu_a_case_that_passed_is_known(kernels: Kernels) -> None:
    memory, problems, built = Memory(), kernels.problems, kernels.built("right")
    judged = kernels.checks(None)
    assert memory.known(EXERCISE, problems, built) == {}
    assert memory.completed(EXERCISE, problems, built, judged) == judged
    assert memory.known(EXERCISE, problems, built) == {check.id: check for check in judged}
    assert memory.completed(EXERCISE, problems, built, judged) == judged, "no check of the order, as before"


def test_a_kernel_whose_result_depends_on_the_order_is_run_again_whatever_comes_between(kernels: Kernels) -> None:
    """Its cases were right forward. That another kernel, or one case alone, is right in any order says nothing."""
    memory, problems, late = Memory(), kernels.problems, kernels.built("late")
    for between in (kernels.built("right"), None):
        memory.completed(EXERCISE, problems, late, kernels.checks(Verdict.FAILED))
        if between is not None:
            memory.completed(EXERCISE, problems, between, kernels.checks(OK))
        assert memory.known(EXERCISE, problems, late) == {}
    one = kernels.checks(OK)[::2]
    memory.completed(EXERCISE, problems[:1], late, one)
    assert set(memory.known(EXERCISE, problems, late)) == {problems[0].case.id}
    memory.completed(EXERCISE, problems, late, kernels.checks(Verdict.FAILED))
    assert memory.known(EXERCISE, problems, late) == {}


def test_a_kernel_that_is_known_has_its_check_of_the_order(kernels: Kernels) -> None:
    memory, problems, built = Memory(), kernels.problems, kernels.built("right")
    memory.completed(EXERCISE, problems, built, kernels.checks(OK))
    memory.completed(EXERCISE, problems, kernels.built("late"), kernels.checks(Verdict.FAILED))
    known = list(memory.known(EXERCISE, problems, built).values())
    (order,) = [check for check in memory.completed(EXERCISE, problems, built, known) if check.kind is Kind.ORDER]
    assert order.verdict is Verdict.PASSED
