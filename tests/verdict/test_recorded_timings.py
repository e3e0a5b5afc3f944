"""Blocks that were recorded on an H200: quiet, and while another process multiplied matrices on the same GPU.

Each line of the file is a block: its round, and the milliseconds of the two calls of the kernel, of the baseline and of
the baseline again. Recorded on 2026-11-30, before the arms wrote to one output.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tlpuzzles.verdict.measured import AGAIN, BASELINE, KERNEL, Stopped
from tlpuzzles.verdict.timing import Block, Edges, Rule, ratio, stop

RECORDED = {
    name: [Block(number, {KERNEL: (a, b), BASELINE: (c, d), AGAIN: (e, f)}) for number, a, b, c, d, e, f in blocks]
    for name, blocks in json.loads((Path(__file__).parent / "recorded_timings.json").read_text()).items()
}
KNOWN = {"quiet, GEMM of 4096": 0.969, "quiet, fused epilogue": 1.82, "quiet, attention": 0.934}
"""The median of several measurements of the same kernels."""


@pytest.mark.parametrize("name", KNOWN)
def test_a_quiet_measurement_finds_the_ratio_and_itself(name: str) -> None:
    found = ratio(RECORDED[name], BASELINE, KERNEL)
    assert found.value == pytest.approx(KNOWN[name], rel=0.005)
    assert found.half_width < 0.005
    assert ratio(RECORDED[name], AGAIN, BASELINE).value == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("name", KNOWN)
def test_a_quiet_measurement_may_end(name: str) -> None:
    assert stop(RECORDED[name], Edges(None, None), Rule(), seconds=1.0) is Stopped.NARROW


@pytest.mark.parametrize("name", sorted(RECORDED.keys() - KNOWN.keys()))
def test_under_load_the_baseline_differs_from_itself_and_measuring_goes_on(name: str) -> None:
    again = ratio(RECORDED[name], AGAIN, BASELINE)
    assert abs(again.value - 1) > 0.02 or again.half_width > 0.02
    assert stop(RECORDED[name], Edges(0.1, 0.2), Rule(), seconds=1.0) is None
