"""Wrong matrix products."""

from tests.mutants.mutant import Wrong
from tlpuzzles.verdict.model import Kind

GRID = "with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):"
TRIPS = "T.Pipelined(T.ceildiv(K, block_K)"
READ_A = "A[by * block_M, ko * block_K]"
READ_B = "B[ko * block_K, bx * block_N]"
ALLOC_B = "B_shared = T.alloc_shared((block_K, block_N), dtype)"
GEMM = "T.gemm(A_shared, B_shared, C_local)"
WRITE = "T.copy(C_shared, C[by * block_M, bx * block_N])"

WRONG = (
    Wrong("sums-not-cleared", (("            T.clear(C_local)\n", ""),), Kind.CORRECTNESS),
    Wrong(
        "ragged-trip-missing",
        ((TRIPS, "T.Pipelined(max(1, K // block_K)"),),
        Kind.CORRECTNESS,
        "ragged",
        "last-trip-missing-32",
        passes=("whole-tiles", "ragged-rows", "ragged-columns", "one-element"),
    ),
    Wrong(
        "one-place-in-every-trip",
        ((READ_A, "A[by * block_M, 0]"), (READ_B, "B[0, bx * block_N]")),
        Kind.CORRECTNESS,
        "ragged",
        "first-trip-repeated-32",
        passes=("one-element",),
    ),
    Wrong("a-stands-still", ((READ_A, "A[by * block_M, 0]"),), Kind.CORRECTNESS, "ragged", "a-stands-still-32"),
    Wrong(
        "trips-by-one",
        ((READ_A, "A[by * block_M, ko]"), (READ_B, "B[ko, bx * block_N]")),
        Kind.CORRECTNESS,
        "ragged",
        "trips-by-one-32",
    ),
    Wrong("trips-past-the-end", ((TRIPS, "T.Pipelined(K"),), Kind.REQUIREMENT, "no-needless-trips"),
    Wrong("b-stands-still", ((READ_B, "B[0, bx * block_N]"),), Kind.CORRECTNESS, "ragged", "b-stands-still-32"),
    Wrong(
        "sums-start-anew",
        ((GEMM, "T.gemm(A_shared, B_shared, C_local, clear_accum=True)"),),
        Kind.CORRECTNESS,
        "ragged",
        "last-trip-only-32",
    ),
    Wrong(
        "b-transposed",
        (
            (ALLOC_B, "B_shared = T.alloc_shared((block_N, block_K), dtype)"),
            (READ_B, "B[bx * block_N, ko * block_K]"),
            (GEMM, "T.gemm(A_shared, B_shared, C_local, transpose_B=True)"),
        ),
        Kind.CORRECTNESS,
        "ragged",
        "b-transposed",
        passes=("one-element",),
    ),
    Wrong(
        "b-by-rows-and-not-transposed",
        (
            ("block_N: int = 128", "block_N: int = 64"),
            ("block_K: int = 32", "block_K: int = 64"),
            (ALLOC_B, "B_shared = T.alloc_shared((block_N, block_K), dtype)"),
            (READ_B, "B[bx * block_N, ko * block_K]"),
        ),
        Kind.CORRECTNESS,
        "ragged",
        "b-indices-exchanged-64x64",
    ),
    Wrong(
        "indices-of-a-exchanged",
        ((READ_A, "A[ko * block_K, by * block_M]"),),
        Kind.CORRECTNESS,
        "ragged",
        "a-indices-exchanged-128x32",
        passes=("one-element",),
    ),
    Wrong(
        "indices-of-b-exchanged",
        ((READ_B, "B[bx * block_N, ko * block_K]"),),
        Kind.CORRECTNESS,
        "ragged",
        "b-indices-exchanged-128x32",
        passes=("one-element",),
    ),
    Wrong(
        "a-of-the-first-rows",
        ((READ_A, "A[0, ko * block_K]"),),
        Kind.CORRECTNESS,
        "ragged",
        "a-first-rows-128",
        passes=("one-element",),
    ),
    Wrong(
        "b-of-the-first-columns",
        ((READ_B, "B[ko * block_K, 0]"),),
        Kind.CORRECTNESS,
        "ragged",
        "b-first-columns-128",
        passes=("one-element",),
    ),
    Wrong(
        "written-to-the-first-columns",
        ((WRITE, "T.copy(C_shared, C[by * block_M, 0])"),),
        Kind.CORRECTNESS,
        "ragged",
        "c-first-columns-128",
        passes=("one-element",),
    ),
    Wrong(
        "written-to-the-first-rows",
        ((WRITE, "T.copy(C_shared, C[0, bx * block_N])"),),
        Kind.CORRECTNESS,
        "ragged",
        "c-first-rows-128",
        passes=("one-element",),
    ),
    Wrong(
        "grid-exchanged",
        ((GRID, GRID.replace("(bx, by)", "(by, bx)")),),
        Kind.CORRECTNESS,
        "whole-tiles",
        "grid-exchanged-128x128",
    ),
    Wrong(
        "tiles-read-exchanged",
        ((READ_A, "A[bx * block_M, ko * block_K]"), (READ_B, "B[ko * block_K, by * block_N]")),
        Kind.CORRECTNESS,
        "ragged",
        "tiles-read-exchanged-128x128",
        passes=("one-element",),
    ),
    Wrong(
        "tiles-written-transposed",
        ((WRITE, "T.copy(C_shared, C[bx * block_M, by * block_N])"),),
        Kind.CORRECTNESS,
        "whole-tiles",
        "tiles-written-exchanged-128x128",
        passes=("one-element",),
    ),
    Wrong(
        "ragged-rows-missing",
        ((GRID, GRID.replace("T.ceildiv(M, block_M)", "max(1, M // block_M)")),),
        Kind.CORRECTNESS,
        "ragged-rows",
        "rows-rounded-down-128",
        passes=("whole-tiles", "ragged-columns", "one-element"),
    ),
    Wrong(
        "ragged-columns-missing",
        ((GRID, GRID.replace("T.ceildiv(N, block_N)", "max(1, N // block_N)")),),
        Kind.CORRECTNESS,
        "ragged-columns",
        "columns-rounded-down-128",
        passes=("whole-tiles", "ragged-rows", "one-element"),
    ),
    Wrong(
        "grid-rounded-down",
        ((GRID, GRID.replace("T.ceildiv(N, block_N), T.ceildiv(M, block_M)", "max(1, N // 128), max(1, M // 128)")),),
        Kind.CORRECTNESS,
        "ragged",
        "grid-rounded-down-128x128",
        passes=("whole-tiles", "one-element"),
    ),
    Wrong("sums-in-float16", (('accum_dtype: str = "float"', 'accum_dtype: str = "float16"'),), Kind.REQUIREMENT),
    Wrong(
        "no-tensor-cores",
        (
            (
                GEMM,
                "for i, j in T.Parallel(block_M, block_N):\n"
                "                    for k in T.serial(block_K):\n"
                "                        C_local[i, j] += T.cast(A_shared[i, k], accum_dtype) * B_shared[k, j]",
            ),
        ),
        Kind.REQUIREMENT,
    ),
)
