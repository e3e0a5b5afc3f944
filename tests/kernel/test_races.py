"""Kernels that compile without a word and are wrong on a GPU; and right ones that look like them.

What is said of each was read in the CUDA source that TileLang 0.1.15 writes for it.
"""

from __future__ import annotations

import re

import pytest

from tests.kernel.constructs import ROWS, tile_kernel
from tests.kernel.problems import COPY, ROW_SUM, only, vetted
from tlpuzzles.kernel.findings import Kind, Severity

LOADED = "x = T.alloc_fragment((64, 32), 'float32')\ny = T.alloc_fragment((64,), 'float32')\nT.copy(A, x)\n"


def _rows(body: str) -> str:
    return tile_kernel(body, ROWS)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            LOADED + "T.clear(y)\nfor i, j in T.Parallel(64, 32):\n    y[i] += x[i, j]\nT.copy(y, B)",
            "The store to y[i] in T.Parallel over i and j does not use j: .* To combine over j use T.reduce_sum",
        ),
        (
            LOADED + "T.fill(y, -1e30)\nfor i, j in T.Parallel(64, 32):\n    y[i] = T.max(y[i], x[i, j])\nT.copy(y, B)",
            "combine over j use T.reduce_max",
        ),
        (
            LOADED + "for i, j in T.Parallel(64, 32):\n    y[i] = x[i, j]\nT.copy(y, B)",
            "does not use j: .*Use j in the index",
        ),
        (
            "y = T.alloc_shared((64,), 'float32')\nT.clear(y)\n"
            "for i, j in T.Parallel(64, 32):\n    y[i] += A[i, j]\nT.copy(y, B)",
            "y.i. in T.Parallel over i and j does not use j",
        ),
        (
            "for i, j in T.Parallel(64, 32):\n    B[i] = A[i, j]",
            "B.i. in T.Parallel over i and j does not use j",
        ),
        (
            "for i, j in T.Parallel(64, 32):\n    k = j * 2\n    B[i] = A[i, k % 32]",
            "does not use j",
        ),
        (
            "T.clear(B)\nfor i, j in T.Parallel(64, 32):\n    if j < 30:\n        B[i] = B[i] + A[i, j]",
            "does not use j",
        ),
        (
            "for i in T.Parallel(64):\n    for j in T.Parallel(32):\n        B[i] = A[i, j]",
            "does not use j",
        ),
        (
            "s = T.alloc_var('float32', init=0.0)\nfor j in T.Parallel(32):\n    s = s + A[bx, j]\nB[bx] = s",
            "s collects a result in T.Parallel over j.*T.reduce_sum",
        ),
    ],
)
def test_a_parallel_store_that_leaves_out_a_loop_is_wrong(body: str, says: str) -> None:
    finding = only(vetted(_rows(body), ROW_SUM))
    assert (finding.kind, finding.severity) == (Kind.PARALLEL_STORE, Severity.FAILS)
    assert re.search(says.replace("y[i]", r"y\[i\]"), finding.message), finding.message
    assert finding.line is not None


def test_a_sum_by_hand_in_a_fragment_is_told_to_be_copies_and_no_serial_loop_is_recommended() -> None:
    body = LOADED + "T.clear(y)\nfor i, j in T.Parallel(64, 32):\n    y[i] += x[i, j]\nT.copy(y, B)"
    finding = only(vetted(_rows(body), ROW_SUM))
    assert "each thread adds to a copy of y[i] of its own" in finding.message
    assert "serial" not in finding.message
    assert finding.collects

    shared = body.replace("y = T.alloc_fragment", "y = T.alloc_shared")
    assert "write the same element at the same time" in only(vetted(_rows(shared), ROW_SUM)).message
    plain = only(vetted(_rows("for i, j in T.Parallel(64, 32):\n    B[i] = A[i, j]"), ROW_SUM))
    assert not plain.collects


@pytest.mark.parametrize(
    "body",
    [
        # One thread goes through all of j, because nothing that j indexes is spread over threads.
        "y = T.alloc_fragment((64,), 'float32')\nT.clear(y)\n"
        "for i, j in T.Parallel(64, 32):\n    y[i] += A[i, j]\nT.copy(y, B)",
        "s = T.alloc_fragment((1,), 'float32')\ns[0] = 0\nfor j in T.Parallel(32):\n    s[0] += A[bx, j]\nB[bx] = s[0]",
    ],
)
def test_one_that_is_right_by_the_compilers_grace_gets_a_warning(body: str) -> None:
    finding = only(vetted(_rows(body), ROW_SUM))
    assert (finding.kind, finding.severity) == (Kind.PARALLEL_STORE, Severity.WARNS)


@pytest.mark.parametrize(
    "body",
    [
        # a sum in a serial loop inside
        LOADED
        + "T.clear(y)\nfor i in T.Parallel(64):\n    for j in T.serial(32):\n        y[i] += A[i, j]\nT.copy(y, B)",
        # one iteration is picked
        "for i, j in T.Parallel(64, 32):\n    if j == 3:\n        B[i] = A[i, j]",
        "for i, j in T.Parallel(64, 32):\n    if (j == bx) & (i < 60):\n        B[i] = A[i, j]",
        # every iteration writes the same
        "for i, j in T.Parallel(64, 32):\n    B[i] = A[i, 0]",
        "seen = T.alloc_shared((1,), 'int32')\n"
        "for i, j in T.Parallel(64, 32):\n    if A[i, j] > 0:\n        seen[0] = 1\n"
        "for i in T.Parallel(64):\n    B[i] = seen[0]",
        # a loop of one trip
        "for i, j in T.Parallel(64, 1):\n    B[i] = A[i, j]",
        # the index goes through a name, a variable of the thread, a table
        "for i in T.Parallel(64):\n    k = i * 2\n    m = k // 2\n    B[m] = A[i, 0]",
        "for i in T.Parallel(64):\n    k = T.alloc_var('int32')\n    k = i + 1\n    if k == 64:\n        k = 0\n"
        "    B[k] = A[i, 0]",
        "place = T.alloc_shared((64,), 'int32')\nfor i in T.Parallel(64):\n    place[i] = 63 - i\n"
        "for i in T.Parallel(64):\n    B[place[i]] = A[i, 0]",
        # a variable of the thread, set anew in each iteration
        "for i in T.Parallel(64):\n    s = T.alloc_var('float32')\n    s = A[i, 0]\n    s = s * 2\n    B[i] = s",
        "for i in T.Parallel(64):\n    s = T.alloc_local((1,), 'float32')\n    s[0] = 0\n"
        "    for j in T.serial(32):\n        s[0] += A[i, j]\n    B[i] = s[0]",
        # threads combine what they have
        "T.clear(B)\ns = T.alloc_var('float32', init=0.0)\nfor j in T.Parallel(32):\n    s = s + A[bx, j]\n"
        "T.atomic_add(B[bx], s)",
        # elements of a tile set in a parallel loop whose loops are all used, in another order
        "x = T.alloc_shared((32, 64), 'float32')\nfor i, j in T.Parallel(64, 32):\n    x[j, i] = A[i, j]\n"
        "for i in T.Parallel(64):\n    B[i] = x[0, i]",
    ],
)
def test_a_right_parallel_store_is_left_alone(body: str) -> None:
    assert vetted(_rows(body), ROW_SUM).findings == ()


@pytest.mark.parametrize(
    ("body", "element"),
    [
        (
            "T.copy(x, B)\nfor i in T.serial(64):\n    for j in T.serial(32):\n        B[i, j] = x[i, j]",
            "x[i, j] is read",
        ),
        (
            "for i in range(64):\n    for j in range(32):\n        x[i, j] = x[i, j] * 2\nT.copy(x, B)",
            "x[i, j] is written",
        ),
        ("for i in T.serial(64):\n    x[i, 0] = A[i, 0]\nT.copy(x, B)", "x[i, 0] is written"),
        ("for i in T.unroll(4):\n    B[i, 0] = x[i, 0]", "x[i, 0] is read"),
        ("for i in T.serial(64):\n    k = i // 2\n    B[i, 0] = x[k, 0]", "x[k, 0] is read"),
        ("t = T.get_thread_binding()\nx[t // 2, 0] = 1.0\nT.copy(x, B)", "x[t // 2, 0] is written"),
        ("s = T.alloc_var('float32')\nfor i in T.serial(64):\n    s = x[i, 0]\n    B[i, 0] = s", "x[i, 0] is read"),
        (
            "n = T.alloc_var('int32', init=0)\nwhile n < 64:\n    B[n, 0] = x[n, 0]\n    n = n + 1",
            "x[n, 0] is read",
        ),
    ],
)
def test_an_element_of_a_fragment_in_an_ordinary_loop_is_wrong(body: str, element: str) -> None:
    source = tile_kernel("x = T.alloc_fragment((64, 32), 'float32')\nT.copy(A, x)\n" + body)
    findings = vetted(source, COPY).findings
    assert {(f.kind, f.severity) for f in findings} == {(Kind.FRAGMENT_ACCESS, Severity.FAILS)}
    assert any(element in finding.message for finding in findings), findings


@pytest.mark.parametrize(
    "body",
    [
        "for i in T.serial(64):\n    for j in T.Parallel(32):\n        x[i, j] = x[i, j] * 2\nT.copy(x, B)",
        "for i in T.Parallel(64):\n    for j in T.serial(32):\n        x[i, j] = x[i, j] * 2\nT.copy(x, B)",
        # one element for the whole block: TileLang keeps it in every thread
        "z = T.alloc_fragment((32,), 'float32')\ns = T.alloc_fragment((1,), 'float32')\nT.copy(A[0, :], z)\n"
        "T.reduce_sum(z, s, dim=0)\nT.copy(x, B)\nB[0, 0] = s[0]",
        "T.copy(x, B)\nif x[0, 0] > 0:\n    B[0, 0] = 0",
        "T.copy(x, B)\nB[bx, 0] = x[bx, 0]",
        # read by a condition, through a name, or by the thread's index: TileLang then keeps all of x in every thread
        "for i in T.serial(64):\n    if x[i, 0] > 0:\n        B[i, 0] = 1\n    else:\n        B[i, 0] = 0",
        "for i in T.serial(64):\n    v = x[i, 0]\n    B[i, 0] = v * 2",
        "t = T.get_thread_binding()\nB[t // 2, 0] = x[t // 2, 0]",
        "T.copy(x, B)\nfor i in T.serial(4):\n    T.print(x[i, 0])",
        "T.copy(x, B)\nT.print(x)",
        # shared tiles belong to all threads
        "y = T.alloc_shared((64, 32), 'float32')\nT.copy(x, y)\nfor i in T.serial(64):\n    y[i, 0] = 0\nT.copy(y, B)",
    ],
)
def test_a_right_use_of_a_fragment_is_left_alone(body: str) -> None:
    source = tile_kernel("x = T.alloc_fragment((64, 32), 'float32')\nT.copy(A, x)\n" + body)
    assert vetted(source, COPY).findings == ()


def test_a_reductions_result_read_in_an_ordinary_loop_gets_a_warning() -> None:
    body = LOADED + "T.reduce_sum(x, y, dim=1)\nfor i in T.serial(64):\n    B[i] = y[i]"
    finding = only(vetted(_rows(body), ROW_SUM))
    assert (finding.kind, finding.severity) == (Kind.FRAGMENT_ACCESS, Severity.WARNS)
    assert "y[i] is read outside of T.Parallel" in finding.message
