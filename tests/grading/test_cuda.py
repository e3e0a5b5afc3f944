"""Kernels on a GPU, with its processes played: what is compiled, what is run, and when the GPU is held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.grading.playing import report
from tlpuzzles.border.watching import End, Report
from tlpuzzles.course import catalog
from tlpuzzles.device.cuda import lock
from tlpuzzles.grading import caches
from tlpuzzles.grading.cuda import Cuda
from tlpuzzles.grading.plan import Problem, plan
from tlpuzzles.grading.stages import Built, Launch, Ran

GEMM = catalog.find("tiled_gemm")
GPU = "GPU-of-a-test"


@dataclass
class Played:
    """A warm process whose children compile and run whatever they are given."""

    compiling: End = End.FINISHED
    dies: int = 99
    """How many times it ends so, if that is before it is finished."""
    compiles: bool = True
    jobs: list[tuple[set[str], list[str], bool]] = field(default_factory=list)
    """Kernels, cases, and whether the GPU was held."""

    def run(self, role: str, job: Mapping[str, Any], *rest: Any, **options: Any) -> Report:
        assert role == "cuda"
        cases = [case["id"] for case in job["cases"]]
        self.jobs.append((set(job["kernels"]), cases, lock.lock_path(GPU) in lock._held))
        if not cases:
            event = {"kind": "cuda", "event": "compiled" if self.compiles else "not compiled"}
            for _ in job["kernels"]:
                options["on_message"](event)
            self.dies -= 1
            return report(end=self.compiling if self.dies >= 0 else End.FINISHED)
        ran = {"kind": "cuda", "event": "ran", "outcome": "ran", "explanation": None}
        return report(*({**ran, "case": case} for case in cases))


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "cache_dir", lambda: tmp_path / "cache")
    monkeypatch.setattr(lock, "FOLDER", tmp_path)


def built(posed: Problem, folder: Path) -> Built:
    id_ = posed.case.id
    (folder / id_).write_text(f"capsule of {id_}")
    return Built(posed.case, posed.sizes, folder / id_, ("A", "B", "C"), id_, None, f"kernel of {id_}")


def run(played: Played, folder: Path, *, cases: int) -> dict[str, Ran]:
    posed = plan(GEMM, 7, on_cuda=True)
    inputs = {"A": folder / "A", "B": folder / "B"}
    launches = [Launch(one.case, built(one, folder), inputs) for one in posed.problems[:cases]]
    timed = [built(one, folder) for one in posed.timed]
    gpu = Cuda("NVIDIA H200", "sm_90a", GPU)
    return gpu.run(GEMM, launches, folder, played, lambda text: None, timed=timed)  # type: ignore[arg-type]


def test_kernels_to_be_timed_are_compiled_beside_the_others_and_not_run(tmp_path: Path) -> None:
    played = Played()
    ran = run(played, tmp_path, cases=1)

    assert set(ran) == {"ragged"}
    assert ran["ragged"].problem is None
    compiled, launched = played.jobs
    assert compiled[0] == {"kernel of ragged", "kernel of speed-4096", "kernel of speed-8192"}
    assert launched[:2] == ({"kernel of ragged"}, ["ragged"])


def test_the_gpu_is_held_for_running_and_not_for_compiling(tmp_path: Path) -> None:
    """Others' gradings go on meanwhile: compiling takes longest and needs no GPU."""
    played = Played()
    run(played, tmp_path, cases=1)

    assert [held for _, _, held in played.jobs] == [False, True]
    assert lock.lock_path(GPU) not in lock._held


def test_speed_alone_compiles_and_runs_no_case(tmp_path: Path) -> None:
    played = Played()

    assert run(played, tmp_path, cases=0) == {}
    assert [(len(kernels), cases) for kernels, cases, _ in played.jobs] == [(2, [])]


def test_what_an_earlier_grading_compiled_is_not_asked_for_again(tmp_path: Path) -> None:
    for number, jobs in enumerate((2, 1, 1)):
        played = Played()
        run(played, tmp_path, cases=1)
        assert len(played.jobs) == jobs, number


def test_what_did_not_compile_is_asked_for_again(tmp_path: Path) -> None:
    """That it does not compile is then said again."""
    for _ in range(2):
        played = Played(compiles=False)
        run(played, tmp_path, cases=1)
        assert len(played.jobs) == 2


def test_a_compiler_that_dies_is_said_of_every_case(tmp_path: Path) -> None:
    played = Played(compiling=End.SIGNALLED)
    ran = run(played, tmp_path, cases=2)

    assert len(played.jobs) == 2
    for one in ran.values():
        assert one.problem is not None
        assert "compiler ended its process" in one.problem.message


def test_a_compiler_that_died_once_is_asked_again(tmp_path: Path) -> None:
    """It is not the kernel, then."""
    played = Played(compiling=End.SIGNALLED, dies=1)
    ran = run(played, tmp_path, cases=2)

    assert all(one.problem is None for one in ran.values())


def test_a_compiler_that_takes_too_long_is_not_asked_again(tmp_path: Path) -> None:
    played = Played(compiling=End.TIMED_OUT)
    ran = run(played, tmp_path, cases=1)

    assert len(played.jobs) == 1
    assert ran["ragged"].problem is not None
