"""Reports as pages: `--html`."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

import tlpuzzles_solutions
from tests.commands.running import run, run_process
from tests.report import samples
from tests.workspace.results import graded
from tlpuzzles.border.children import WarmDied
from tlpuzzles.commands import html
from tlpuzzles.commands.grading_pages import tiles_of
from tlpuzzles.commands.html import page_file, write_page
from tlpuzzles.course import catalog
from tlpuzzles.errors import UsageError
from tlpuzzles.grading.inspecting import Inspector
from tlpuzzles.seeing.model import Inspection
from tlpuzzles.workspace import keeping
from tlpuzzles.workspace.folders import shipped

ONE = catalog.find("1")


@pytest.fixture
def begun(workspace: Path) -> Path:
    """The workspace with the skeleton of exercise 1."""
    (workspace / ONE.folder / ONE.file).write_bytes(shipped(ONE).file(ONE).read_bytes())
    return workspace


def test_a_grading_is_a_page_and_its_json_is_alone(begun: Path) -> None:
    ran = run_process("grade", "1", "--device", "cpu", "--json", "--html", "report.html", cwd=begun)
    assert (ran.status, ran.err) == (1, "")
    assert json.loads(ran.out)["verdict"] == "not_started"
    page = (begun / "report.html").read_text("utf-8")
    assert "NOT STARTED" in page
    assert "1 grading of this exercise" in page, "the one that has just been kept"
    assert sorted(path.name for path in begun.glob(".report*")) == []


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("nowhere/report.html", "there is no folder"),
        ("report.txt", "does not end in .html"),
        ("01_vector_add/vector_add.py", "does not end in .html"),
        ("folder.html", "is a folder"),
        ("pipe.html", "is no plain file"),
        ("circle.html", "--html"),
    ],
)
def test_where_no_page_can_be_is_said_before_anything_is_graded(
    begun: Path, named: str, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (begun / "folder.html").mkdir()
    os.mkfifo(begun / "pipe.html")
    (begun / "circle.html").symlink_to("circle.html")
    monkeypatch.setattr("tlpuzzles.commands.grade.warm_process", lambda: pytest.fail("it began to grade"))
    before = (begun / ONE.folder / ONE.file).read_bytes()
    for command in (["grade", "1"], ["grade", "--all"], ["progress"]):
        ran = run(capsys, *command, "--html", named)
        assert ran.status == 2
        assert ran.out == ""
        assert says in ran.err
        assert named.split("/")[0] in ran.err
    assert (begun / ONE.folder / ONE.file).read_bytes() == before


def test_progress_is_a_page(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keeping.keep_grading(workspace, ONE, Path(ONE.folder, ONE.file), b"x = 1", graded())
    ran = run(capsys, "progress", "--html", "progress.html")
    assert ran.status == 0
    assert "1 ✗ Vector add" in ran.out
    page = (workspace / "progress.html").read_text("utf-8")
    assert "1 grading of exercise 1" in page
    assert "Your course" in page


def test_a_page_takes_the_place_of_an_older_one_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    file.write_text("old")
    file.chmod(0o640)
    write_page(page_file(file), "new \ud800")
    assert file.read_text("utf-8") == "new ?"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"report\.html cannot be written: No space left on device"):
        html.write_page(file, "newer")
    assert file.read_text("utf-8") == "new ?"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_link_stays_one_and_leads_to_the_page(tmp_path: Path) -> None:
    (tmp_path / "served.html").symlink_to("real.html")
    write_page(page_file(tmp_path / "served.html"), "page")
    assert (tmp_path / "served.html").is_symlink()
    assert (tmp_path / "real.html").read_text() == "page"


@pytest.mark.slow
def test_a_page_shows_where_the_elements_of_the_kernels_tiles_lie(begun: Path) -> None:
    file = tlpuzzles_solutions.path("tiled_gemm")
    asked = ("--device", "cpu", "--case", "one-element", "--portability", "off", "--html", "r.html")
    ran = run_process("grade", "2", str(file), *asked, cwd=begun)
    assert ran.status == 0
    page = (begun / "r.html").read_text("utf-8")
    assert "<summary>C_local, 128 x 256 float32</summary>" in page
    assert page.count("data:image/svg+xml") >= 3


def test_a_grading_is_not_lost_where_the_process_that_draws_its_tiles_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def inspect(*_: object) -> Inspection:
        raise WarmDied("it has ended", had_child=False)

    monkeypatch.setattr(Inspector, "inspect", inspect)
    file = tlpuzzles_solutions.path("tiled_gemm")
    assert tiles_of(samples.passed(), catalog.find("2"), file, "", None, tmp_path) is None  # type: ignore[arg-type]
