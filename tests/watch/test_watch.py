"""`tlpuzzles watch` on a real terminal, as a learner has it beside an editor."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pexpect
import pytest

from tests.grading.test_bad_input import GOOD
from tlpuzzles.commands.init import init

WRONG = GOOD.replace("+ B[", "- B[")
KILLS = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n" + GOOD
HANGS = GOOD.replace("import tilelang\n", "import tilelang\nimport time\ntime.sleep(60)\n", 1)
LONG = 90
READY = "quit"
"""The last of the keys, which are shown when there is nothing more to come."""


class Terminal:
    """One terminal with `tlpuzzles watch` in it."""

    def __init__(self, workspace: Path, *arguments: str, columns: int = 60, **environment: str) -> None:
        self.file = workspace / "01_vector_add" / "vector_add.py"
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "tlpuzzles", "watch", "--device", "cpu", *arguments],
            cwd=str(workspace),
            env={**os.environ, "TERM": "xterm", "NO_COLOR": "1", **environment},
            dimensions=(40, columns),
            encoding="utf-8",
            timeout=LONG,
            # What a shell starts in the background, these tests perhaps, ignores Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def sees(self, text: str) -> None:
        self.child.expect(text)

    def watches(self, file: str) -> None:
        """The last line but that of the keys names the file. What is shown in bold or dim has codes around it."""
        self.child.expect(r"watching (?:\x1b\[\d*m)*" + re.escape(file))

    def save(self, text: str) -> None:
        self.file.write_text(text, encoding="utf-8")

    def press(self, key: str) -> None:
        self.child.send(key)

    def ends(self) -> int:
        self.child.expect(pexpect.EOF)
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -self.child.signalstatus)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    init(tmp_path / "my work é")
    return tmp_path / "my work é"


@pytest.fixture
def start(workspace: Path) -> Iterator[Callable[..., Terminal]]:
    with ExitStack() as stack:

        def begin(*arguments: str, **options: str) -> Terminal:
            terminal = Terminal(workspace, *arguments, **options)  # type: ignore[arg-type]
            stack.callback(terminal.child.close, force=True)
            return terminal

        yield begin


def test_a_day_with_it(start: Callable[..., Terminal], workspace: Path) -> None:
    terminal = start()
    terminal.sees("NOT STARTED")
    terminal.sees(READY)

    terminal.save(WRONG)
    terminal.sees("NOT YET RIGHT")
    terminal.sees("difference|subtract|A - B")
    terminal.sees(READY)

    terminal.press("h")
    terminal.sees("hint 1 of")
    terminal.press("h")
    terminal.sees("hint 2 of")
    terminal.press("l")
    terminal.sees("flash_attention")
    terminal.press("s")
    terminal.watches("1 01_vector_add/vector_add.py")

    terminal.save(GOOD)
    terminal.sees("All cases pass")
    terminal.sees("PASSED")
    terminal.sees("Next: exercise 2")
    terminal.watches("2 02_tiled_gemm/tiled_gemm.py")

    terminal.press("q")
    assert terminal.ends() == 0


def test_a_file_that_kills_the_process_it_comes_from_is_followed_by_one_that_does_not(
    start: Callable[..., Terminal],
) -> None:
    terminal = start()
    terminal.sees(READY)
    terminal.save(KILLS)
    terminal.sees("ended or stopped the process")
    terminal.sees(READY)
    terminal.save(GOOD)
    terminal.sees("PASSED")


def test_a_file_saved_again_while_it_is_graded_is_graded_anew_at_once(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.sees(READY)
    terminal.save(HANGS)
    terminal.sees("tracing")
    time.sleep(1)
    terminal.save(WRONG)
    assert terminal.child.expect(["difference|subtract|A - B", "took too long|took longer"]) == 0, "it was waited for"


def test_a_reset_is_asked_for_and_keeps_what_was_there(start: Callable[..., Terminal], workspace: Path) -> None:
    terminal = start()
    terminal.sees(READY)
    terminal.save(WRONG)
    terminal.sees("NOT YET RIGHT")
    terminal.sees(READY)
    terminal.press("r")
    terminal.sees("y for yes")
    terminal.press("n")
    terminal.sees("stays as it is")
    assert terminal.file.read_text() == WRONG
    terminal.press("r")
    terminal.sees("y for yes")
    terminal.press("y")
    terminal.sees("The skeleton is back")
    terminal.sees(r"attempt \d")
    assert "TODO 1" in terminal.file.read_text()


def test_what_has_passed_is_not_begun_with_again(start: Callable[..., Terminal], workspace: Path) -> None:
    terminal = start()
    terminal.sees(READY)
    terminal.save(GOOD)
    terminal.sees("Next: exercise 2")
    terminal.press("q")
    assert terminal.ends() == 0
    start().watches("2 02_tiled_gemm/tiled_gemm.py")


def test_another_exercise_that_is_saved_is_the_one_that_is_watched(
    start: Callable[..., Terminal], workspace: Path
) -> None:
    terminal = start()
    terminal.sees(READY)
    file = workspace / "05_row_softmax" / "row_softmax.py"
    file.write_text(file.read_text() + "\n")
    terminal.watches("5 05_row_softmax/row_softmax.py")
    terminal.press("p")
    terminal.watches("4 ")
    terminal.press("n")
    terminal.watches("5 ")


def test_an_exercise_that_was_turned_to_is_stayed_with_though_it_passes(start: Callable[..., Terminal]) -> None:
    """A key then acts on what is seen."""
    terminal = start()
    terminal.sees(READY)
    terminal.save(GOOD)
    terminal.watches("2 02_tiled_gemm/tiled_gemm.py")
    terminal.press("p")
    terminal.sees("PASSED")
    terminal.sees("n goes on")
    terminal.watches("1 01_vector_add/vector_add.py")
    terminal.press("q")
    assert terminal.ends() == 0


def test_what_helps_further_is_a_key(start: Callable[..., Terminal]) -> None:
    """The shell is taken."""
    terminal = start()
    terminal.sees(READY)
    terminal.save(WRONG)
    terminal.sees("NOT YET RIGHT")
    terminal.sees(READY)
    assert "tlpuzzles " not in str(terminal.child.before)
    terminal.press("h")
    terminal.sees("More help: press")
    terminal.sees(READY)
    assert "tlpuzzles " not in str(terminal.child.before)


def test_a_file_that_is_gone_is_said_and_watched_on(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.sees(READY)
    terminal.file.unlink()
    terminal.press("g")
    terminal.sees("vector_add.py")
    terminal.sees(READY)
    terminal.save(WRONG)
    terminal.sees("NOT YET RIGHT")


def test_what_is_no_file_is_said_and_watched_on(start: Callable[..., Terminal]) -> None:
    """A pipe is not waited for."""
    terminal = start()
    terminal.sees(READY)
    terminal.file.unlink()
    os.mkfifo(terminal.file)
    terminal.press("g")
    terminal.sees("not a plain file")
    terminal.press("q")
    assert terminal.ends() == 0


def test_a_lesson_and_hints_that_are_gone_are_said(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.sees(READY)
    for key, name in (("s", "lesson.md"), ("h", "hints.md")):
        (terminal.file.parent / name).write_bytes(b"\xff\xfe")
        terminal.press(key)
        terminal.sees(name)
        terminal.sees(READY)
    terminal.press("q")
    assert terminal.ends() == 0


def test_keys_work_again_after_it_was_stopped_for_a_while(start: Callable[..., Terminal]) -> None:
    """A shell changes the terminal when it takes it back, and may not undo that."""
    terminal = start()
    terminal.sees(READY)
    os.kill(terminal.child.pid, signal.SIGSTOP)
    settings = termios.tcgetattr(terminal.child.child_fd)
    settings[3] |= termios.ICANON | termios.ECHO
    termios.tcsetattr(terminal.child.child_fd, termios.TCSANOW, settings)
    os.kill(terminal.child.pid, signal.SIGCONT)
    time.sleep(1)
    terminal.press("l")
    terminal.sees("flash_attention")
    terminal.press("q")
    assert terminal.ends() == 0


def test_keys_that_are_pressed_before_it_is_ready_are_heeded(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.sees("Importing")
    for _ in range(20):
        terminal.press("s")
        time.sleep(0.1)
    terminal.sees(READY)
    assert "Traceback" not in str(terminal.child.before)
    terminal.press("q")
    assert terminal.ends() == 0


def test_when_the_grader_fails_that_is_said(start: Callable[..., Terminal], tmp_path: Path) -> None:
    """Its folder for temporary files is taken away, as by a program that cleans up."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    terminal = start(TMPDIR=str(scratch))
    terminal.sees(READY)
    for folder in scratch.iterdir():
        shutil.rmtree(folder, ignore_errors=True)
    terminal.save(GOOD)
    terminal.sees("grader itself failed")
    terminal.sees(READY)
    terminal.press("q")
    assert terminal.ends() == 0


def test_two_at_once(start: Callable[..., Terminal]) -> None:
    both = [start(), start()]
    for terminal in both:
        terminal.sees(READY)
    both[0].save(GOOD)
    for terminal in both:
        terminal.sees("PASSED")
    both[0].press("q")
    assert both[0].ends() == 0
    both[1].save(WRONG)
    both[1].sees("NOT YET RIGHT")


@pytest.mark.parametrize("phase", ["starting", "tracing", "at rest", "hint"])
def test_ctrl_c_leaves_a_clean_screen(start: Callable[..., Terminal], phase: str) -> None:
    terminal = start()
    if phase == "starting":
        terminal.sees("Vector add|NOT STARTED")
    else:
        terminal.sees(READY)
    if phase == "tracing":
        terminal.save(HANGS)
        terminal.sees("tracing")
    if phase == "hint":
        terminal.press("h")
        terminal.sees("hint 1 of")
    terminal.child.sendintr()
    assert terminal.ends() == 130
    left = str(terminal.child.before)
    assert "Traceback" not in left
    # The cursor that a display of progress hides is there again.
    assert left.count("\x1b[?25l") <= left.count("\x1b[?25h")


def test_without_a_terminal_it_grades_what_is_saved(workspace: Path, tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("wb") as out, subprocess.Popen(
        [sys.executable, "-m", "tlpuzzles", "watch", "--device", "cpu"],
        cwd=workspace, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
    ) as process:  # fmt: skip
        try:
            _until(said, "watching 1 ")
            (workspace / "01_vector_add" / "vector_add.py").write_text(WRONG)
            _until(said, "NOT YET RIGHT")
        finally:
            process.terminate()
    text = said.read_text()
    assert "\x1b" not in text
    assert not re.search("h hint", text)


def _until(file: Path, text: str) -> None:
    deadline = time.monotonic() + LONG
    while text not in file.read_text():
        assert time.monotonic() < deadline, file.read_text()
        time.sleep(0.1)
