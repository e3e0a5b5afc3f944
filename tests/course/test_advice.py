"""What is worth a word about a right kernel, and what is not."""

from __future__ import annotations

import pytest

from tests.kernel.constructs import GEMM
from tests.tracing import document
from tlpuzzles.course.advice import has_stages, writes_once
from tlpuzzles.course.vocabulary import Requirement
from tlpuzzles.kernel.facts import Kernel

LOOP = "for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):"
WRITE = "            T.copy(total, C[by * bm, bx * bn])\n"


def told(advice: Requirement, *edits: tuple[str, str], depth: int = 90) -> str | None:
    source = GEMM
    for old, new in edits:
        assert source.count(old) == 1
        source = source.replace(old, new)
    return advice.check(Kernel(document(source, M=100, N=60, K=depth).func))


@pytest.mark.parametrize(
    "loop", ["for k in range(T.ceildiv(K, bk)):", "for k in T.serial(T.ceildiv(K, bk)):", LOOP.replace("=stages", "=0")]
)
def test_a_loop_without_stages_is_told_with_its_line(loop: str) -> None:
    found = told(has_stages(), (LOOP, loop))
    assert found is not None
    assert found.startswith("The loop in line 16 has no stages")


def test_a_loop_with_stages_or_of_one_trip_needs_no_word() -> None:
    assert told(has_stages()) is None
    assert told(has_stages(), (LOOP, "for k in range(T.ceildiv(K, bk)):"), depth=20) is None


def test_a_result_that_is_written_in_every_trip_is_told_with_both_lines() -> None:
    found = told(writes_once(), (WRITE, "    " + WRITE))
    assert found is not None
    assert found.startswith("The copy to C in line 20 stands in the loop in line 16: each trip writes the same place")


@pytest.mark.parametrize(
    "write",
    [
        WRITE,
        "            for row in T.serial(2):\n                T.copy(total, C[(by + row) * bm, bx * bn])\n",
        "                if k == T.ceildiv(K, bk) - 1:\n        " + WRITE,
    ],
)
def test_other_ways_to_write_once(write: str) -> None:
    assert told(writes_once(), (WRITE, write)) is None
