"""Speed as pictures: what stands where says what the numbers say."""

from __future__ import annotations

import pytest

from tests.report import samples
from tests.report.page import made
from tests.report.page.structure import Element, read
from tlpuzzles.verdict.model import Speed


def one(speed: Speed) -> Element:
    return read(made.page_of(samples.timed([speed], [samples.timed_check(speed)])))


def gemm(ratio: float, **fields: object) -> Speed:
    flops, moved = samples.GEMM_4096
    return samples.speed("speed", "4096", 0.18 / ratio, 0.18, (flops, moved), marks=(0.75, 0.95), **fields)  # type: ignore[arg-type]


def scale(root: Element) -> Element:
    return root.classed("tlp-scale")[0].all("svg")[0]


def at(element: Element, attribute: str) -> float:
    return float(element.attributes[attribute].rstrip("%"))


def test_ratio_interval_and_marks_are_on_one_scale() -> None:
    drawn = scale(one(gemm(0.9, half=0.05)))
    assert drawn.attributes["aria-label"].startswith("A scale from 0 to 1.1: 0.900 ± 0.050 of cuDNN's speed;")
    assert drawn.attributes["aria-label"].endswith("it passes from 0.75, all points from 0.95.")
    (kernel,) = drawn.classed("tlp-kernel")
    passes, full = (at(tick, "x1") for tick in drawn.classed("tlp-tick"))
    places = [at(kernel, "cx"), passes, full, at(drawn.classed("tlp-interval")[0], "x1")]
    assert places == pytest.approx([100 * ratio / 1.1 for ratio in (0.9, 0.75, 0.95, 0.85)], abs=0.01)
    assert {"pass 0.75", "all 0.95", "0", "1.1"} == {text.said for text in drawn.all("text")}


def test_all_cases_share_a_scale() -> None:
    root = read(made.page_of(samples.fast()))
    ends = {scale.all("svg")[0].all("text")[-1].said for scale in root.classed("tlp-scale")}
    assert ends == {"1.2"}


def test_a_kernel_beyond_the_end_is_an_arrow_and_inside_the_picture() -> None:
    drawn = scale(one(gemm(12.0)))
    assert not drawn.classed("tlp-kernel")
    assert "►" in drawn.said
    assert max(at(line, "x2") for line in drawn.all("line")) <= 100


def test_without_marks_there_are_no_ticks_and_it_says_so() -> None:
    root = read(made.page_of(samples.unknown_baseline()))
    assert not scale(root).classed("tlp-tick")
    assert "shown only: no mark for this GPU" in root.said


def test_faster_is_higher_under_the_roof_and_more_operations_a_byte_further_right() -> None:
    root = read(made.page_of(samples.fast()))
    (plot,) = [svg for svg in root.all("svg") if svg.attributes.get("aria-label", "").startswith("Roofline")]
    a, b, c, d = plot.classed("tlp-point")  # 435, 404, 601 and 534 TFLOP/s
    assert at(c, "cy") < at(d, "cy") < at(a, "cy") < at(b, "cy")
    assert at(a, "cx") == at(c, "cx") > at(b, "cx") == at(d, "cx")
    roof = plot.classed("tlp-roof")[1]
    assert at(roof, "y1") == at(roof, "y2") < at(c, "cy")
    letters = [(text.said, at(text, "y")) for text in plot.classed("tlp-letter")]
    assert [letter for letter, _ in letters] == ["a", "b", "c", "d"]
    assert "c reaches 601 TFLOP/s, 81 % of the limit" in plot.attributes["aria-label"]
    assert len(plot.classed("tlp-baseline")) == 4


def test_what_the_compiler_says_advice_and_conditions_are_told_as_in_a_terminal() -> None:
    said = read(made.page_of(samples.slow())).said
    assert "255 registers, 96 bytes spilled, 64 KiB of shared memory, 128 threads, 2 blocks a multiprocessor" in said
    assert "→ Write the result through a shared tile" in said
    assert "0.540 ± 0.002 of cuBLAS's speed · too slow to pass" in said
    assert "clock held down: power limit" in said
    assert "95 % interval" in said
    assert "kernel 2.913 ms, 377 TFLOP/s" in said
