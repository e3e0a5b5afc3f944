"""init: copies the exercises and never replaces a file."""

from __future__ import annotations

import re
import resource
from pathlib import Path

import pytest

from tests.commands.running import run
from tlpuzzles.course import catalog
from tlpuzzles.workspace.folders import find_workspace, shipped


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "a student's folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_makes_a_workspace(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "init")
    assert ran.status == 0
    workspace = find_workspace(empty)
    assert workspace.root == empty / "exercises"
    for exercise in catalog.exercises():
        assert "TODO" in workspace.file(exercise).read_text()
        assert workspace.lesson(exercise).is_file()
        assert workspace.hints(exercise).is_file()
    assert "tlpuzzles show 1" in ran.out
    assert "tlpuzzles grade 1" in ran.out
    assert not list(workspace.root.rglob("__pycache__"))


def test_links_of_a_copied_lesson_lead_to_the_copied_pages(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "init", "mine")
    for exercise in catalog.exercises():
        lesson = empty / "mine" / exercise.folder / "lesson.md"
        links = re.findall(r"\]\((\.\./[^)#]+)", lesson.read_text("utf-8"))
        assert any(link.endswith(".svg") for link in links)
        assert [link for link in links if not (lesson.parent / link).is_file()] == []


def test_links_of_a_copied_page_lead_to_the_copied_lessons(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "init", "mine")
    seen = 0
    for page in (empty / "mine" / "docs").glob("*.md"):
        links = re.findall(r"\]\(([^):#]+\.\w+)", page.read_text("utf-8"))
        assert [link for link in links if not (page.parent / link).is_file()] == [], page.name
        seen += sum(link.endswith("lesson.md") for link in links)
    assert seen > 10


def test_the_name_of_a_folder_drives_no_terminal(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "init", "mine\x1b[31m\nNext:")
    assert ran.status == 0
    assert "into mine?[31m?Next:\n" in ran.out
    assert "\x1b" not in ran.out


def test_it_needs_no_current_folder_for_one_from_the_root_on(
    empty: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty.rmdir()
    for folder in ("mine", None):
        ran = run(capsys, "init", *([] if folder is None else [folder]))
        assert (ran.status, ran.out) == (2, "")
        assert "The folder you are in no longer exists." in ran.err
    ran = run(capsys, "init", str(tmp_path / "mine"))
    assert ran.status == 0
    assert f"  cd {tmp_path / 'mine'}\n" in ran.out
    assert (tmp_path / "mine" / "course.toml").is_file()


def test_never_replaces_a_file_and_says_which_it_kept(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "init", "mine")
    file, lesson = empty / "mine/01_vector_add/vector_add.py", empty / "mine/01_vector_add/lesson.md"
    file.write_text("my work")
    lesson.unlink()
    ran = run(capsys, "init", "mine")
    assert ran.status == 0
    assert file.read_text() == "my work"
    assert lesson.is_file()
    assert "Copied 1 file into mine" in ran.out
    assert "  01_vector_add/vector_add.py\n" in ran.out
    assert "01_vector_add/lesson.md" not in ran.out


def test_inside_a_workspace_it_completes_that_one(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "init")
    monkeypatch.chdir(empty / "exercises" / "01_vector_add")
    (empty / "exercises" / "01_vector_add" / "hints.md").unlink()
    assert run(capsys, "init").status == 0
    assert (empty / "exercises" / "01_vector_add" / "hints.md").is_file()
    assert not (empty / "exercises" / "01_vector_add" / "exercises").exists()


def test_in_a_checkout_it_asks_for_a_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course = shipped(catalog.find("1")).root
    for folder in (course.parent, course, course / "01_vector_add"):
        monkeypatch.chdir(folder)
        ran = run(capsys, "init")
        assert (ran.status, ran.out) == (2, "")
        assert "is where the course itself keeps its exercises" in ran.err
        assert "tlpuzzles init ~/my-kernels" in ran.err


def test_says_where_to_go_when_the_folder_is_not_found_from_here(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "  cd 'my kernels'\n" in run(capsys, "init", "my kernels").out
    assert "cd " not in run(capsys, "init").out
    assert "  cd again\n" in run(capsys, "init", "again").out  # from here, the one made before it is found


@pytest.mark.parametrize("target", ["taken", "taken/below", "dangling"])
def test_a_file_in_the_way_is_named(empty: Path, capsys: pytest.CaptureFixture[str], target: str) -> None:
    (empty / "taken").write_text("a file")
    (empty / "dangling").symlink_to("nowhere")
    ran = run(capsys, "init", target)
    assert ran.status == 2
    assert f"Error: {target.partition('/')[0]} is a file, not a folder." in ran.err
    assert (empty / "taken").read_text() == "a file"


def test_a_file_in_the_way_of_an_exercise_is_named(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (empty / "mine").mkdir()
    (empty / "mine" / "01_vector_add").write_text("a file")
    ran = run(capsys, "init", "mine")
    assert ran.status == 2
    assert "mine/01_vector_add is a file" in ran.err


def test_a_place_that_cannot_be_written_is_a_sentence(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, "init", "/proc/tlpuzzles")  # read-only to every user, root too
    assert ran.status == 2
    assert "/proc/tlpuzzles cannot be written" in ran.err


def test_a_full_disk_leaves_no_half_written_file(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))  # a file of more than 600 bytes cannot be written whole
    try:
        ran = run(capsys, "init")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert ran.status == 2
    assert "cannot be written: File too large" in ran.err
    assert run(capsys, "init").status == 0
    for exercise in catalog.exercises():
        assert find_workspace(empty).file(exercise).read_text() == shipped(exercise).file(exercise).read_text()


def test_a_deleted_current_folder_is_a_sentence(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty.rmdir()
    ran = run(capsys, "init")
    assert ran.status == 2
    assert "no longer exists" in ran.err
