"""Wrong vector adds."""

from tests.mutants.mutant import Wrong
from tlpuzzles.verdict.model import Kind

GRID = "T.ceildiv(N, block_N), threads"
A, B = "A[bx * block_N + i]", "B[bx * block_N + i]"
SUM = f"{A} + {B}"
STORE = f"C[bx * block_N + i] = {SUM}"
LOOP = "for i in T.Parallel(block_N):"
SERIAL = "for k in T.serial(T.ceildiv(N, block_N)):"
FAR_STORE = STORE.replace("bx", "k")
OUTPUT = "C: T.Tensor((N,), dtype)"

WRONG = (
    Wrong("difference", ((SUM, f"{A} - {B}"),), Kind.CORRECTNESS, "ragged-end", "difference"),
    Wrong("product", ((SUM, f"{A} * {B}"),), Kind.CORRECTNESS, "ragged-end", "product"),
    Wrong("b-never-read", ((SUM, f"{A} + {A}"),), Kind.CORRECTNESS, "ragged-end", "a-twice"),
    # A maximum or minimum skips the NaN that the output begins with.
    Wrong("largest-so-far", ((STORE, f"C[bx * block_N + i] = T.max(C[bx * block_N + i], {SUM})"),), Kind.ORDER),
    Wrong("smallest-so-far", ((STORE, f"C[bx * block_N + i] = T.min(C[bx * block_N + i], {SUM})"),), Kind.ORDER),
    Wrong(
        "first-block-only",
        ((GRID, "1, threads"),),
        Kind.CORRECTNESS,
        "whole-blocks",
        "first-block-only-1024",
        passes=("one-element", "short"),
    ),
    Wrong(
        "every-block-writes-the-first",
        ((STORE, "C[i] = A[i] + B[i]"),),
        Kind.CORRECTNESS,
        "whole-blocks",
        "first-block-only-1024",
        passes=("one-element", "short"),
    ),
    Wrong(
        "block-number-for-its-start",
        ((STORE, "C[bx + i] = A[bx + i] + B[bx + i]"),),
        Kind.CORRECTNESS,
        "whole-blocks",
        "bx-plus-i-1024",
        passes=("one-element", "short"),
    ),
    Wrong(
        "block-number-for-the-start-of-reads",
        ((SUM, "A[bx + i] + B[bx + i]"),),
        Kind.CORRECTNESS,
        "ragged-end",
        "reads-at-bx-plus-i-1024",
        passes=("one-element", "short"),
    ),
    Wrong(
        "one-element-a-block",
        ((STORE, "C[bx] = A[bx] + B[bx]"),),
        Kind.CORRECTNESS,
        "whole-blocks",
        "one-element-a-block-1024",
        passes=("one-element",),
    ),
    Wrong(
        "every-thread-does-all",
        ((LOOP, "for i in range(block_N):"),),
        Kind.REQUIREMENT,
        "shared-among-threads",
    ),
    Wrong(
        "ragged-block-missing",
        ((GRID, "max(1, N // block_N), threads"),),
        Kind.CORRECTNESS,
        "ragged-end",
        "ragged-block-missing-1024",
        passes=("whole-blocks", "one-element"),
    ),
    Wrong(
        "every-block-reads-the-first",
        ((SUM, "A[i] + B[i]"),),
        Kind.CORRECTNESS,
        "whole-blocks",
        "first-block-everywhere-1024",
        passes=("one-element", "short"),
    ),
    Wrong("b-of-the-first-block", ((SUM, f"{A} + B[i]"),), Kind.CORRECTNESS, "whole-blocks", "first-block-of-b-1024"),
    Wrong(
        "sums-in-float16",
        ((SUM, f'T.cast(T.cast({A}, "float16") + T.cast({B}, "float16"), dtype)'),),
        Kind.CORRECTNESS,
        "ragged-end",
        passes=("half-precision", "short"),
    ),
    Wrong(
        "overlapping-blocks",
        ((STORE, f"C[bx * (block_N - 1) + i] = {SUM}"),),
        Kind.CORRECTNESS,
        "whole-blocks",
        passes=("one-element",),
    ),
    Wrong(
        "one-block-does-it-all",
        (
            (GRID, "1, threads"),
            (f"{LOOP}\n                {STORE}", f"{SERIAL}\n                {LOOP}\n                    {FAR_STORE}"),
        ),
        Kind.REQUIREMENT,
        "many-blocks",
    ),
    Wrong("output-too-long", ((OUTPUT, "C: T.Tensor((N + 1,), dtype)"),), Kind.BUILD),
    Wrong("output-of-another-type", ((OUTPUT, 'C: T.Tensor((N,), "float64")'),), Kind.BUILD),
    Wrong(
        "two-rounds-write-one-element",
        (
            ("for i in T.Parallel(block_N):", "for i, j in T.Parallel(block_N, 2):"),
            (SUM, f"{A} + j * {B}"),
        ),
        Kind.ORDER,
    ),
)
