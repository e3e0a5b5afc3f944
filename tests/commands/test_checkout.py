"""In a checkout of tlpuzzles, the course's own exercises are no place to work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.running import Ran, run, run_process
from tlpuzzles.commands import files
from tlpuzzles.commands.init import init

CHECKOUT = Path(__file__).resolve().parents[2]
OWN_COPY = "is the course's own copy"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ran:
    monkeypatch.chdir(CHECKOUT)
    return run(capsys, "list")


def test_a_list_that_shows_nothing_passed_says_where_it_looked(shown: Ran) -> None:
    assert shown.status == 0
    assert OWN_COPY in shown.err
    assert OWN_COPY not in shown.out


def test_a_grading_says_so_beside_its_json() -> None:
    ran = run_process("grade", "1", "--device", "cpu", "--json", cwd=CHECKOUT)
    assert OWN_COPY in ran.err
    assert json.loads(ran.out)["verdict"] == "not_started"


def test_a_workspace_below_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    init(tmp_path / "my-kernels")
    monkeypatch.setattr(files, "current_folder", lambda: tmp_path)
    files.tell_of_checkout(CHECKOUT / "exercises")
    assert f"Yours may be in {tmp_path / 'my-kernels'}" in capsys.readouterr().err.replace("\n", " ")


def test_a_workspace_of_ones_own_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    init(tmp_path / "mine")
    capsys.readouterr()
    files.tell_of_checkout(tmp_path / "mine")
    assert capsys.readouterr().err == ""
