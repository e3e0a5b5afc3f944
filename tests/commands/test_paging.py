"""Long texts are shown from their beginning, on a terminal with somebody to scroll."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pexpect
import pytest

from tests.commands.running import run_on_terminal, run_process

LESSON = ("show", "2")
END = "explains the words"


def shown(cwd: Path, *arguments: str, height: int = 24, **environment: str) -> pexpect.spawn[str]:
    # As large as it is, whatever terminal the tests run in.
    inherited = {name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS")}
    around = {**inherited, "TERM": "xterm-256color", **environment}
    command = ["-m", "tlpuzzles", *arguments]
    return pexpect.spawn(
        sys.executable, command, cwd=str(cwd), env=around, encoding="utf-8", timeout=60, dimensions=(height, 80)
    )


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
def test_a_long_lesson_is_shown_from_its_beginning(tmp_path: Path) -> None:
    child = shown(tmp_path, *LESSON, PAGER="less")
    child.expect("Tiled GEMM")
    child.expect("\n:")
    assert END not in str(child.before)
    child.send("G")
    child.expect(END)
    child.send("q")
    child.expect(pexpect.EOF)


def test_what_pages_is_for_the_reader_to_choose(tmp_path: Path) -> None:
    pager = tmp_path / "my pager"
    pager.write_text("#!/bin/sh\necho paged with $LESS; wc -l; sleep 0.2\n")
    pager.chmod(0o755)
    child = shown(tmp_path, *LESSON, PAGER=f"'{pager}'", LESS="-S")
    child.expect("paged with -S")
    child.expect(pexpect.EOF)


@pytest.mark.parametrize("around", [{"TERM": "dumb"}, {"PAGER": "cat"}, {"PAGER": ""}, {"PAGER": "no-such-pager"}])
def test_without_a_pager_all_of_it_is_printed(tmp_path: Path, around: dict[str, str]) -> None:
    child = shown(tmp_path, *LESSON, **around)
    child.expect(pexpect.EOF)
    assert "Tiled GEMM" in str(child.before)
    if around.get("TERM") != "dumb":
        assert END in str(child.before)


def test_what_fits_is_printed(tmp_path: Path) -> None:
    child = shown(tmp_path, *LESSON, height=2000, PAGER="false")
    child.expect(END)
    child.expect(pexpect.EOF)


def test_nobody_at_the_keys_means_no_pager(tmp_path: Path) -> None:
    assert END in run_on_terminal(*LESSON, cwd=tmp_path)
    assert run_process(*LESSON, cwd=tmp_path, PAGER="false").out.startswith("# ")
