"""The table of all exercises."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from tests.report import samples
from tlpuzzles.report.summary import show_all


@pytest.mark.parametrize("width", [60, 88])
def test_a_line_for_each_exercise_and_the_sum(width: int) -> None:
    stream = io.StringIO()
    show_all(samples.all_exercises(), Console(file=stream, width=width), titles=samples.TITLES)
    text = stream.getvalue()
    assert "\x1b" not in text
    assert all(len(line) <= width for line in text.splitlines())
    assert re.search(r"1  ✓ Vector add +passed +60 of 60", text)
    assert re.search(r"2  ○ Tiled GEMM +not started +0 of 60", text)
    assert re.search(r"6  ✗ FlashAttention forward +not yet right +38 of 60\s+a ragged end, full attention:", text)
    assert re.search(r"7  ‼ Softmax +our error", text)
    assert "1 of 4 passed · 98 of 180 points; 220 more are not graded" in text


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_slowest_case_of_each_exercise_where_speed_was_measured(width: int) -> None:
    stream = io.StringIO()
    show_all(samples.all_timed(), Console(file=stream, width=width), titles=samples.TITLES)
    text = stream.getvalue()
    assert all(len(line) <= width for line in text.splitlines())
    assert re.search(r"FlashAttention forward +passed +100 of 100\s+0\.91 of cuDNN", text)
    assert re.search(r"Tiled GEMM +not yet fast +66 of 100\s+0\.54 of cuBLAS", text)
    if width > 60:
        assert re.search(r"not started +0 of 60 +-", text)
        columns = {match.start(1) for match in re.finditer(r"(?m)^.* of \d+ +(-|\d\.\d\d of \w)", text)}
        starts = {start - text.rindex("\n", 0, start) for start in columns}
        assert len(columns) == 5
        assert len(starts) == 1
