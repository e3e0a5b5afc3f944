"""Progress is seen on terminals only, and leaves nothing behind."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tlpuzzles.report.progress import Steps, progress


def grade(steps: Steps) -> None:
    steps.step("reading your kernel", total=2)
    steps.advance("float16")
    steps.advance("causal")
    steps.step("running")


def test_nothing_is_written_where_nobody_looks() -> None:
    for options in ({}, {"force_terminal": True, "wanted": False}):
        stream = io.StringIO()
        wanted = options.pop("wanted", True)
        with progress(Console(file=stream, **options), "Exercise 6", wanted=wanted) as steps:  # type: ignore[arg-type]
            grade(steps)
        assert stream.getvalue() == ""


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_steps_are_shown_and_wiped(encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, force_terminal=True, width=60)
    with progress(console, "Exercise 6") as steps:
        grade(steps)
    stream.flush()
    text = stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    assert "Exercise 6" in text
    assert "reading your kernel" in text
    assert "running" in text
    # The lines of the last picture are erased one by one, and the cursor is shown again.
    assert text.rstrip("\n").endswith("\x1b[1A\x1b[2K" * 3)
    assert text.rindex("\x1b[?25h") > text.rindex("running")


def test_an_interrupted_grading_gives_the_cursor_back() -> None:
    stream = io.StringIO()

    def interrupted() -> None:
        with progress(Console(file=stream, force_terminal=True), "Exercise 6") as steps:
            grade(steps)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert stream.getvalue().rindex("\x1b[?25h") > stream.getvalue().rindex("\x1b[?25l")


def test_lines_are_written_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TLPUZZLES_PROGRESS", "lines")
    for terminal in (False, True):
        stream = io.StringIO()
        with progress(Console(file=stream, force_terminal=terminal, highlight=False, width=20), "Exercise 6") as steps:
            grade(steps)
        assert stream.getvalue() == "Exercise 6: reading your kernel (0 s)\nExercise 6: running (0 s)\n"
