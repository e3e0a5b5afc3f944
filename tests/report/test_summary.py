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
