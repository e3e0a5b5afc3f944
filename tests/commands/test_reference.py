"""solution, and diff with it: for who has passed, or gives up."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.running import run, run_on_terminal
from tests.workspace.results import FILE, graded, keep
from tlpuzzles.course import catalog
from tlpuzzles.verdict.outcomes import Verdict
from tlpuzzles.workspace import attempts, reference
from tlpuzzles.workspace.attempts import Past, State

ANSWER = "C[bx * block_N + i] = A[bx * block_N + i] + B[bx * block_N + i]"
GUIDE = "Blocks are counted upwards"


def _past(root: Path) -> Past:
    return attempts.read(root).get("vector_add", Past())


def test_before_it_is_passed_nothing_is_told(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(workspace, "x", graded(Verdict.FAILED, 59))
    keep(workspace, "x", graded(Verdict.PASSED, 60, only="ragged-end"))
    (workspace / FILE).write_text("x")
    for arguments in (("solution", "1"), ("diff", "1", "--with", "solution")):
        ran = run(capsys, *arguments)
        assert (ran.status, ran.out) == (2, "")
        assert "tlpuzzles solution 1 --give-up" in ran.err
    assert _past(workspace).state is State.TRIED


def test_after_passing_it_is_python_with_its_guide(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(workspace, "x", graded(Verdict.PASSED, 60))
    ran = run(capsys, "solution", "1")
    assert (ran.status, ran.err) == (0, "")
    assert ANSWER in ran.out
    assert f"# ## {GUIDE}" in ran.out
    compile(ran.out, "reference.py", "exec")
    run(capsys, "solution", "1", "--give-up")
    assert not _past(workspace).given_up
    (workspace / FILE).write_text("mine\n")
    compared = run(capsys, "diff", "1", "--with", "solution").out.splitlines()
    assert compared[:2] == ["--- your file", "+++ the solution"]
    assert "-mine" in compared
    assert any(line.startswith("+") and ANSWER in line for line in compared)


def test_on_a_terminal_lines_have_numbers(workspace: Path) -> None:
    keep(workspace, "x", graded(Verdict.PASSED, 60))
    shown = re.sub(r"\x1b\[[0-9;]*m", "", run_on_terminal("solution", "1", cwd=workspace, columns=120))
    assert re.search(r"^ *34 .*" + re.escape(ANSWER), shown, re.MULTILINE)
    assert GUIDE in shown
    narrow = re.sub(r"\x1b\[[0-9;]*m", "", run_on_terminal("solution", "1", cwd=workspace, columns=60))
    assert max(len(line.rstrip()) for line in narrow.splitlines()) <= 60
    # Wrapped, and not cut off: in the solution, and in its guide.
    assert re.sub(r"\s+", "", narrow).count(ANSWER.replace(" ", "")) == 2


def test_giving_up_is_recorded_and_asked_once(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ANSWER in run(capsys, "solution", "1", "--give-up").out
    assert _past(workspace).state is State.GIVEN_UP
    assert ANSWER in run(capsys, "solution", "1").out
    assert run(capsys, "list").out.splitlines()[0].split("\t")[3] == "given up"


@pytest.mark.parametrize(("answer", "gives_up"), [("n", False), ("", False), ("y", True)])
def test_a_terminal_is_asked_first(workspace: Path, answer: str, gives_up: bool) -> None:
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tlpuzzles", "solution", "1", "--give-up"],
        cwd=workspace, stdin=inner, stdout=inner, stderr=inner,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "PAGER": "cat"},
    )  # fmt: skip
    os.close(inner)
    os.write(terminal, f"{answer}\n".encode())
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:  # how Linux says that the other end of a terminal was closed
        pass
    os.close(terminal)
    assert process.wait(timeout=60) == (0 if gives_up else 1)
    assert b"before you have passed it?" in shown
    assert (GUIDE.encode() in shown) is gives_up
    assert _past(workspace).given_up is gives_up


def test_where_they_are_not_installed_it_is_said(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tlpuzzles_solutions", None)
    ran = run(capsys, "solution", "1", "--give-up")
    assert (ran.status, ran.out) == (2, "")
    assert "not installed" in ran.err
    assert "Ask your teacher" in ran.err
    assert not _past(workspace).given_up  # for nothing


def test_one_without_a_guide_is_shown_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tlpuzzles_solutions

    def missing(slug: str) -> Path:
        raise FileNotFoundError

    monkeypatch.setattr(tlpuzzles_solutions, "guide", missing)
    assert reference.reference(catalog.find("1")).guide is None


def test_a_record_that_cannot_be_written_keeps_nobody_from_giving_up(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / ".tlpuzzles").write_text("a file, where a folder is expected")
    ran = run(capsys, "solution", "1", "--give-up")
    assert (ran.status, ANSWER in ran.out) == (0, True)
    assert ran.err.count("Warning: ") == 1
