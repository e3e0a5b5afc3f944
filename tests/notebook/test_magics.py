"""What a learner sees below a cell, and what is left in the workspace."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.conftest import Notebook
from tlpuzzles.course import catalog
from tlpuzzles.device.cuda import devices
from tlpuzzles.errors import UsageError
from tlpuzzles.notebook.messages import Answer, Asked
from tlpuzzles.notebook.service import Service
from tlpuzzles.workspace import attempts
from tlpuzzles.workspace.folders import shipped
from tlpuzzles.workspace.hints import read_hints
from tlpuzzles_solutions import path as solution
from tlpuzzles_solutions.cut import whole

ONE = catalog.find("1")
SKELETON = shipped(ONE).file(ONE).read_text("utf-8")
ANSWER = whole(solution(ONE.slug).read_text("utf-8"))


def _grade(notebook: Notebook, cell: str, *options: str) -> str:
    return notebook.run(f"%%exercise 1 {' '.join(options)}\n{cell}").text


def test_a_cell_is_saved_graded_and_recorded(notebook: Notebook, root: Path) -> None:
    shown = notebook.run(f"%%exercise 1 --device cpu\n{ANSWER}")
    assert (root / ONE.folder / ONE.file).read_text("utf-8") == f"# %%exercise 1\n{ANSWER}"
    # The same report for both kinds of front-end, in the place of what went on before.
    assert "[PASSED]" in shown.text
    assert "Passed" in shown.pages[-1] or "PASSED" in shown.pages[-1]
    assert any("running the kernel" in text for text in shown.texts[:-1])
    assert any("running the kernel" in page for page in shown.pages[:-1])
    (attempt,) = attempts.read(root)[ONE.slug].attempts
    assert (attempt.passed, attempt.path) == (True, "01_vector_add/vector_add.py")
    assert attempts.content(root, attempt) == (root / ONE.folder / ONE.file).read_bytes()


def test_the_cell_is_graded_whatever_is_saved_while_the_grader_starts(
    notebook: Notebook, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another notebook of the same workspace, perhaps."""
    file, service = root / ONE.folder / ONE.file, notebook.course.service

    def ask_late(asked: Asked, pause: float) -> Iterator[Answer | None]:
        file.write_text("x = 'another notebook'\n")
        yield from Service.ask(service, asked, pause)

    monkeypatch.setattr(service, "ask", ask_late)
    told = _grade(notebook, "import tilelang\nx = (")
    assert "vector_add.py:3" in told
    assert "was never closed" in told
    assert file.read_text() == "x = 'another notebook'\n"
    (attempt,) = attempts.read(root)[ONE.slug].attempts
    assert attempt.path == "01_vector_add/vector_add.py"
    assert attempts.content(root, attempt) == b"# %%exercise 1\nimport tilelang\nx = (\n"


def test_the_skeleton_is_not_started(notebook: Notebook, root: Path) -> None:
    told = _grade(notebook, SKELETON)
    assert "[NOT STARTED]" in told
    assert "%hint 1" in told
    assert "tlpuzzles hint" not in told
    assert [attempt.verdict for attempt in attempts.read(root)[ONE.slug].attempts] == ["not_started"]


def test_lines_are_counted_as_in_the_cell(notebook: Notebook) -> None:
    told = _grade(notebook, "import tilelang\nx = (")  # the cell's third line
    assert "vector_add.py:3" in told
    assert "was never closed" in told


def test_one_case_again_with_its_seed(notebook: Notebook) -> None:
    off_by_one = ANSWER.replace("T.ceildiv(N, block_N)", "T.ceildiv(N, block_N) - 1 + (N % block_N == 0)")
    told = _grade(notebook, off_by_one, "--device cpu --portability off --case ragged-end --seed 5")
    assert "NOT YET RIGHT" in told
    assert "%%exercise 1 --case ragged-end --seed" in told


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("%%exercise 99\nx = 1", "6  flash_attention"),
        ("%%exercise\nx = 1", "%%exercise 1"),
        ("%%exercise 1 --cases ragged\nx = 1", "unrecognized arguments: --cases"),
        ("%%exercise 1 --seed -1\nx = 1", "argument --seed: invalid seed: '-1' is not a whole number from 0 on"),
        ("%%exercise 1 --seed abc\nx = 1", "argument --seed: invalid seed: 'abc' is not a whole number from 0 on"),
        ("%%exercise 1 --device tpu\nx = 1", "argument --device: invalid choice: 'tpu' is none of auto, cpu, cuda"),
        ("%%exercise 1 --portability all\nx = 1", "'all' is none of "),
        ("%%exercise 1 'x\nx = 1", "cannot be read"),
        ("%%exercise 1 --case ragged\nx = 1", "ragged-end"),
        ("%exercise 1", "%%exercise 1"),
        ("%hint", "%hint 1"),
        ("%hint 1 --level first", "argument --level: invalid level: 'first' is not a whole number from 1 on"),
        ("%hint 99", "6  flash_attention"),
        ("%hint 1 --level 9", "--level goes from 1 to 4"),
        ("%hint 1 --level 0", "'0' is not a whole number from 1 on"),
        ("%hint 1 --level -5", "'-5' is not a whole number from 1 on"),
        ("%%exercise 1 \ud800\nx = 1", "(U+D800)"),
        ("%exercise \ud800", "%%exercise \\ud800"),
        ("%hint \ud800", "(U+D800)"),
        ("%workspace \0", "(U+0000)"),
        ("%tlpuzzles grade \0", "(U+0000)"),
        ("%tlpuzzles \ud800", "(U+D800)"),
        ("%tlpuzzles watch", "begin the cell with %%exercise N"),
        ("%tlpuzzles --ascii watch 1 --device cpu", "begin the cell with %%exercise N"),
        ("%workspace ~nobody-has-this-name/mine", "home folder of nobody"),
        ("%workspace a --drive", "not both"),
        ("%workspace --drive", "not Colab"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(notebook: Notebook, cell: str, told: str) -> None:
    assert told in notebook.run(cell).text


def test_a_gpu_that_is_not_there_is_said(notebook: Notebook) -> None:
    if devices.find().presence is devices.Presence.PRESENT:
        pytest.skip("there is a GPU")
    told = _grade(notebook, ANSWER, "--device cuda")
    assert told.startswith("No GPU can be used")
    assert "%tlpuzzles doctor" in told


def test_a_hint_that_is_not_there_counts_for_nothing(notebook: Notebook, root: Path) -> None:
    six = catalog.find("6")
    notebook.run("%hint 6 --level 0")
    assert six.slug not in attempts.read(root)
    assert "hint 1 of" in notebook.run("%hint 6").text


def test_hints_go_further_with_each_call(notebook: Notebook, root: Path) -> None:
    five = catalog.find("5")
    hints = read_hints(five, root)
    seen = [notebook.run("%hint 5").text for _ in range(len(hints) + 1)]
    for level, told in enumerate([*range(1, len(hints) + 1), len(hints)]):
        assert f"hint {told} of {len(hints)}" in seen[level]
    assert "shows lines of the solution" in seen[len(hints) - 2]
    assert hints[0].splitlines()[0] in seen[0]
    assert hints[0].splitlines()[0] in notebook.run("%hint 5 --level 1").text
    assert hints[1].splitlines()[0] in notebook.run("%hint 5").text
    assert attempts.read(root)[five.slug].hint == len(hints)


def test_commands_run_in_the_workspace(notebook: Notebook, root: Path) -> None:
    (root / "typer.py").write_text("raise SystemExit('stands in for typer')")
    assert "0 of 8 passed" in notebook.run("%progress").printed
    assert "%tlpuzzles show 1" in notebook.run("%progress").printed
    refused = notebook.run("%solution 1").printed
    assert "%solution 1 --give-up" in refused
    assert "def make_vector_add" in notebook.run("%solution 1 --give-up").printed
    assert "Tile" in notebook.run("%tlpuzzles glossary tile").printed
    assert "Start here" in notebook.run("%tlpuzzles").printed


SAYS = "`tlpuzzles grade 1` tlpuzzles hint 2, tlpuzzles progress"


def test_what_the_learner_says_is_not_put_into_other_words(notebook: Notebook, root: Path) -> None:
    shown = notebook.run(f"%%exercise 1 --device cpu\nprint({SAYS!r})\nraise ValueError({SAYS[::-1]!r}[::-1])")
    for report in (shown.text, shown.pages[-1]):
        assert report.count(SAYS) >= 2  # printed, and raised
        assert "%hint 1" in report
        assert "%hint 2" not in report
    shown = notebook.run(f"%%exercise 1\nx = (  # {SAYS}")
    for report in (shown.text, shown.pages[-1]):
        assert SAYS in report
        assert "%%exercise 1" in report
    # The commands, too.
    printed = notebook.run("%tlpuzzles grade 1 --device cpu").printed
    assert SAYS in printed
    assert "%hint 1" in printed
    printed = notebook.run("%tlpuzzles diff 1").printed
    assert f"+x = (  # {SAYS}" in printed
    assert f"-print({SAYS!r})" in printed
    assert SAYS in notebook.run("%tlpuzzles grade 1 --device cpu --json").printed
    assert SAYS in notebook.run("%tlpuzzles inspect 1").printed


def test_commands_are_told_as_they_are_typed(notebook: Notebook, root: Path) -> None:
    assert "%tlpuzzles show 1" in notebook.run("%tlpuzzles --help").printed
    told = notebook.run("%tlpuzzles restore 1 --attempt 7").printed
    assert "`%tlpuzzles restore 1` lists" in told
    assert "%%exercise 1" in notebook.run("%tlpuzzles show 1").printed
    assert "Usage: %tlpuzzles diff" in notebook.run("%tlpuzzles diff --help").printed
    assert "%tlpuzzles diff 6 --with best" in notebook.run("%tlpuzzles diff --help").printed


def test_work_that_a_cell_replaces_is_kept(notebook: Notebook, root: Path) -> None:
    file = root / ONE.folder / ONE.file
    _grade(notebook, "x = (")
    assert not any("is kept" in text for text in notebook.run("%%exercise 1\nx = ((").texts)
    file.write_text("# by hand\nx = [\n")
    shown = notebook.run("%%exercise 1\nx = (((")
    (remark,) = [text for text in shown.texts if "is kept as attempt" in text]
    assert "%tlpuzzles restore 1 --attempt 3" in remark
    kept = attempts.read(root)[ONE.slug].numbered(3)
    assert kept is not None
    assert attempts.content(root, kept) == b"# by hand\nx = [\n"
    # A fresh skeleton over what was graded is said, too.
    shown = notebook.run(f"%%exercise 1\n{SKELETON}")
    assert any("is kept as attempt 4" in text for text in shown.texts)


def test_a_record_that_cannot_be_used_costs_no_work_and_no_grading(notebook: Notebook, root: Path) -> None:
    _grade(notebook, "x = (")
    database = root / ".tlpuzzles" / "progress.db"
    database.write_bytes(b"no database" * 999)
    shown = notebook.run(f"%%exercise 1\n{SKELETON}")
    assert any("[NOT STARTED]" in text for text in shown.texts)
    assert "This grading is not kept" in shown.text
    aside = root / ONE.folder / "vector_add.before.py"
    assert aside.read_text() == "# %%exercise 1\nx = (\n"
    assert any(str(aside) in text for text in shown.texts)
    assert "This grading is not kept" in notebook.run(f"%%exercise 1\n{SKELETON}").text


@pytest.mark.parametrize("damage", ["junk", "a folder"])
def test_without_a_record_no_work_is_written_over(notebook: Notebook, root: Path, damage: str) -> None:
    file, database = root / ONE.folder / ONE.file, root / ".tlpuzzles" / "progress.db"
    database.parent.mkdir(exist_ok=True)
    if damage == "junk":
        database.write_bytes(b"j" * 2000)
    else:
        database.mkdir()
    file.write_text("# PRECIOUS")
    file.with_name("vector_add.before.py").write_text("# the learner's own")
    for cell in ("x = (", "x = [", "x = {"):
        shown = notebook.run(f"%%exercise 1\n{cell}")
    aside = {path.name: path.read_text() for path in file.parent.glob("vector_add.before*")}
    assert aside == {
        "vector_add.before.py": "# the learner's own",
        "vector_add.before-2.py": "# PRECIOUS",
        "vector_add.before-3.py": "# %%exercise 1\nx = (\n",
        "vector_add.before-4.py": "# %%exercise 1\nx = [\n",
    }
    assert any(str(file.with_name("vector_add.before-4.py")) in text for text in shown.texts)


@pytest.mark.parametrize(
    ("cell", "told"),
    [("x = 1\ny = 2 #\ud800", "Line 3 of the cell has half a character (U+D800)"), ("#" * (1 << 20), "1024 KiB")],
)
def test_a_cell_that_cannot_be_graded_is_not_saved(notebook: Notebook, root: Path, cell: str, told: str) -> None:
    file = root / ONE.folder / ONE.file
    _grade(notebook, SKELETON)
    with pytest.raises(UsageError, match=re.escape(told)):
        notebook.course.exercise("1", cell)
    assert file.read_text("utf-8") == f"# %%exercise 1\n{SKELETON}"
    # Which leaves nothing that keeps the next cell from being saved.
    assert "was never closed" in _grade(notebook, "x = (")


def test_a_workspace_that_is_gone_is_said(notebook: Notebook, root: Path) -> None:
    shutil.rmtree(root)
    assert "is gone" in _grade(notebook, SKELETON)
    assert not root.exists()


def test_a_folder_that_cannot_be_a_workspace_is_said(notebook: Notebook, root: Path) -> None:
    told = notebook.run(f"%workspace '{root / 'course.toml'}'").text
    assert "is a file, not a folder" in told
    assert "%workspace" in told
    assert "course itself keeps its exercises" in notebook.run(f"%workspace '{shipped(ONE).root}'").text
    assert notebook.run("%workspace").text == f"Your workspace: {root}"


def test_a_folder_that_is_gone_is_no_concern_of_a_workspace_elsewhere(
    notebook: Notebook, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "gone").rmdir()
    assert "no longer exists" in notebook.run("%workspace mine").text
    for named, folder in ((f"'{tmp_path / 'other'}'", tmp_path / "other"), ("~/mine", tmp_path / "mine")):
        assert notebook.run(f"%workspace {named}").text.startswith(f"Your workspace: {folder}")
        assert (folder / "course.toml").is_file()
    assert "0 of 8 passed" in notebook.run("%progress").printed
    notebook.course.service.stop()
    assert "[NOT STARTED]" in _grade(notebook, SKELETON)


def test_what_nobody_thought_of_is_a_sentence_too(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(line: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(notebook.course.service, "ask", fail)
    with pytest.raises(AssertionError, match="An error of ours"):
        notebook.run("%%exercise 1\nx = 1")


def test_a_grader_that_dies_is_said_and_the_next_cell_has_another(notebook: Notebook) -> None:
    assert "[NOT STARTED]" in _grade(notebook, SKELETON)
    process = notebook.course.service._process
    assert process is not None
    dies = threading.Timer(1.5, process.kill)
    dies.start()
    told = _grade(notebook, "import time\ntime.sleep(60)")
    dies.join()
    assert told.startswith("The grader ended")
    assert "%tlpuzzles doctor" in told
    assert "[NOT STARTED]" in _grade(notebook, SKELETON)
