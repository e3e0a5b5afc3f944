"""diff, restore and reset: what an attempt was, and getting it back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands.running import Ran, run, run_on_terminal
from tests.workspace.results import FILE, graded, keep
from tlpuzzles.commands import remembering
from tlpuzzles.course import catalog
from tlpuzzles.verdict.outcomes import Verdict
from tlpuzzles.workspace import attempts
from tlpuzzles.workspace.folders import shipped
from tlpuzzles.workspace.record import Record

ONE = catalog.find("1")
SKELETON = shipped(ONE).file(ONE).read_text("utf-8")


@pytest.fixture
def file(workspace: Path) -> Path:
    """The learner's file, after three attempts; it is as in the last one."""
    keep(workspace, "a\nfirst\nz\n", graded(Verdict.PASSED, 60))
    keep(workspace, "a\nsecond\nz\n", graded(Verdict.FAILED, 30))
    keep(workspace, "a\nthird\nz\n", graded(Verdict.FAILED, 10))
    (workspace / FILE).write_text("a\nthird\nz\n")
    return workspace / FILE


def _changed(ran: Ran) -> list[str]:
    assert (ran.status, ran.err) == (0, "")
    return [line for line in ran.out.splitlines() if re.match(r"[-+](?![-+])", line)]


def test_diff_takes_the_latest_attempt_that_was_another(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "diff", "1")
    assert ran.out.splitlines()[:2] == ["--- attempt 2", "+++ your file"]
    assert _changed(ran) == ["-second", "+third"]
    file.write_text("a\nfourth\nz\n")
    assert _changed(run(capsys, "diff", "1")) == ["-third", "+fourth"]


def test_diff_with_an_attempt_of_choice(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for which in ("best", "passed", "1"):
        assert _changed(run(capsys, "diff", "1", "--with", which)) == ["-first", "+third"]
    for which, says in (("9", "no attempt 9"), ("worst", "give previous, best, passed, solution"), ("-1", "--with -1")):
        ran = run(capsys, "diff", "1", "--with", which)
        assert (ran.status, ran.out) == (2, "")
        assert says in ran.err


def test_diff_says_when_nothing_differs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "diff", "1", "--with", "3").out == "Nothing differs: attempt 3 and your file are the same.\n"
    file.write_bytes(b"a\r\nthird\r\nz\r\n")
    assert run(capsys, "diff", "1", "--with", "3").out.startswith("Only line ends differ")


def test_diff_has_colours_on_a_terminal_and_does_not_drive_it(file: Path) -> None:
    file.write_text("a\n\x1b]0;title\x07fourth\x1b[2J\nz\n")
    shown = run_on_terminal("diff", "1", cwd=file.parent)
    assert "\x1b[32m+fourth\x1b[0m" in shown
    assert "title" not in shown
    assert "\x1b[2J" not in shown


def test_without_attempts_and_without_a_file(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "tlpuzzles restore 1" in run(capsys, "diff", "1").err
    (workspace / FILE).write_text("x")
    ran = run(capsys, "diff", "1")
    assert (ran.status, "`tlpuzzles grade 1` makes one" in ran.err) == (2, True)
    assert run(capsys, "diff", "1", "--with", "passed").status == 2
    assert run(capsys, "restore", "1", "--best").status == 2
    assert run(capsys, "restore", "1").out == ""


def test_restore_lists_the_attempts(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [line.split("\t") for line in run(capsys, "restore", "1").out.splitlines()]
    assert [[row[0], *row[2:]] for row in rows] == [
        ["1", "passed", "60/60", "", "the best"],
        ["2", "failed", "30/60", "", ""],
        ["3", "failed", "10/60", "", "your file"],
    ]
    shown = run_on_terminal("restore", "1", cwd=file.parent)
    assert "tlpuzzles restore 1 --attempt NUMBER" in re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in shown.splitlines()) <= 60


def test_restore_keeps_what_was_there(file: Path, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("not graded yet")
    ran = run(capsys, "restore", "1", "--best")
    assert file.read_text() == "a\nfirst\nz\n"
    assert ran.out.startswith(f"Attempt 1 is back in {file}\n")
    assert "What was there is attempt 4: tlpuzzles restore 1 --attempt 4" in ran.out
    run(capsys, "restore", "1", "--attempt", "4")
    assert file.read_text() == "not graded yet"
    run(capsys, "restore", "1", "--attempt", "2")  # no attempt is made of what is one
    assert len(attempts.read(workspace)["vector_add"].attempts) == 4
    assert "is attempt 2 already." in run(capsys, "restore", "1", "--attempt", "2").out
    assert run(capsys, "restore", "1", "--attempt", "2", "--best").status == 2


def test_restore_brings_back_a_file_that_was_deleted(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.unlink()
    ran = run(capsys, "restore", "1", "--attempt", "3")
    assert (file.read_text(), "What was there" in ran.out) == ("a\nthird\nz\n", False)


def test_reset_puts_the_skeleton_back_and_keeps_the_file(
    file: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("my work")
    file.chmod(0o640)
    ran = run(capsys, "reset", "1")
    assert (file.read_text("utf-8"), file.stat().st_mode & 0o777) == (SKELETON, 0o640)
    assert "tlpuzzles restore 1 --attempt 4" in ran.out
    assert "is the skeleton already" in run(capsys, "reset", "1").out
    assert "What was there" not in run(capsys, "restore", "1", "--attempt", "4").out  # it was the skeleton
    assert file.read_text() == "my work"
    assert len(attempts.read(workspace)["vector_add"].attempts) == 4
    assert sorted(path.name for path in file.parent.iterdir()) == ["hints.md", "lesson.md", "vector_add.py"]


def test_what_cannot_be_kept_is_not_replaced(
    file: Path, workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / ".tlpuzzles" / "progress.db").write_bytes(b"no database" * 999)
    file.write_text("my work")
    ran = run(capsys, "reset", "1")
    assert (ran.status, file.read_text()) == (2, "my work")
    assert "was not replaced" in ran.err
    assert "ove it away" in ran.err
    for arguments in (("restore", "1", "--best"), ("diff", "1")):
        assert run(capsys, *arguments).err.startswith("Error: Your attempts cannot be read.")
    (workspace / ".tlpuzzles" / "progress.db").unlink()
    outside = tmp_path / "elsewhere.py"
    outside.write_text("precious")
    file.unlink()
    file.symlink_to(outside)
    ran = run(capsys, "reset", "1")
    assert (ran.status, outside.read_text()) == (2, "precious")
    assert "leads out of your workspace" in ran.err


@pytest.mark.parametrize("command", ["diff", "restore", "reset", "progress", "solution"])
def test_outside_of_a_workspace_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run(capsys, command, *(["1"] if command != "progress" else []))
    assert (ran.status, "tlpuzzles init" in ran.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["diff", "restore", "reset"])
def test_in_a_checkout_nothing_is_touched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(shipped(ONE).root)
    assert "where the course itself keeps its exercises" in run(capsys, command, "1").err


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE attempts SET earned = '\u202e9'",
        "UPDATE attempts SET possible = 'x'",
        "UPDATE attempts SET at = '9999-12-31T23:59:59-23:59'",
        "INSERT INTO ratios SELECT id, 'speed', 'x', 'c' FROM attempts",
        "UPDATE files SET content = 99999999999",
    ],
)
def test_a_record_that_somebody_wrote_into_costs_a_sentence(
    file: Path, statement: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Record(file.parents[1]).writing() as connection:
        connection.execute(statement)
    of_content = "content" in statement
    for command in (["diff", "1", "--with", "1"], ["restore", "1", "--attempt", "1"]):
        ran = run(capsys, *command)
        assert (ran.status, ran.out) == (2, "")
        assert "is damaged (" in ran.err
    for command in () if of_content else (["list"], ["progress"], ["progress", "--html", "p.html"]):
        remembering.warn.cache_clear()
        ran = run(capsys, *command)
        assert ran.status == 0
        assert ran.err.startswith("Warning: Your attempts cannot be read. ")
        assert "\u202e" not in ran.out + ran.err
    assert file.read_text() == "a\nthird\nz\n"
