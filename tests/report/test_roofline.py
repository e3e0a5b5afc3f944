"""The roofline shows where a kernel is and what limits it, wherever that is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from tests.report.test_terminal import Ascii
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import marks_for
from tlpuzzles.report.roofline import ROWS, Point, Roofs, plot

H200 = Roofs(4213, 742)


def drawn(*points: tuple[str, float, float], width: int = 88, stream: io.StringIO | None = None) -> list[str]:
    stream = stream or io.StringIO()
    console = Console(file=stream, width=width, highlight=False)
    marks = marks_for(console)
    shown = [Point(mark, "bold", at, rate) for mark, at, rate in points]
    plot(H200, shown, Text("key"), "library", Page(console, marks.ellipsis), marks)
    return stream.getvalue().splitlines()


def place(lines: list[str], mark: str) -> tuple[int, int]:
    """(row, column) of a mark among the rows of the plot."""
    found = [(row, line.index(mark, 12)) for row, line in enumerate(lines[1 : ROWS + 1]) if mark in line[12:]]
    assert len(found) == 1, "\n".join(lines)
    return found[0]


def test_faster_is_higher_and_more_operations_a_byte_further_right() -> None:
    lines = drawn(("Q", 1000, 600), ("W", 1000, 200), ("Z", 2000, 200))
    (q_row, q), (w_row, w), (z_row, z) = (place(lines, mark) for mark in "QWZ")
    assert q_row < w_row == z_row
    assert q == w < z


@pytest.mark.parametrize(("at", "rate", "side"), [(1 / 12, 0.35, "left"), (1.25, 4.9, "left"), (1365, 739, "right")])
@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_plot_holds_the_point_and_the_ridge(at: float, rate: float, side: str, width: int) -> None:
    lines = drawn(("Q", at, rate), width=width)
    assert max(map(len, lines)) <= width
    assert any("memory 4.21 TB/s" in line for line in lines)
    assert any("arithmetic 742 TFLOP/s" in line for line in lines)
    ridge = max(lines[-1].find("◂"), lines[-1].find("▸") - 2) + 1
    _, column = place(lines, "Q")
    assert (column < ridge) is (side == "left")
    assert lines[-1].strip() == "memory ◂ ▸ arithmetic"
    assert "FLOP per byte" in lines[ROWS + 1]
    assert lines[0].split() == ["TFLOP/s", "key"]


def test_a_kernel_hides_its_baseline_and_no_other_kernel() -> None:
    lines = drawn(("", 1000, 600), ("Q", 1000, 600), ("W", 1000, 600))
    assert "○" not in "".join(lines)
    assert "library" not in lines[0]
    assert place(lines, "W") == (place(lines, "Q")[0], place(lines, "Q")[1] + 1)
    seen = drawn(("", 1000, 700), ("Q", 1000, 200))
    assert place(seen, "○")
    assert seen[0].endswith("key   ○ library")


def test_labels_of_axes_are_round_and_in_order() -> None:
    lines = drawn(("Q", 1365, 400))
    up = [float(line.split("┤")[0]) for line in lines if "┤" in line]
    across = [float(word) for word in lines[ROWS + 2].split()]
    assert len(up) >= 2
    assert up == sorted(up, reverse=True)
    assert len(across) >= 3
    assert across == sorted(across)
    assert all(f"{value:e}"[0] in "125" for value in (*up, *across))
    assert lines[ROWS + 1].count("┬") == len(across)


def test_in_ascii_and_beyond_the_roofs() -> None:
    for rate in (1e-3, 739, 1e7):
        assert "".join(drawn(("Q", 1365, rate), stream=Ascii())).isascii()
        assert place(drawn(("Q", 1365, rate)), "Q")
