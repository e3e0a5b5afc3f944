"""Whole gradings on a GPU: solutions pass; a kernel that takes its process down is named, and the rest go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import tlpuzzles_solutions
from tests.gpu import kernels
from tests.gpu.harness import UNSAFE
from tests.grading.test_bad_input import GOOD
from tests.mutants import wrong_flash_attention
from tests.tracing import trace
from tlpuzzles.course import catalog
from tlpuzzles.grading import cuda
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.stages import Built, Launch, store
from tlpuzzles.kernel.capsule import Capsule
from tlpuzzles.verdict.model import Kind, Result, Verdict


@pytest.mark.parametrize("slug", [exercise.slug for exercise in catalog.exercises()])
def test_the_solutions_pass(grade: Callable[..., Result], slug: str) -> None:
    result = grade(slug, tlpuzzles_solutions.path(slug).read_text("utf-8"))
    assert result.verdict is Verdict.PASSED, [check for check in result.checks if check.verdict is not Verdict.PASSED]
    assert result.device.kind == "cuda"
    assert result.points.earned == 60
    # Also the case that no CPU runs, with more blocks than the GPU holds at once.
    assert {check.verdict for check in result.checks if check.kind is Kind.CORRECTNESS} == {Verdict.PASSED}


def test_a_wrong_kernel_is_told_its_mistake(grade: Callable[..., Result]) -> None:
    wrong = next(wrong for wrong in wrong_flash_attention.WRONG if wrong.id == "keys-past-the-end")
    result = grade("flash_attention", wrong.source("flash_attention"), only=wrong.check)
    assert result.verdict is Verdict.FAILED
    named = [check.detail.mistake for check in result.checks if check.detail and check.detail.mistake]
    # The tile, and so the mistake's full name, is the GPU's.
    assert named
    assert all(name.startswith("keys-past-the-end") for name in named)


def test_unwritten_elements_are_known_by_the_poison(grade: Callable[..., Result]) -> None:
    result = grade(
        "1", GOOD.replace("T.ceildiv(N, block_N), threads", "max(1, N // block_N), threads"), only="ragged-end"
    )
    failed = next(check for check in result.checks if check.id == "ragged-end")
    assert failed.verdict is Verdict.FAILED
    assert "written" in failed.message


@pytest.mark.parametrize(
    ("source", "configs", "says"),
    [
        pytest.param(kernels.FAULT, UNSAFE, "memory", id="fault"),
        pytest.param(kernels.TOO_MUCH_SHARED, {}, "shared memory", id="too much shared memory"),
        pytest.param(kernels.HANGS, {}, "hangs", id="hang"),
    ],
)
def test_a_kernel_that_fails_at_launch_is_named_and_the_next_case_runs(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, configs: dict[str, object], says: str
) -> None:
    """The vet would refuse two of them: it is left out, and the device gets the kernels as they were traced."""
    monkeypatch.setattr(cuda, "RUN", replace(cuda.RUN, silence=10.0))
    bad = _launch("bad", replace(trace(source, N=1024), pass_configs=configs), tmp_path)
    good = _launch("good", trace(kernels.COPY, N=1024), tmp_path)
    ran = grader.device.run(catalog.find("1"), [bad, good], tmp_path, grader.warm, lambda text: None)
    assert ran["bad"].problem is not None
    assert says in ran["bad"].problem.message.lower()
    assert not ran["bad"].problem.ours
    assert ran["good"].problem is None
    assert ran["good"].outputs[0].read_bytes() == good.inputs["A"].read_bytes()


def _launch(name: str, capsule: Capsule, folder: Path) -> Launch:
    case = replace(catalog.find("1").cases[0], id=name, dtype="float32")
    file = store(capsule, folder / f"{name}.json")
    inputs = folder / f"{name}.bin"
    inputs.write_bytes(b"".join(number.to_bytes(4, "little") for number in range(1024)))
    return Launch(case, Built(case, {"N": 1024}, file, ("A", "C"), "", None, name), {"A": inputs})


def test_after_a_file_whose_kernel_hangs_the_next_one_grades(
    grade: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda, "RUN", replace(cuda.RUN, silence=10.0))
    loop = "            for i in T.Parallel(block_N):\n"
    hanging = GOOD.replace(
        loop,
        "            n = T.alloc_var('int32', init=1)\n            while n > 0:\n"
        "                T.atomic_add(C[0], T.cast(1.0, dtype))\n"
        "                n = T.if_then_else(A[0] > -30000.0, 1, 0)\n" + loop,
    )
    result = grade("1", hanging, only="whole-blocks")
    failed = next(check for check in result.checks if check.id == "whole-blocks")
    assert failed.verdict is Verdict.FAILED
    assert "hangs" in failed.message
    assert grade("1", GOOD, only="whole-blocks").verdict is Verdict.PASSED
