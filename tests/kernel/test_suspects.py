"""What most likely makes a wrong kernel's result wrong; right kernels give no reason to suspect anything."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import tlpuzzles_solutions
from tests.kernel.constructs import GEMM, VECTOR_ADD
from tests.kernel.problems import ADD, PRODUCT, PRODUCT_SIZES, case, real_capsules
from tests.mutants.mutant import right
from tests.tracing import trace
from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Exercise, Sizes
from tlpuzzles.kernel.capsule import Capsule, read
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.findings import Finding
from tlpuzzles.kernel.parameters import match
from tlpuzzles.kernel.suspects import suspect

NOT_TRACED_HERE = ("notebook", "eager", "eager_erf")
"""Right kernels that need a GPU or the tracer's own process."""


def suspected(capsule: Capsule, exercise: Exercise, dtype: str, sizes: Sizes) -> Finding | None:
    func = read(capsule).func
    return suspect(Kernel(func), exercise, match(func, exercise, case(dtype), sizes, capsule.out_idx))


def of_product(old: str, new: str, **sizes: int) -> Finding | None:
    assert GEMM.count(old) == 1
    sizes = {**PRODUCT_SIZES, **sizes}
    return suspected(trace(GEMM.replace(old, new), **sizes), PRODUCT, "float16", sizes)


def of_sum(old: str, new: str, n: int = 1000) -> Finding | None:
    assert old in VECTOR_ADD
    return suspected(trace(VECTOR_ADD.replace(old, new), N=n), ADD, "float32", {"N": n})


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "T.Pipelined(T.ceildiv(K, bk), num_stages=stages)",
            "T.Pipelined(T.ceildiv(K, bk), stages)",
            "The loop in line 16 goes from 3 up to 2, so it makes no trip.",
        ),
        ("T.ceildiv(K, bk)", "K // 91", "The loop in line 16 makes no trip: its number of trips is 0"),
        (
            "A[by * bm, k * bk]",
            "A[by, k * bk]",
            "Line 17 reads 64 elements of A along M, beginning at by: the next block begins 1 further on, inside what "
            "this one has. by * 64 moves on by a whole tile.",
        ),
        (
            "A[by * bm, k * bk]",
            "A[by * bm, k * bm]",
            "Line 17 reads 32 elements of A along K, beginning at k * 64: the next trip begins 64 further on, and "
            "nothing reads what lies between. k * 32 moves on by a whole tile.",
        ),
        (
            "C[by * bm, bx * bn]",
            "C[by * bn, bx * bn]",
            "Line 20 writes 64 elements of C along M, beginning at by * 32: the next block begins 32 further on",
        ),
        (
            "B[k * bk, bx * bn]",
            "B[k * bk, by * bn]",
            "by and bx are exchanged: along N, B is read at by * 32 in line 18, and C is written at bx * 32 in",
        ),
    ],
)
def test_what_makes_a_product_wrong(old: str, new: str, says: str) -> None:
    found = of_product(old, new)
    assert found is not None
    assert found.message.startswith(says)


def test_a_loop_that_leaves_out_its_first_trips() -> None:
    found = of_product("T.Pipelined(T.ceildiv(K, bk), num_stages=stages)", "T.Pipelined(1, T.ceildiv(K, bk))")
    assert found is not None
    assert found.message.startswith("The loop in line 16 begins with trip 1: nothing takes what belongs to the trips")
    assert found.line == 16


def test_what_makes_a_sum_wrong() -> None:
    found = of_sum("C[bx * block + i]", "C[bx * 64 + i]")
    assert found is not None
    assert found.message.startswith("Line 12 writes 128 elements of C along N, beginning at bx * 64 + i")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_right_kernels_are_not_suspected(number: int) -> None:
    capsule, exercise, of, sizes = real_capsules()[number]
    assert suspected(capsule, exercise, of.dtype, sizes) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # One block, or one trip: how far the next would move says nothing.
        ("A[by * bm, k * bk]", "A[by * bm, k]"),
    ],
)
def test_what_happens_once_cannot_go_astray(old: str, new: str) -> None:
    assert of_product(old, new, K=20) is None


@pytest.mark.parametrize(
    "body",
    [
        # Elements that lie apart, with others' between them.
        "for i in T.Parallel(block):\n    C[i * 8 + bx] = A[i * 8 + bx] + B[i * 8 + bx]",
        # Two halves of a block.
        "for i in T.Parallel(64):\n    C[bx * block + i] = A[bx * block + i] + B[bx * block + i]\n"
        "for i in T.Parallel(64):\n"
        "    C[bx * block + 64 + i] = A[bx * block + 64 + i] + B[bx * block + 64 + i]",
        "for half in T.serial(2):\n    for i in T.Parallel(64):\n"
        "        C[bx * block + half * 64 + i] = A[bx * block + half * 64 + i] + B[bx * block + half * 64 + i]",
        # A first trip that stands before its loop.
        "for i in T.Parallel(64):\n    C[bx * block + i] = A[bx * block + i] + B[bx * block + i]\n"
        "for half in T.serial(1, 2):\n    for i in T.Parallel(64):\n"
        "        C[bx * block + half * 64 + i] = A[bx * block + half * 64 + i] + B[bx * block + half * 64 + i]",
    ],
)
def test_other_ways_to_go_over_a_vector(body: str) -> None:
    lines = "".join(f"            {line}\n" for line in body.splitlines())
    head, _, rest = VECTOR_ADD.partition("            for i in")
    source = head + lines + "    return main\n"
    assert "C[bx * block + i]" in rest
    assert suspected(trace(source, N=1024), ADD, "float32", {"N": 1024}) is None


@pytest.mark.parametrize(
    ("slug", "path"),
    [
        pytest.param(slug, path, id=f"{slug}-{path.stem}")
        for slug in ("vector_add", "tiled_gemm", "epilogue_fusion", "row_softmax", "flash_attention")
        for path in (tlpuzzles_solutions.path(slug), *right(slug))
        if path.stem not in NOT_TRACED_HERE
    ],
)
def test_kernels_that_pass_are_not_suspected(slug: str, path: Path) -> None:
    exercise = catalog.find(slug)
    source = path.read_text("utf-8")
    for one in exercise.cases[:3]:
        sizes = one.sizes(random.Random(3))
        capsule = trace(source, exercise.factory, **one.arguments(sizes))
        func = read(capsule).func
        assert suspect(Kernel(func), exercise, match(func, exercise, one, sizes, [-1])) is None
