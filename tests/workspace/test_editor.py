"""The tasks that a workspace brings for VS Code, run as VS Code runs them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tlpuzzles.commands.init import init
from tlpuzzles.workspace.editor import FILE


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    init(tmp_path / "my course")
    return tmp_path / "my course"


def tasks(workspace: Path) -> dict[str, dict[str, Any]]:
    return {task["label"]: task for task in json.loads((workspace / FILE).read_text())["tasks"]}


def run(task: dict[str, Any], workspace: Path, file: str) -> subprocess.CompletedProcess[str]:
    known = {"${workspaceFolder}": str(workspace), "${fileDirnameBasename}": Path(file).parent.name}
    words = [known.get(word, word) for word in (task["command"], *task["args"])]
    assert task["type"] == "process"
    assert not [word for word in words if "${" in word]
    folder = known[task["options"]["cwd"]]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_tasks_grade_and_help_with_the_file_that_is_open(workspace: Path) -> None:
    found = tasks(workspace)
    file = "03_schedule_sweep/schedule_sweep.py"

    graded = run(found["tlpuzzles: grade this exercise"], workspace, file)
    assert graded.returncode == 1
    assert "Exercise 3" in graded.stdout
    file = "03_schedule_sweep/lesson.md"
    assert "schedule_sweep: hint 1" in run(found["tlpuzzles: a hint for this exercise"], workspace, file).stdout
    assert "# 3." in run(found["tlpuzzles: the lesson of this exercise"], workspace, file).stdout


def test_the_key_for_building_grades(workspace: Path) -> None:
    builds = [task["label"] for task in tasks(workspace).values() if task.get("group", {}).get("isDefault")]
    assert builds == ["tlpuzzles: grade this exercise"]


def test_what_else_is_called_like_their_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".vscode").write_text("mine")
    init(tmp_path)
    assert (tmp_path / ".vscode").read_text() == "mine"
    assert (tmp_path / "08_introspection" / "lesson.md").is_file()


def test_tasks_of_ones_own_stay(workspace: Path) -> None:
    (workspace / FILE).write_text("{}")
    init(workspace)
    assert (workspace / FILE).read_text() == "{}"
