"""What grade and hint leave in the record of a workspace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.running import run, run_process
from tests.workspace.results import graded
from tlpuzzles.commands import remembering
from tlpuzzles.commands.remembering import keep_grading
from tlpuzzles.course import catalog
from tlpuzzles.grading import submission
from tlpuzzles.workspace import attempts, keeping
from tlpuzzles.workspace.folders import shipped

ONE = catalog.find("1")


@pytest.fixture(autouse=True)
def _warns_anew() -> None:
    remembering.warn.cache_clear()


def _keep(file: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Keeps a grading of this file; what was said about it."""
    capsys.readouterr()
    keep_grading(ONE, submission.read(file), graded())
    out, err = capsys.readouterr()
    assert out == ""
    return err


def _kept(root: Path) -> list[str]:
    past = attempts.read(root).get("vector_add")
    return [attempt.path for attempt in past.attempts] if past else []


def test_a_grading_is_kept_and_its_json_is_alone(workspace: Path) -> None:
    skeleton = shipped(ONE).file(ONE).read_bytes()
    (workspace / ONE.folder / ONE.file).write_bytes(skeleton)
    ran = run_process("grade", "1", "--device", "cpu", "--json", cwd=workspace)
    assert (ran.status, ran.err) == (1, "")
    assert json.loads(ran.out)["verdict"] == "not_started"
    (attempt,) = attempts.read(workspace)["vector_add"].attempts
    assert (attempt.path, attempt.verdict) == ("01_vector_add/vector_add.py", "not_started")
    assert attempts.content(workspace, attempt) == skeleton


def test_files_of_the_workspace_are_kept_from_anywhere_and_others_are_not(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_others = workspace / "handed in" / "alice.py"
    of_others.parent.mkdir()
    mine, second = workspace / ONE.folder / ONE.file, workspace / ONE.folder / "second.py"
    for file in (of_others, mine, second, tmp_path / "vector_add.py"):
        file.write_text("x = 1")
        assert _keep(file, capsys) == ""
    assert _kept(workspace) == ["01_vector_add/vector_add.py", "01_vector_add/second.py"]
    monkeypatch.chdir(tmp_path)
    assert _keep(mine.relative_to(tmp_path), capsys) == ""
    assert len(_kept(workspace)) == 3
    assert not (tmp_path / ".tlpuzzles").exists()


def test_nothing_is_kept_in_a_checkout(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    root = shipped(ONE).root
    assert _keep(root / ONE.folder / ONE.file, capsys) == ""
    monkeypatch.chdir(root)
    assert run(capsys, "hint", "1").status == 0
    assert not (root / ".tlpuzzles").exists()


def test_a_file_that_is_a_link_to_elsewhere_is_where_it_was_named(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dotfiles.py").write_text("x = 1")
    (workspace / ONE.folder / ONE.file).symlink_to(tmp_path / "dotfiles.py")
    _keep(workspace / ONE.folder / ONE.file, capsys)
    assert _kept(workspace) == ["01_vector_add/vector_add.py"]


@pytest.mark.parametrize("content", [b"no database" * 999, None], ids=["damaged", "a folder"])
def test_a_record_that_cannot_be_used_costs_one_line(
    workspace: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    (workspace / ".tlpuzzles").mkdir()
    database = workspace / ".tlpuzzles" / "progress.db"
    database.mkdir() if content is None else database.write_bytes(content)
    file = workspace / ONE.folder / ONE.file
    file.write_text("x = 1")
    said = _keep(file, capsys)
    assert said.startswith("Warning: This grading is not kept. ")
    assert len(said.splitlines()) == 1
    assert "ove it away" in said
    assert "Unusable" not in said
    assert _keep(file, capsys) == ""  # grade --all says it once
    hinted = run(capsys, "hint", "1")
    assert (hinted.status, "Think of the end." in hinted.out) == (0, True)
    assert hinted.err.startswith("Warning: That you read this hint is not kept. ")
    listed = run(capsys, "list")
    assert (listed.status, len(listed.out.splitlines())) == (0, len(catalog.exercises()))
    assert listed.err.startswith("Warning: Your attempts cannot be read. ")


def test_a_fault_of_ours_costs_one_line(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = workspace / ONE.folder / ONE.file
    file.write_text("x = 1")
    monkeypatch.delattr(keeping, "_document")
    assert _keep(file, capsys).startswith("Warning: This grading is not kept. NameError: ")


def test_a_hint_that_was_read_is_kept(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "hint", "1", "--level", "2")
    run(capsys, "hint", "1", "--level", "1")
    assert run(capsys, "hint", "1", "--level", "9").status == 2
    assert attempts.read(workspace)["vector_add"].hint == 2


def test_a_hint_outside_of_a_workspace_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "hint", "1").status == 0
    assert list(tmp_path.iterdir()) == []
