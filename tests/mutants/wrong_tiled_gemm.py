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
    Wrong("grid-exchanged", ((GRID, GRID.replace("(bx, by)", "(by, bx)")),), Kind.CORRECTNESS, "whole-tiles"),
    Wrong(
        "tiles-written-transposed",
        ((WRITE, "T.copy(C_shared, C[bx * block_M, by * block_N])"),),
        Kind.CORRECTNESS,
        "whole-tiles",
        passes=("one-element",),
    ),
    Wrong(
        "ragged-rows-missing",
        ((GRID, GRID.replace("T.ceildiv(M, block_M)", "max(1, M // block_M)")),),
        Kind.CORRECTNESS,
        "ragged-rows",
        passes=("whole-tiles", "ragged-columns", "one-element"),
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
