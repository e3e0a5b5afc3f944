"""list, show and hint."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.commands.conftest import LESSON
from tests.commands.running import run, run_on_terminal
from tests.workspace.results import graded, keep
from tlpuzzles.commands.init import init
from tlpuzzles.course import catalog
from tlpuzzles.verdict.outcomes import Verdict
from tlpuzzles.workspace.folders import shipped


def _visible(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\]8;[^\x1b]*\x1b\\", "", text).splitlines()


def test_list_into_a_pipe_has_a_line_for_each_exercise(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(workspace, "one", graded(Verdict.FAILED, 30))
    keep(workspace, "two", graded(Verdict.PASSED, 93, ratios=(0.95, 0.9)))
    rows = [line.split("\t") for line in run(capsys, "list").out.splitlines()]
    assert [row[:3] for row in rows] == [[str(e.number), e.slug, e.summary] for e in catalog.exercises()]
    assert [row[3:] for row in rows[:2]] == [["passed", "93/100", "0.900", "2"], ["not tried", "", "", "0"]]


def test_list_shows_how_far_one_has_come(workspace: Path) -> None:
    keep(workspace, "one", graded(Verdict.FAILED, 30))
    before = _visible(run_on_terminal("list", cwd=workspace))
    keep(workspace, "two", graded(Verdict.PASSED, 93, ratios=(0.95, 0.9)))
    after = _visible(run_on_terminal("list", cwd=workspace))
    assert any(line.strip() == "✗ best 30 of 60 points · 1 try" for line in before)
    # What does not fit beside the summary is wrapped.
    assert "✓ passed · best 93 of 100 points · speed 0.90 · 2 tries" in " ".join(" ".join(after).split())
    assert "tlpuzzles progress" in after[-1]


def test_list_says_how_to_get_a_workspace_where_there_is_none(tmp_path: Path, workspace: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    assert "tlpuzzles init" in run_on_terminal("list", cwd=outside)
    assert "tlpuzzles init" not in run_on_terminal("list", cwd=workspace)


@pytest.mark.parametrize("arguments", [("list",), ("show", "1"), ("hint", "1"), ("hint", "1", "--level", "7")])
def test_fits_sixty_columns(workspace: Path, arguments: tuple[str, ...]) -> None:
    lines = _visible(run_on_terminal(*arguments, cwd=workspace, columns=60))
    assert lines
    assert max(map(len, lines)) <= 60


def test_show_into_a_pipe_is_the_lesson_as_written(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("1", "01", "vector_add", "vec"):
        assert run(capsys, "show", name).out == LESSON


def test_show_on_a_terminal_is_rendered(workspace: Path) -> None:
    shown = run_on_terminal("show", "1", cwd=workspace)
    assert "```" not in shown
    assert "**" not in shown
    assert "C[i] = A[i] + B[i]" in "\n".join(_visible(shown))


def test_show_says_where_else_it_can_be_read(tmp_path: Path) -> None:
    init(tmp_path)
    shown = " ".join(_visible(run_on_terminal("show", "3", cwd=tmp_path)))
    assert "in an editor: 03_schedule_sweep/lesson.md" in shown


@pytest.mark.parametrize("slug", [exercise.slug for exercise in catalog.exercises()])
def test_drawings_code_and_tables_of_a_lesson_are_whole_in_sixty_columns(slug: str, tmp_path: Path) -> None:
    shown = [line.rstrip() for line in _visible(run_on_terminal("show", slug, cwd=tmp_path, columns=60))]
    exercise = catalog.find(slug)
    lesson = shipped(exercise).lesson(exercise).read_text("utf-8")
    fenced = [line for block in re.findall(r"^```\w+\n(.*?)^```$", lesson, re.M | re.S) for line in block.splitlines()]
    assert max(map(len, shown)) <= 60
    assert fenced
    assert [line for line in fenced if line and f" {line}" not in shown] == []
    assert "…" not in "".join(shown)


def test_show_names_the_cases_that_can_be_graded_alone(workspace: Path) -> None:
    shown = " ".join(" ".join(_visible(run_on_terminal("show", "1", cwd=workspace))).split())
    assert "tlpuzzles grade 1 --case NAME grades one alone:" in shown
    for case in catalog.find("1").cases:
        assert case.id in shown.replace("- ", "-")


def test_show_needs_no_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run(capsys, "show", "1")
    assert shown.status == 0
    assert shown.out.startswith("# ")


def test_hint_starts_with_the_first_and_leads_to_the_next(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run(capsys, "hint", "1").out
    assert "hint 1 of 3" in first
    assert "Think of the end." in first
    assert "T.Parallel" not in first
    assert "lines of the solution" not in first
    assert "tlpuzzles hint 1 --level 2" in first
    second = run(capsys, "hint", "1", "--level", "2").out
    assert "Think of `T.Parallel`." in second
    assert "Write the sum." not in second
    assert "Level 3 shows lines of the solution" in second
    last = run(capsys, "hint", "1", "--level", "3").out
    assert "Write the sum." in last
    assert "--level" not in last


@pytest.mark.parametrize("level", ["0", "4", "-1"])
def test_hint_of_a_level_that_is_not_there(workspace: Path, capsys: pytest.CaptureFixture[str], level: str) -> None:
    ran = run(capsys, "hint", "1", "--level", level)
    assert (ran.status, ran.out) == (2, "")
    assert "3 hints" in ran.err


def test_hints_that_are_misnumbered_are_named(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = workspace / "01_vector_add" / "hints.md"
    path.write_text("## Level 1\nx\n## Level 3\ny\n")
    ran = run(capsys, "hint", "1")
    assert ran.status == 2
    assert "[1, 3]" in ran.err
    path.unlink()
    assert "is missing" in run(capsys, "hint", "1").err
    path.write_bytes(b"## Level 1\n\xff\n")
    assert "not UTF-8" in run(capsys, "hint", "1").err


def test_every_exercise_has_a_lesson_and_three_hints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for exercise in catalog.exercises():
        assert run(capsys, "show", exercise.slug).status == 0
        assert run(capsys, "hint", exercise.slug, "--level", "3").status == 0
