"""Reports as pages: `--html`."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tlpuzzles_solutions
from tests.commands.running import run, run_process
from tests.report import samples
from tests.workspace.results import graded
from tlpuzzles.border.children import WarmDied
from tlpuzzles.commands import html
from tlpuzzles.commands.grading_pages import tiles_of, write_grading
from tlpuzzles.commands.html import page_file, write_page
from tlpuzzles.course import catalog
from tlpuzzles.errors import NotWritten
from tlpuzzles.grading.inspecting import Inspector
from tlpuzzles.seeing.model import Inspection
from tlpuzzles.workspace import keeping
from tlpuzzles.workspace.folders import shipped
from tlpuzzles.workspace.record import Record

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
    assert "Table of 1 grading: 1 not started" in page, "the one that has just been kept"
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


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda page, file: page.symlink_to(file), "which does not end in .html"),
        (lambda page, file: page.hardlink_to(file), "your kernel"),
        (lambda page, file: _linked_page(page, file), "your kernel"),
    ],
    ids=["a link", "a second name", "a kernel that is called a page"],
)
@pytest.mark.parametrize("command", [["grade", "1"], ["grade", "--all"], ["progress"]], ids=" ".join)
def test_no_page_takes_a_kernels_place(
    begun: Path,
    made: Callable[[Path, Path], None],
    says: str,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("tlpuzzles.commands.grade.warm_process", lambda: pytest.fail("it began to grade"))
    file = begun / ONE.folder / ONE.file
    before = file.read_bytes()
    made(begun / "report.html", file)
    ran = run(capsys, *command, "--html", "report.html")
    assert (ran.status, ran.out) == (2, "")
    assert says in ran.err
    assert file.read_bytes() == before


def _linked_page(page: Path, file: Path) -> None:
    file.rename(page)
    file.symlink_to(page)


def test_a_file_to_grade_may_be_called_a_page_and_is_not_replaced(
    begun: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tlpuzzles.commands.grade.warm_process", lambda: pytest.fail("it began to grade"))
    (begun / "mine.html").write_text("import tilelang")
    ran = run(capsys, "grade", "1", "mine.html", "--html", "mine.html")
    assert ran.status == 2
    assert "your kernel, mine.html" in ran.err


def test_a_page_that_cannot_be_written_costs_a_line_and_not_the_status(begun: Path) -> None:
    code = (
        "import os, sys\n"
        "def full(*_): raise OSError(28, 'No space left on device')\n"
        "os.fsync = full\n"
        "from tlpuzzles.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", code, "grade", "1", "--device", "cpu", "--html", "r.html"]
    ran = subprocess.run(command, cwd=begun, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "NOT STARTED" in ran.stdout
    assert "as a page" not in ran.stdout
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("Warning: --html: the page ")
    assert "r.html cannot be written: No space left on device. What stood there is as it was." in ran.stderr


def test_a_fault_in_a_page_costs_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tlpuzzles.report.page.grading_page", lambda *_, **__: 1 / 0)
    written = write_grading(
        tmp_path / "r.html", samples.passed(), catalog.find("6"), None, following=None, tiles=None, nvcc=False
    )
    assert not written
    assert (
        "r.html is not written. ZeroDivisionError: division by zero. The grading counts.\n" in capsys.readouterr().err
    )


def test_a_record_that_cannot_be_read_costs_a_line_and_not_the_page(begun: Path) -> None:
    keeping.keep_grading(begun, ONE, Path(ONE.folder, ONE.file), b"x = 1", graded())
    with Record(begun).writing() as connection:
        connection.execute("UPDATE attempts SET earned = 'x'")
    ran = run_process("grade", "1", "--device", "cpu", "--html", "r.html", cwd=begun)
    assert ran.status == 1
    assert ran.err.startswith("Warning: Your attempts cannot be read. ")
    assert "NOT STARTED" in (begun / "r.html").read_text("utf-8")


def test_progress_is_a_page(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keeping.keep_grading(workspace, ONE, Path(ONE.folder, ONE.file), b"x = 1", graded())
    ran = run(capsys, "progress", "--html", "progress.html")
    assert ran.status == 0
    assert "1 ✗ Vector add" in ran.out
    page = (workspace / "progress.html").read_text("utf-8")
    assert "Table of 1 try" in page
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
    with pytest.raises(NotWritten, match=r"report\.html cannot be written: No space left on device"):
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
