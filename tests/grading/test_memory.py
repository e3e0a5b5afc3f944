"""A kernel that has passed a case is not run again for it; one that does something else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.grading.test_bad_input import GOOD
from tlpuzzles.course import catalog
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


def test_where_no_order_is_judged_as_on_a_gpu_a_case_that_passed_is_known(tmp_path: Path) -> None:
    exercise = catalog.find("1")
    case = exercise.cases[0]
    posed = Problem(case, {"N": 1000}, case.id)
    capsule = store(Capsule("{}", (2,), {}, "x.py"), tmp_path / "capsule.json")
    built = {case.id: Built(case, posed.sizes, capsule, ("A", "B", "C"), "a digest", None, "kernel")}
    passed = Check(id=case.id, title=case.title, kind=Kind.CORRECTNESS, verdict=Verdict.PASSED)
    memory = Memory()

    assert memory.known(exercise, [posed], built) == {}
    assert memory.completed(exercise, [posed], built, [passed]) == [passed]
    assert memory.known(exercise, [posed], built) == {case.id: passed}

    late = Check(id="order", title="order", kind=Kind.ORDER, verdict=Verdict.FAILED, message="it depends on it")
    memory.completed(exercise, [posed], built, [passed, late])
    assert memory.known(exercise, [posed], built) == {}
