from __future__ import annotations

from pathlib import Path

import pytest

from tlpuzzles.grading.submission import NoSubmission, is_untouched, prints_in_kernel, read, todos

SKELETON = '''"""Add."""
import tilelang


def make(N):
    # TODO 1: launch the blocks.
    # TODO 2: add,
    # element by element.
    return None
'''


@pytest.mark.parametrize(
    ("content", "says", "line"),
    [
        (b"", "empty", None),
        (b" \n\t\n", "empty", None),
        (b"x = 1\ny = '\xff'\n", "not UTF-8", 2),
        (b"def f(:\n", "invalid syntax", 1),
        (b"x = 1\nx + 1 = x\n", "What is stored into stands on the left of =, the value on the right", 2),
        (b"x = 1\nif x = 1:\n    y = 2\n", "Maybe you meant '==' or ':=' instead of '='?", 2),
        (b"x = 1\nif x:\n", "expected an indented block", 2),
        (b"x = 1\0", "NUL", None),
        (b"\x7fELF" + bytes(range(128, 256)), "not UTF-8", 1),
        (b"#" * (2 << 20), "2 MiB long", None),
        (b"x = " + b"(" * 5000 + b")" * 5000, "cannot read the file", None),
    ],
)
def test_a_file_that_is_no_python_is_a_problem_with_a_line(
    tmp_path: Path, content: bytes, says: str, line: int
) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(content)
    problem = read(file).problem
    assert problem is not None
    assert says in problem.message
    assert "?." not in problem.message
    if line is not None:
        assert problem.line == line


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"\xef\xbb\xbfx = 1\n")
    assert read(file).problem is None


def test_no_file_is_a_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(NoSubmission, match="There is no file"):
        read(tmp_path / "missing.py")
    with pytest.raises(NoSubmission, match="is a folder"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("text", "untouched"),
    [
        (SKELETON, True),
        (SKELETON.replace("# TODO 1: launch the blocks.\n", "\n"), True),
        (SKELETON.replace("\n\n\n", "\n\n"), True),
        (SKELETON.replace("None", "N"), False),
        (SKELETON + "x = 1\n", False),
    ],
)
def test_only_comments_and_layout_leave_a_skeleton_untouched(text: str, untouched: bool) -> None:
    assert is_untouched(text, SKELETON) is untouched


def test_todos_are_listed_with_their_lines() -> None:
    assert [(todo.line, todo.text) for todo in todos(SKELETON)] == [
        (6, "TODO 1: launch the blocks."),
        (7, "TODO 2: add, element by element."),
    ]


def test_a_file_that_is_nested_deeper_than_python_can_follow_is_no_skeleton() -> None:
    deep = "x = " + " + ".join(["1"] * 1500)
    assert not is_untouched(deep, "x = 1")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def f():\n    x = 1\n\t    y = 2\n", "begins with 1 tab and 4 spaces, the one above with 4 spaces."),
        ("x = 1\n\ty = 2\n", "begins with 1 tab, the one above with no space."),
        ("x = 1\n  y = 2\n", "begins with 2 spaces, the one above with no space."),
        ("if x:\n y = 2\n  z = 3\n", "begins with 2 spaces, the one above with 1 space."),
        ("if x:\n\ty = 2\n\t\tz = 3\n", "begins with 2 tabs, the one above with 1 tab."),
    ],
)
def test_what_a_line_begins_with_is_told_as_it_is(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    problem = read(tmp_path / "mine.py").problem
    assert problem is not None
    assert problem.message.endswith(f" This line {says}")


@pytest.mark.parametrize(
    ("text", "prints"),
    [
        ("with T.Kernel(4) as bx:\n    for i in T.Parallel(4):\n        print(bx, i)\n", True),
        ("with T.Kernel(4) as bx:\n    T.print(bx)\nprint('made')\n", False),
        ("with open('log') as file:\n    print('made', file=file)\n", False),
    ],
)
def test_a_print_of_pythons_in_a_kernel_is_seen(text: str, prints: bool) -> None:
    assert prints_in_kernel(text) is prints
