"""On the scale, a kernel stands where its ratio is, between marks that say what they are."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from tests.report import samples
from tlpuzzles.report.marks import marks_for
from tlpuzzles.report.scale import Scale
from tlpuzzles.verdict.model import Speed

MARKS = marks_for(Console(file=io.StringIO()))


def at(ratio: float, marks: tuple[float, float] | None = (0.5, 0.9), half: float = 0.001) -> Speed:
    return samples.speed("speed", "one", 1.0, ratio, samples.GEMM_4096, marks=marks, half=half)


def bar(speed: Speed, columns: int = 80, beside: tuple[Speed, ...] = ()) -> list[str]:
    return [line.plain for line in Scale((speed, *beside), MARKS, columns).bar(speed, "green")]


def test_the_kernel_is_on_the_right_side_of_the_marks() -> None:
    for ratio, order in ((0.3, "●┼┼"), (0.7, "┿●┼"), (1.0, "┿┿●")):
        line, labels = bar(at(ratio))
        assert "".join(char for char in line if char in "●┼┿") == order
        assert "pass 0.50 ▲" in labels
        assert "▲ all 0.90" in labels
        ticks = [n for n, char in enumerate(line) if char in "┼┿"]
        assert [n for n, char in enumerate(labels) if char == "▲"] == ticks
        assert line.endswith(" 1.1")


def test_it_ends_a_bit_above_the_largest_and_all_cases_share_it() -> None:
    assert bar(at(1.84, (1.2, 1.7)))[0].endswith(" 2.0")
    alone, shared = bar(at(0.5))[0], bar(at(0.5), beside=(at(1.8),))[0]
    assert shared.endswith(" 1.9")
    assert shared.index("●") < alone.index("●")


def test_a_kernel_far_beyond_the_marks_does_not_press_the_others_together() -> None:
    for marks, end in (((0.5, 0.9), " 2.0"), ((1.2, 1.9), " 2.3")):
        line, _ = bar(at(12.0, marks))
        assert line.endswith("━►" + end)
        assert "●" not in line
        other = bar(at(0.5, marks), beside=(at(12.0, marks),))[0]
        assert other.endswith(end)
        assert "●" in other
    assert bar(at(1.99))[0].endswith("● 2.0")


def test_the_interval_is_shown_where_it_is_wider_than_a_cell() -> None:
    assert "═" not in bar(at(0.7))[0]
    assert re.search("╞═+●═+╡", bar(at(0.7, half=0.08))[0])
    assert "╪" in bar(at(0.88, half=0.08))[0]


@pytest.mark.parametrize("columns", [46, 56, 76, 96])
@pytest.mark.parametrize("marks", [(0.02, 0.9), (0.5, 0.51), (0.7, 1.0), (0.705, 0.985), (0.02, 0.021)])
@pytest.mark.parametrize("ratio", [0.001, 0.8, 12.0, 300.0])
def test_labels_never_run_into_each_other_or_out_of_the_page(
    columns: int, marks: tuple[float, float], ratio: float
) -> None:
    lines = bar(at(ratio, marks), columns)
    assert max(map(len, lines)) <= columns
    assert lines[0].count("►" if ratio > 2 else "●") == 1
    first = min(round(marks[0] / float(lines[0].split()[-1]) * (lines[0].rindex(" ") - 3)), len(lines[0]))
    assert lines[1].index("▲") == 2 + first
    for name, mark in zip(("pass", "all"), marks, strict=True):
        text = f"{mark:.3f}"
        assert f"{name} {text.removesuffix('0')}" in lines[1]


def test_without_marks_there_are_none() -> None:
    (line,) = bar(at(0.8, None))
    assert "●" in line
    assert "┿" not in line
