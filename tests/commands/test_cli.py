"""The command line as a whole: help, speed, errors, exit statuses."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.commands.running import heed_interrupts, run, run_on_terminal, run_process
from tlpuzzles.cli import COMMANDS, INTERRUPTED, UNDECIDED, WRONG_USAGE
from tlpuzzles.course import catalog
from tlpuzzles.verdict.model import ExitStatus
from tlpuzzles.workspace.folders import shipped

PROMPT = (
    ("list",), ("hint", "1"), ("show", "1"), ("glossary", "tile"), ("cheatsheet",), ("--help",), ("init", "--help"),
    ("progress",),
)  # fmt: skip
"""Commands that must answer at once."""


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ((), ("--help",)):
        shown = run(capsys, *arguments)
        assert shown.status == 0
        for command in COMMANDS:
            assert f"  {command.name} " in shown.out
            assert command.summary in shown.out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_of_a_command_has_examples(capsys: pytest.CaptureFixture[str], command: object) -> None:
    name = command.name  # type: ignore[attr-defined]
    shown = run(capsys, name, "--help")
    assert shown.status == 0
    assert f"\n    tlpuzzles {name}" in shown.out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version").out == f"tlpuzzles {version('tlpuzzles')}\n"


@pytest.mark.parametrize("arguments", PROMPT, ids=" ".join)
def test_prompt_commands_import_nothing_heavy(workspace: Path, arguments: tuple[str, ...]) -> None:
    code = (
        "import sys\n"
        "from tlpuzzles.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print([name for name in ('torch', 'tilelang', 'numpy', 'pydantic', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_grade_imports_torch_and_tilelang_in_its_children_only(workspace: Path) -> None:
    code = "import sys, tlpuzzles.commands.grade; print([n for n in ('torch', 'tilelang') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("arguments", PROMPT, ids=" ".join)
def test_prompt_commands_are_prompt(workspace: Path, arguments: tuple[str, ...]) -> None:
    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run_process(*arguments, cwd=workspace)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Meant is 0.3 s on the clock. On a machine that runs other tests meanwhile, only time on a core says something.
    # The first of them may have to compile every module that it imports.
    assert min(seconds() for _ in range(4)) < 0.8


def test_a_mistake_of_the_user_is_a_sentence_on_stderr(workspace: Path) -> None:
    ran = run_process("show", "nonsense", cwd=workspace)
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.startswith('Error: There is no exercise "nonsense".')
    assert "  1  vector_add\n" in ran.err
    assert "Traceback" not in ran.err


def test_a_path_in_an_error_is_not_broken_over_lines(workspace: Path) -> None:
    missing = workspace / ("deep " * 20).strip()
    missing.mkdir()
    (missing / "course.toml").write_text("[class]\narch = 'sm_1'\n")
    (missing / "01_vector_add").mkdir()
    ran = run_process("show", "1", cwd=missing)
    assert ran.status == 2
    assert str(missing / "01_vector_add" / "lesson.md") in ran.err


def test_wrong_arguments_exit_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("nonsense",), ("show",), ("hint", "1", "--level", "first"), ("list", "too much")):
        ran = run(capsys, *arguments)
        assert ran.status == 2, arguments
        assert ran.err


def test_exit_statuses_are_those_of_the_result_model() -> None:
    assert (WRONG_USAGE, UNDECIDED) == (ExitStatus.USAGE, ExitStatus.UNDECIDED)
    assert INTERRUPTED == ExitStatus.INTERRUPTED


def test_ctrl_c_is_silent_and_exits_with_130(workspace: Path) -> None:
    begun = workspace / "begun"
    (workspace / "torch.py").write_text(f"import time; open({str(begun)!r}, 'w').close(); time.sleep(30)")
    environment = {**os.environ, "PYTHONPATH": str(workspace)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tlpuzzles", "doctor"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    )
    deadline = time.monotonic() + 30
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_a_reader_that_stops_early_is_no_error(workspace: Path) -> None:
    done = subprocess.run(
        f"'{sys.executable}' -m tlpuzzles list | true", shell=True, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""


def test_colours_on_a_terminal_only(workspace: Path) -> None:
    assert "\x1b[" in run_on_terminal("list", cwd=workspace)
    for arguments in (("list",), ("show", "1"), ("hint", "1"), ("show", "9")):
        ran = run_process(*arguments, cwd=workspace)
        assert "\x1b" not in ran.out + ran.err


def test_a_stream_without_unicode_still_shows_the_lesson(workspace: Path) -> None:
    (workspace / "01_vector_add" / "lesson.md").write_text("A → B\n")
    ran = run_process("show", "1", cwd=workspace, PYTHONIOENCODING="ascii")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("A ")


GRADE = ("grade", "1", "--device", "cpu", "--portability", "off", "--case", "ragged-end")


def test_a_current_folder_that_is_gone_is_not_needed_for_a_file_from_the_root_on(tmp_path: Path) -> None:
    file, gone = tmp_path / "vector_add.py", tmp_path / "gone"
    file.write_bytes(shipped(catalog.find("1")).file(catalog.find("1")).read_bytes())
    told = "The folder you are in no longer exists."
    for status, says, arguments in (
        (1, "NOT STARTED", (*GRADE, str(file), "--html", str(tmp_path / "r.html"))),
        (1, "Exercise 1  Vector add  for an", ("inspect", "1", str(file), "--svg", str(tmp_path / "tiles"))),
        (2, told, (*GRADE, "vector_add.py")),
        (2, told, (*GRADE, str(file), "--html", "r.html")),
        (2, told, (*GRADE, str(file), "--dump", "wrong")),
        (2, told, ("progress", "--html", "r.html")),
    ):
        gone.mkdir()
        code = "import os; os.rmdir(os.getcwd()); from tlpuzzles.cli import main; main()"
        command = [sys.executable, "-c", code, *arguments]
        ran = subprocess.run(command, cwd=gone, capture_output=True, text=True, check=False)
        assert ran.returncode == status, ran
        assert says in ran.stdout + ran.stderr
        assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [("list",), ("show", "1"), ("--help",), ("progress",), (*GRADE, "--json")])
def test_output_that_cannot_be_written_is_a_sentence_and_our_error(
    workspace: Path, arguments: tuple[str, ...], unbuffered: str
) -> None:
    one = catalog.find("1")
    (workspace / one.folder / one.file).write_bytes(shipped(one).file(one).read_bytes())
    with open("/dev/full", "w") as full:  # noqa: PTH123 - no file
        ran = subprocess.run(
            [sys.executable, "-m", "tlpuzzles", *arguments],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert ran.returncode == ExitStatus.UNDECIDED
    assert re.fullmatch(
        r"Error: Standard output.* cannot be written: No space left on device\. Make room .*\n", ran.stderr
    )


@pytest.mark.parametrize(
    ("command", "status"),
    [("list >&-", 0), ("list 1</dev/null", 3), ("show 99 2>/dev/full", 2), ("list >/dev/full 2>/dev/full", 3)],
)
def test_streams_that_take_nothing(workspace: Path, command: str, status: int) -> None:
    line = f"'{sys.executable}' -m tlpuzzles {command}"
    ran = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert ran.returncode == status
    assert "Traceback" not in ran.stderr


def test_a_fault_of_ours_has_not_the_status_of_a_wrong_kernel(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tlpuzzles.commands.application.run", lambda *_: 1 / 0)
    ran = run(capsys, "list")
    assert (ran.status, ran.out) == (3, "")
    assert ran.err.startswith("Error: This is a fault of tlpuzzles, not of your file.\nTraceback ")
    assert ran.err.endswith("ZeroDivisionError: division by zero\n")
