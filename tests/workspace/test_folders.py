"""Finding a workspace, and reading its course.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlpuzzles.course import catalog
from tlpuzzles.errors import UsageError
from tlpuzzles.workspace.folders import NoWorkspace, find_workspace, nearest, shipped


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "my course é" / "exercises"
    (folder / "01_vector_add").mkdir(parents=True)
    (folder / "course.toml").write_text("")
    return folder


def test_found_from_inside_and_from_the_folder_that_holds_it(root: Path) -> None:
    for start in (root, root / "01_vector_add", root.parent):
        assert find_workspace(start).root == root


def test_the_nearest_wins(root: Path) -> None:
    inner = root / "01_vector_add"
    (inner / "course.toml").write_text("")
    assert find_workspace(inner).root == inner


def test_none_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(NoWorkspace, match="tlpuzzles init") as raised:
        find_workspace(tmp_path)
    assert str(tmp_path) in str(raised.value)


def test_names_the_files_of_an_exercise(root: Path) -> None:
    exercise, workspace = catalog.find("1"), find_workspace(root)
    assert workspace.file(exercise) == root / "01_vector_add" / "vector_add.py"
    assert workspace.lesson(exercise) == root / "01_vector_add" / "lesson.md"
    assert workspace.hints(exercise) == root / "01_vector_add" / "hints.md"


def test_what_a_workspace_lacks_is_read_as_shipped(root: Path, tmp_path: Path) -> None:
    first, second = catalog.find("1"), catalog.find("2")
    assert nearest(first, root).root == root
    assert nearest(second, root).root == shipped(second).root
    assert nearest(first, tmp_path).root == shipped(first).root
    assert "TODO" in shipped(first).file(first).read_text()


@pytest.mark.parametrize(
    ("text", "arch"),
    [("", None), ("[class]", None), ('[class]\narch = "sm_75"', "sm_75"), ('class.arch = "sm_90a"', "sm_90a")],
)
def test_the_class_may_name_its_gpu(root: Path, text: str, arch: str | None) -> None:
    (root / "course.toml").write_text(text)
    assert find_workspace(root).arch == arch


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[class]\narch = "sm_70"', "arch is 'sm_70', but must be one of \"sm_75\" (T4), "),
        ("[class]\narch = 75", "arch is 75, but must be"),
        ("[class]\narch = []", "arch is [], but must be"),
        ('[class]\narchitecture = "sm_75"', 'no setting "architecture"'),
        ("class = 1", "must be a table"),
        ("[class", "is not valid TOML"),
        ("x = '\udcff'", "is not UTF-8"),
    ],
)
def test_a_wrong_course_toml_names_the_file_and_the_value(root: Path, text: str, says: str) -> None:
    (root / "course.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError) as raised:
        find_workspace(root)
    assert says in str(raised.value)
    assert str(root / "course.toml") in str(raised.value)
