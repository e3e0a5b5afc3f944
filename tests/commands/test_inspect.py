"""`tlpuzzles inspect` as a user runs it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.commands.running import run_on_terminal, run_process
from tlpuzzles.cli import WRONG_USAGE

SOLUTIONS = Path(__file__).parents[2] / "solutions" / "tlpuzzles_solutions"


@pytest.fixture
def kernel(workspace: Path) -> Path:
    return Path(shutil.copy(SOLUTIONS / "vector_add.py", workspace / "01_vector_add"))


def test_it_takes_the_workspaces_file_and_writes_json(kernel: Path, workspace: Path) -> None:
    ran = run_process("inspect", "1", "--arch", "sm_75", "--json", cwd=workspace)

    document = json.loads(ran.out)
    assert (ran.status, ran.err) == (0, "")
    assert (document["schema"], document["exercise"], document["arch"]) == (1, "vector_add", "sm_75")
    assert document["problem"] is None
    assert "__global__" in document["seen"]["source"]


def test_the_courses_gpu_is_looked_at_and_progress_is_told_on_a_terminal(kernel: Path, workspace: Path) -> None:
    (workspace / "course.toml").write_text('[class]\narch = "sm_75"\n')
    shown = run_on_terminal("inspect", "1", cwd=workspace)

    assert "compiling the kernel" in shown
    assert "for a T4 (sm_75)" in shown


def test_a_kernel_that_is_wrong_fails_and_says_where(kernel: Path, workspace: Path) -> None:
    kernel.write_text(kernel.read_text().replace("T.Kernel(", "T.Kernl("))
    ran = run_process("inspect", "1", cwd=workspace)

    assert ran.status == 1
    assert "Kernl" in ran.out
    assert "vector_add.py:" in ran.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["inspect", "1", "nothing.py"], "There is no file nothing.py"),
        (["inspect", "1", "vector_add"], "`tlpuzzles inspect 1` takes your workspace's"),
        (["inspect", "1", "--case", "?"], "It has: speed"),
        (["inspect", "1"], "has no file"),
    ],
)
def test_a_wrong_use_is_told(workspace: Path, arguments: list[str], says: str) -> None:
    if "--case" in arguments:
        shutil.copy(SOLUTIONS / "vector_add.py", workspace / "01_vector_add")
    ran = run_process(*arguments, cwd=workspace)
    assert ran.status == WRONG_USAGE
    assert says in " ".join(ran.err.split())
