"""`--ascii`: nothing but ASCII on a terminal that could show more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands.running import run_on_terminal, run_process
from tlpuzzles.commands.init import init


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    init(tmp_path / "course")
    return tmp_path / "course"


def test_a_terminal_that_knows_more_is_drawn_on_with_more(workspace: Path) -> None:
    """Else the tests below say nothing."""
    assert not run_on_terminal("grade", "1", cwd=workspace).isascii()


@pytest.mark.parametrize(
    "arguments",
    [("list",), ("show", "2"), ("hint", "1"), ("glossary", "tile"), ("cheatsheet",), ("progress",), ("grade", "1")],
)
def test_what_a_terminal_is_told_is_ascii(workspace: Path, arguments: tuple[str, ...]) -> None:
    shown = run_on_terminal(*arguments, "--ascii", cwd=workspace)
    assert shown.isascii()
    assert len(shown) > 100
    assert "?" * 2 not in shown


def test_it_may_stand_anywhere_and_be_asked_for_always(workspace: Path) -> None:
    for words in (("--ascii", "grade", "1"), ("grade", "1", "--ascii")):
        ran = run_process(*words, cwd=workspace, PYTHONIOENCODING="utf-8")
        assert ran.status == 1
        assert ran.out.isascii()
    always = run_process("grade", "1", cwd=workspace, PYTHONIOENCODING="utf-8", TLPUZZLES_ASCII="1")
    assert always.out.isascii()
    assert not run_process("grade", "1", cwd=workspace, PYTHONIOENCODING="utf-8", TLPUZZLES_ASCII="").out.isascii()


def test_the_points_of_a_list_are_drawn(workspace: Path) -> None:
    """rich knows one way to draw them."""
    shown = run_on_terminal("show", "3", "--ascii", cwd=workspace)
    points = [line for line in shown.splitlines() if re.match(r"\s*\* ", re.sub(r"\x1b\[[0-9;]*m", "", line))]
    assert len(points) >= 2


def test_what_comes_after_two_dashes_is_a_name(workspace: Path) -> None:
    ran = run_process("show", "--", "--ascii", cwd=workspace)
    assert ran.status == 2
    assert "--ascii" in ran.err
