"""Which GPUs a kernel compiles for, asked again: what an earlier grading was told is not worked out anew."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.mutant import RIGHT
from tlpuzzles.border.watching import End, Report
from tlpuzzles.device.limits import ARCHITECTURES
from tlpuzzles.grading import caches
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.portability import Compilers
from tlpuzzles.grading.stages import store
from tlpuzzles.grading.submission import Submission
from tlpuzzles.kernel.capsule import Capsule
from tlpuzzles.verdict.model import Check, Kind, Result, Verdict

KERNEL = Capsule('{"nodes": ["line 3"]}', None, {"tl.enable_fast_math": True}, "/x/kernel.py")
NAMES = [architecture.name for architecture in ARCHITECTURES]
REFUSED = {"message": "Too much shared memory.", "line": 3, "raw": "raw", "hint": None, "ours": False}


@dataclass
class Played:
    """A warm process whose children say that a kernel compiles for every GPU but a T4."""

    refused: dict[str, Any] = field(default_factory=lambda: REFUSED)
    asked: list[str] = field(default_factory=list)

    def run(self, role: str, job: dict[str, Any], *_: object, **_options: object) -> Report:
        assert role == "lower"
        self.asked.append(job["arch"])
        arch = job["arch"]
        answers = [(arch, self.refused if arch == "sm_75" else None)]
        answers += [("sm_89", None)] if arch == "sm_80" and not job["nvcc"] else []
        messages = [{"kind": "lowered", "arch": name, "problem": problem} for name, problem in answers]
        return Report(End.FINISHED, messages, "", 0, 0)


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(caches, "cache_dir", lambda: tmp_path / "cache")
    return tmp_path / "cache"


def ask(played: Played, folder: Path, capsule: Capsule = KERNEL, *, nvcc: bool = False) -> list[Check]:
    file = store(capsule, folder / "capsule.json")
    with Compilers(played, Submission(Path("/x/kernel.py"), "kernel.py", "", None), nvcc, folder) as compilers:  # type: ignore[arg-type]
        compilers.start([dict.fromkeys(NAMES, file)])
        return compilers.checks(None, "sm_75")


def test_the_same_kernel_is_asked_about_once(tmp_path: Path) -> None:
    first, again = Played(), Played()
    checks = ask(first, tmp_path)
    assert sorted(first.asked) == ["sm_75", "sm_80", "sm_90a"]
    assert ask(again, tmp_path) == checks
    assert again.asked == []
    assert [check.verdict for check in checks] == [Verdict.FAILED, *[Verdict.PASSED] * 3]
    assert "shared memory" in checks[0].message
    assert checks[0].detail is not None


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"ir": KERNEL.ir.replace("3", "4")}, id="another line"),
        pytest.param({"pass_configs": {}}, id="other pass configs"),
    ],
)
def test_what_differs_at_all_is_asked_about(tmp_path: Path, other: dict[str, Any]) -> None:
    ask(Played(), tmp_path)
    again = Played()
    ask(again, tmp_path, replace(KERNEL, **other))
    assert len(again.asked) == 3


def test_with_nvcc_is_another_question(tmp_path: Path) -> None:
    ask(Played(), tmp_path)
    again = Played()
    ask(again, tmp_path, nvcc=True)
    assert sorted(again.asked) == sorted(NAMES)


def test_a_fault_of_the_machine_is_looked_for_again(tmp_path: Path) -> None:
    """It can be put right."""
    ask(Played({**REFUSED, "ours": True}), tmp_path)
    again = Played()
    ask(again, tmp_path)
    assert again.asked == ["sm_75"]


def forged(**changed: object) -> str:
    """An answer about every GPU that no compiler gave."""
    return json.dumps(dict.fromkeys(NAMES, REFUSED | changed))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param("[]", id="a list"),
        pytest.param("{}", id="about no GPU"),
        pytest.param('{"sm_100a": null}', id="about another GPU"),
        pytest.param('{"sm_75": {"line": 3}, "sm_80": 1, "sm_90a": []}', id="no problems"),
        pytest.param("[" * 100_000, id="nested"),
        pytest.param(forged(message=""), id="an empty message"),
        pytest.param(forged(message=None), id="no message"),
        pytest.param(forged(line="abc"), id="a line that is no number"),
        pytest.param(forged(raw=[]), id="a raw message that is no text"),
        pytest.param(forged(ours=True), id="a fault of the machine"),
    ],
)
def test_a_damaged_answer_is_asked_for_again(root: Path, tmp_path: Path, content: str) -> None:
    checks = ask(Played(), tmp_path)
    for file in root.glob("*/answers/*"):
        file.write_text(content)
    again = Played()
    assert ask(again, tmp_path) == checks
    assert len(again.asked) == 3


def test_a_child_that_says_what_makes_no_sense_has_not_answered(tmp_path: Path) -> None:
    check = ask(Played({"message": "", "ours": False}), tmp_path)[0]
    assert check.verdict is Verdict.FAILED
    assert "ended without an answer" in check.message


def test_a_problem_that_is_no_compilers_answer_is_not_kept(tmp_path: Path) -> None:
    class Dying(Played):
        def run(self, role: str, job: dict[str, Any], *_: object, **_options: object) -> Report:
            return Report(End.TIMED_OUT, [], "", None, 60)

    assert isinstance(ask(Dying(), tmp_path)[0], Check)
    again = Played()
    ask(again, tmp_path)
    assert len(again.asked) == 3


@pytest.mark.parametrize(
    ("rows", "lacking"),
    [
        pytest.param("block_M", {"sm_75", "sm_89"}, id="the same for all"),
        pytest.param('block_M if width <= 4096 or arch == "sm_75" else 1', {"sm_75"}, id="by GPU"),
    ],
)
def test_a_kernel_that_does_not_fit_at_a_larger_size_is_told_which(
    grade: Callable[..., Result], rows: str, lacking: set[str]
) -> None:
    """The case that is lowered for every GPU is of shorter rows."""
    text = (RIGHT / "row_softmax" / "through_shared.py").read_text("utf-8")
    for old, new in (
        ("block_M=4,", "block_M=4, arch=None,"),
        ("block_M if width <= 4096 else 1", rows),
        ("T.alloc_shared((rows, width), dtype)", "T.alloc_shared((rows, width), accum_dtype)"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)

    result = grade("row_softmax", text, portability=Portability.CHECK, trace_seconds=60.0)

    gpus = {check.id.removeprefix("portability-"): check for check in result.checks if check.kind is Kind.PORTABILITY}
    assert {name for name, check in gpus.items() if check.verdict is not Verdict.PASSED} == lacking
    assert re.search(
        r"^For M = 1, N = \d{4}: A block asks for 128\.5 KiB .* 64 KiB for a block on T4", gpus["sm_75"].message
    )
    assert not any(gpus[name].graded for name in lacking)
    assert result.verdict is Verdict.PASSED
