"""Stores in which threads or blocks meet, though an index tells some of them apart; and right ones that look like them.

What is said of each was read in the CUDA source that TileLang 0.1.15 writes for it.
"""

from __future__ import annotations

import re
import time

import pytest

from tests.kernel.constructs import ROWS, tile_kernel
from tests.kernel.problems import ROW_SUM, only, vetted
from tlpuzzles.kernel.findings import Finding, Kind, Severity
from tlpuzzles.kernel.vet import Vetting

VALUES = "x = T.alloc_shared((128,), 'float32')\nfor i in T.Parallel(128):\n    x[i] = A[i // 32, i % 32]\n"
SUMS = VALUES + "s = T.alloc_shared((64,), 'float32')\nT.clear(s)\n"
THREADS = SUMS + "tx = T.get_thread_binding()\n"
FOUR_BLOCKS = "T.Kernel(4, threads=128) as bx"


def _vetted(body: str, launch: str = "T.Kernel(1, threads=128) as bx") -> Vetting:
    end = "" if "B[" in body else "\nT.copy(s, B)"
    return vetted(tile_kernel(body + end, ROWS, launch), ROW_SUM)


def _failure(body: str, launch: str = "T.Kernel(1, threads=128) as bx") -> Finding:
    finding = only(_vetted(body, launch))
    assert finding.severity is Severity.FAILS
    assert finding.line is not None
    return finding


@pytest.mark.parametrize(
    ("index", "says"),
    [
        ("i // 2", "s[i // 2] in T.Parallel over i reaches s[0] with i = 0 and with i = 1: "),
        ("i % 4", "s[i % 4] in T.Parallel over i reaches s[0] with i = 0 and with i = 4: "),
        ("i & 3", "s[i & 3] in T.Parallel over i reaches s[0] with i = 0 and with i = 4: "),
        ("i >> 1", "s[i >> 1] in T.Parallel over i reaches s[0] with i = 0 and with i = 1: "),
        ("T.min(i, 3)", "s[T.min(i, 3)] in T.Parallel over i reaches s[3] with i = 3 and with i = 4: "),
        ("T.if_then_else(i < 64, i, 0)", "reaches s[0] with i = 0 and with i = 64: "),
        ("(i * 2 + 1) % 64", "reaches s[1] with i = 0 and with i = 32: "),
        ("i // 128", "s[i // 128] in T.Parallel over i goes to the same element for every i: "),
        ("i * 0", "does not use i: "),
    ],
)
def test_an_update_whose_index_does_not_tell_iterations_apart_is_wrong(index: str, says: str) -> None:
    finding = _failure(f"{SUMS}for i in T.Parallel(128):\n    s[{index}] += x[i]")
    assert finding.kind is Kind.PARALLEL_STORE
    assert finding.collects
    assert says in finding.message
    assert "T.reduce_sum" in finding.message


@pytest.mark.parametrize(
    ("loop", "says"),
    [
        ("for i, j in T.Parallel(32, 32):\n    s[i + j] += x[j]", "s[1] with (i, j) = (0, 1) and with (i, j) = (1, 0)"),
        (
            "for i, j in T.Parallel(3, 17):\n    s[i * 16 + j] += x[j]",
            "s[16] with (i, j) = (0, 16) and with (i, j) = (1, 0)",
        ),
        (
            "for i in T.Parallel(32):\n    for j in T.serial(2):\n        s[i + j] += x[i]",
            "reaches s[1] with i = 0 and",
        ),
        ("for i in T.Parallel(128):\n    k = i // 2\n    v = s[k]\n    s[k] = v + x[i]", "reaches s[0]"),
        (
            "for i in T.Parallel(128):\n    k = T.alloc_var('int32')\n    k = i // 2\n    s[k] += x[i]",
            "s[k] in T.Parallel over i reaches s[0]",
        ),
        ("for i in T.Parallel(128):\n    if i >= 100:\n        s[i // 2] += x[i]", "s[50] with i = 100 and"),
        (
            "for i in T.Parallel(128):\n    if i < 100:\n        s[63] = 0\n    else:\n        s[i // 2] += x[i]",
            "s[50] with i = 100 and",
        ),
        ("for i in T.Parallel(128):\n    if x[i] > 0:\n        s[i // 2] += x[i]", "s[0] with i = 0 and"),
        ("for i in T.Parallel(128):\n    s[i // 2] = T.max(s[i // 2], x[i])", "T.atomic_max"),
        ("for i in T.Parallel(128):\n    s[i // 2] = x[i]", "different threads write different values to it"),
        ("for i, j in T.Parallel(128, 2):\n    s[i // 2] = x[i]", "different threads write different values to it"),
    ],
)
def test_so_is_one_that_says_it_in_another_way(loop: str, says: str) -> None:
    finding = _failure(SUMS + loop)
    assert finding.kind is Kind.PARALLEL_STORE
    assert says in finding.message


def test_an_update_of_a_fragment_is_told_to_be_copies() -> None:
    sums = SUMS.replace("s = T.alloc_shared", "s = T.alloc_fragment")
    finding = _failure(sums + "for i in T.Parallel(128):\n    s[i // 2] += x[i]")
    assert "each thread adds to a copy of it of its own" in finding.message
    # All of the loop in each thread, which has all of the one element.
    kept = only(_vetted(sums.replace("64", "1") + "for i in T.Parallel(128):\n    s[i // 128] += x[i]\nB[0] = s[0]"))
    assert kept.severity is Severity.WARNS


@pytest.mark.parametrize(
    "loop",
    [
        # every element is reached once
        "for i in T.Parallel(64):\n    s[i ^ 5] += x[i]",
        "for i, j in T.Parallel(8, 8):\n    s[i * 8 + j] += x[i]",
        "for i in T.Parallel(128):\n    if i % 2 == 0:\n        s[i // 2] += x[i]",
        "for i in T.Parallel(128):\n    if i % 2 != 0:\n        s[63] = 0\n    else:\n        s[i // 2] += x[i]",
        # all that reach one write the same
        "for i in T.Parallel(128):\n    s[i // 2] = x[i // 2]",
        "for i in T.Parallel(128):\n    s[i % 64] = 1",
        "for i in T.Parallel(128):\n    v = T.alloc_var('float32')\n    v = x[i // 2]\n    if v < 0:\n        v = 0\n"
        "    s[i // 2] = 0\n    x[i] = v",
        # what is beyond the end is thrown away, or the same
        "for i in T.Parallel(128):\n    s[T.min(i, 63)] = x[i]",
        # atomic
        "for i in T.Parallel(128):\n    T.atomic_add(s[i // 2], x[i])",
        # one loop after the other
        "for k in T.serial(2):\n    for i in T.Parallel(32):\n        s[i] += x[k * 32 + i]",
        "for k in T.serial(2):\n    for i in T.Parallel(32):\n        s[k // 2 + i] += x[i]",
    ],
)
def test_a_right_store_in_a_parallel_loop_is_left_alone(loop: str) -> None:
    assert _vetted(SUMS + loop).findings == ()


def test_an_update_at_a_place_from_memory_gets_a_warning() -> None:
    table = "p = T.alloc_shared((128,), 'int32')\nfor i in T.Parallel(128):\n    p[i] = i // 2\n"
    finding = only(_vetted(f"{SUMS}{table}for i in T.Parallel(128):\n    s[p[i]] += x[i]"))
    assert (finding.kind, finding.severity) == (Kind.PARALLEL_STORE, Severity.WARNS)
    assert "s[p[i]] in T.Parallel over i updates an element whose place is read from memory" in finding.message
    assert "T.atomic_add" in finding.message


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("s[0] = s[0] + x[tx]", r"update of s\[0\] is outside .* threads 0 and 1 of a block both read s.0."),
        ("for j in T.serial(2):\n    s[0] = T.max(s[0], x[tx])", "T.reduce_max .* T.atomic_max.* `if tx == 0:`"),
        ("if tx < 32:\n    s[0] += x[tx]", "threads 0 and 1 of"),
        ("if tx > 0:\n    s[0] += x[tx]", "threads 1 and 2 of"),
        ("if tx == 0:\n    s[1] = 0\nelse:\n    s[0] += x[tx]", "threads 1 and 2 of"),
        ("if tx % 32 == 0:\n    s[0] += x[tx]", "threads 0 and 32 of"),
        ("s[tx // 2] += x[tx]", r"s\[tx // 2\].* threads 0 and 1 of a block both read s.0."),
        ("s[T.get_lane_idx()] += x[tx]", "threads 0 and 32 of"),
        ("for j in T.serial(4):\n    if tx < j:\n        s[0] += x[tx]", "threads 0 and 1 of"),
        ("v = T.alloc_var('float32')\nv = s[0]\ns[0] = v + x[tx]", "threads 0 and 1 of"),
        ("with T.ws(0):\n    s[0] += x[tx]", "threads 0 and 1 of"),
        # where no thread is named, all of them run the line
        ("for j in T.serial(128):\n    s[0] = s[0] + x[j]", "threads 0 and 1 of"),
        ("n = T.alloc_var('int32', init=0)\nwhile n < 128:\n    s[0] += x[n]\n    n = n + 1", "threads 0 and 1 of"),
        ("for j in T.serial(128):\n    s[0] = T.max(s[0], x[j])", "threads 0 and 1 of"),
        ("T.clear(B)\nfor j in T.serial(128):\n    B[0] = B[0] + x[j]", "update of B.0. is"),
        ("T.clear(B)\nfor j in T.serial(128):\n    v = B[0]\n    B[0] = v + x[j]", "update of B.0. is"),
    ],
)
def test_an_update_that_several_threads_make_is_wrong(body: str, says: str) -> None:
    finding = _failure(THREADS + body)
    assert finding.kind is Kind.UPDATE
    assert finding.collects
    assert re.search(says, finding.message), finding.message


def test_threads_in_two_dimensions_are_named_by_both() -> None:
    body = SUMS + "tx, ty, tz = T.get_thread_bindings()\ns[tx] += x[ty]"
    assert "threads (0, 0) and (0, 1) of a block" in _failure(body, "T.Kernel(1, threads=(32, 4)) as bx").message


@pytest.mark.parametrize(
    "body",
    [
        # one thread
        "if tx == 0:\n    for j in T.serial(128):\n        s[0] = s[0] + x[j]",
        "if tx < 1:\n    s[0] += x[0]",
        "if tx != 0:\n    s[1] = 0\nelse:\n    s[0] += x[0]",
        "n = T.alloc_var('int32')\nn = T.cast(x[0], 'int32')\nif tx == n:\n    s[0] += x[0]",
        "for k in T.serial(4):\n    if tx != k:\n        continue\n    s[0] += x[tx]",
        "if T.get_lane_idx() == 0:\n    s[tx // 32] += x[tx]",
        # perhaps one thread
        "n = T.alloc_var('int32', init=32)\nwhile n > 0:\n    n = n // 2\n    if tx < n:\n        s[0] += x[tx]",
        # an element for each
        "if tx < 64:\n    s[tx] += x[tx]",
        "if tx % 2 == 0:\n    s[tx // 2] += x[tx]",
        "with T.ws(0):\n    if tx % 128 < 64:\n        s[tx % 128] += x[tx]",
        "for j in T.serial(T.ceildiv(60 - tx, 128)):\n    s[j * 128 + tx] += x[tx]",
        "for k in T.serial(64):\n    if tx < 64:\n        s[(tx + k) % 64] += x[tx]\n    T.sync_threads()",
        # TileLang puts a barrier between the name and the store, the learner one between the variable and the store
        "for j in T.serial(4):\n    v = s[0]\n    s[0] = v + x[j]",
        "v = T.alloc_var('float32')\nv = s[0]\nT.sync_threads()\ns[0] = v + x[0]",
        # all write the same, and read another element
        "s[0] = s[1] + x[3]",
        "s[0] = T.max(s[0], x[3])",
        "s[tx // 32] = T.warp_reduce_sum(x[tx])",
        # a thread's own
        "r = T.alloc_local((1,), 'float32')\nr[0] = 0\nfor j in T.serial(4):\n    r[0] += x[tx]\ns[tx % 64] = r[0]",
    ],
)
def test_a_right_update_outside_of_parallel_loops_is_left_alone(body: str) -> None:
    assert _vetted(THREADS + body, "T.Kernel(1, threads=256) as bx" if "T.ws" in body else FOUR_BLOCKS).findings == ()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "for i in T.Parallel(16):\n    B[bx // 2 * 16 + i] += A[bx, i]",
            "those with bx = 0 and with bx = 1 both read B[0]",
        ),
        ("for i in T.Parallel(16):\n    B[bx * 8 + i] += A[bx, i]", "those with bx = 0 and with bx = 1 both read B[8]"),
        ("if T.get_thread_binding() == 0:\n    B[0] += A[bx, 0]", "This update of B[0] is made by several blocks"),
    ],
)
def test_an_update_that_several_blocks_make_is_wrong(body: str, says: str) -> None:
    finding = _failure(body, FOUR_BLOCKS)
    assert finding.kind is Kind.UPDATE
    assert says in finding.message
    assert "T.atomic_add" in finding.message


@pytest.mark.parametrize(
    "body",
    [
        "for i in T.Parallel(16):\n    B[bx * 16 + i] += A[bx, i]",
        "for k in T.serial(2):\n    for i in T.Parallel(8):\n        B[(k * 4 + bx) * 8 + i] += A[bx, i]",
        "if bx == 0:\n    for i in T.Parallel(64):\n        B[i] += A[i, 0]",
        "for i in T.Parallel(16):\n    T.atomic_add(B[i], A[bx, i])\nif bx == 4:\n    B[0] = 0",
        "for i in T.Parallel(64):\n    B[i] = A[i, 0]",
    ],
)
def test_blocks_that_keep_apart_are_left_alone(body: str) -> None:
    assert _vetted(body, FOUR_BLOCKS).findings == ()


def test_long_loops_are_tried_in_part_and_quickly() -> None:
    sums = "s = T.alloc_shared((128, 256), 'int8')\nB[0] = 0\nfor i, j in T.Parallel(128, 256):\n    "
    start = time.monotonic()
    assert _failure(sums + "s[i, j // 2] += 1").kind is Kind.PARALLEL_STORE
    assert _vetted(sums + "s[i, j] += 1").findings == ()
    assert _vetted(sums + "s[(i + 1) % 128, (j + 1) % 256] += 1").findings == ()
    assert time.monotonic() - start < 20
