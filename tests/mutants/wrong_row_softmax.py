"""Wrong softmaxes. A tile has 4 rows here: the solution's default."""

from tests.mutants.mutant import Wrong
from tlpuzzles.verdict.model import Kind

GRID = "with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:"
READ = "            T.copy(X[bx * block_M, 0], rows)\n"
MASKED = "            if columns > N:\n"
MASK = "T.if_then_else(j < N, rows[i, j], -T.infinity(accum_dtype))"
MAXIMUM = "            T.reduce_max(rows, row_max, dim=1)\n"
EXP = "T.exp(rows[i, j] - row_max[i])"
SUM = "            T.reduce_sum(rows, row_sum, dim=1)\n"
DIVIDE = "rows[i, j] /= row_sum[i]"
LAST = "            T.copy(rows, Y[bx * block_M, 0])\n"
EXP_LOOP = f"            for i, j in T.Parallel(block_M, columns):\n                rows[i, j] = {EXP}\n"
IN_HALF = """\
            half = T.alloc_fragment((block_M, columns), dtype)
            for i, j in T.Parallel(block_M, columns):
                half[i, j] = T.exp(rows[i, j] - row_max[i])
            T.copy(half, rows)
"""
WHOLE_CHUNKS_ONLY = """\
            part = T.alloc_fragment((block_M,), accum_dtype)
            T.fill(row_max, -1e30)
            T.clear(row_sum)
            for trip in T.serial(max(1, N // columns)):
                for i, j in T.Parallel(block_M, columns):
                    rows[i, j] = T.if_then_else(
                        trip * columns + j < N, X[bx * block_M + i, trip * columns + j], -T.infinity(accum_dtype)
                    )
                T.reduce_max(rows, part, dim=1)
                for i in T.Parallel(block_M):
                    part[i] = T.max(part[i], row_max[i])
                    row_sum[i] *= T.exp(row_max[i] - part[i])
                    row_max[i] = part[i]
                for i, j in T.Parallel(block_M, columns):
                    rows[i, j] = T.exp(rows[i, j] - row_max[i])
                T.reduce_sum(rows, part, dim=1)
                for i in T.Parallel(block_M):
                    row_sum[i] += part[i]
            for trip in T.serial(T.ceildiv(N, columns)):
                T.copy(X[bx * block_M, trip * columns], rows)
                for i, j in T.Parallel(block_M, columns):
                    rows[i, j] = T.exp(rows[i, j] - row_max[i]) / row_sum[i]
                T.copy(rows, Y[bx * block_M, trip * columns])
"""
BY_HAND = """\
            T.clear(row_sum)
            for i, j in T.Parallel(block_M, columns):
                row_sum[i] += rows[i, j]
"""
IN_SHARED = """\
            sums = T.alloc_shared((block_M,), accum_dtype)
            T.clear(sums)
{}            T.copy(sums, row_sum)
"""
FLATTENED = IN_SHARED.format("""\
            for k in T.Parallel(block_M * columns):
                sums[k // columns] += rows[k // columns, k % columns]
""")
BY_THREADS = IN_SHARED.format("""\
            values = T.alloc_shared((block_M, columns), accum_dtype)
            T.copy(rows, values)
            tx = T.get_thread_binding()
            for i, j in T.grid(block_M, T.ceildiv(columns, threads)):
                if j * threads + tx < columns:
                    sums[i] += values[i, j * threads + tx]
""")
BY_EVERY_THREAD = IN_SHARED.format("""\
            values = T.alloc_shared((block_M, columns), accum_dtype)
            T.copy(rows, values)
            for i, j in T.grid(block_M, columns):
                sums[i] += values[i, j]
""")
PADDED = ("ragged", "short-rows")
WHOLE = ("whole-tiles", "one-column", "one-row")

WRONG = (
    Wrong(
        "no-maximum",
        ((EXP, "T.exp(rows[i, j])"),),
        Kind.CORRECTNESS,
        "offsets",
        "no-maximum",
        passes=(*PADDED, *WHOLE),
    ),
    Wrong(
        "zeros-take-part",
        ((MASKED, "            if False:\n"),),
        Kind.CORRECTNESS,
        "ragged",
        "zeros-take-part",
        passes=("whole-tiles", "one-column"),
    ),
    Wrong(
        "zeros-in-maximum",
        ((MAXIMUM, ""), (READ, READ + MAXIMUM)),
        Kind.CORRECTNESS,
        "offsets",
        "zeros-in-maximum",
        passes=(*PADDED, *WHOLE),
    ),
    Wrong(
        "padded-with-too-little",
        ((MASK, "T.if_then_else(j < N, rows[i, j], -100.0)"),),
        Kind.CORRECTNESS,
        "offsets",
        passes=(*PADDED, *WHOLE),
    ),
    Wrong(
        "padded-with-what-rows-can-hold",
        ((MASK, "T.if_then_else(j < N, rows[i, j], -10000.0)"),),
        Kind.CORRECTNESS,
        "one-finite",
        passes=(*PADDED, *WHOLE, "offsets", "all-equal"),
    ),
    Wrong(
        "tile-of-32-columns-for-more",
        (("columns = tilelang.next_power_of_2(N)", "columns = 32 if 32 < N < 512 else tilelang.next_power_of_2(N)"),),
        Kind.CORRECTNESS,
        "other-lengths",
        passes=(*PADDED, *WHOLE),
    ),
    Wrong(
        "padded-to-a-multiple-of-the-threads",
        (("columns = tilelang.next_power_of_2(N)", "columns = T.ceildiv(N, threads) * threads"),),
        Kind.PORTABILITY,
        passes=(*PADDED, *WHOLE),
    ),
    Wrong("not-divided", ((DIVIDE, "rows[i, j] /= 1.0"),), Kind.CORRECTNESS, "ragged", "not-divided", ("one-column",)),
    Wrong(
        "sum-before-exp",
        ((SUM, ""), (READ, READ + SUM)),
        Kind.CORRECTNESS,
        "whole-tiles",
        "sum-before-exp",
    ),
    Wrong(
        "sum-of-differences",
        (
            (f"                rows[i, j] = {EXP}\n", f"                rows[i, j] -= row_max[i]\n{SUM}"),
            (f"{SUM}            for i, j", "            for i, j"),
            (DIVIDE, "rows[i, j] = T.exp(rows[i, j]) / row_sum[i]"),
        ),
        Kind.CORRECTNESS,
        "whole-tiles",
        "sum-of-differences",
    ),
    Wrong(
        "log-softmax",
        ((DIVIDE, "rows[i, j] = T.log(rows[i, j] / row_sum[i])"),),
        Kind.CORRECTNESS,
        "ragged",
        "log-softmax",
    ),
    Wrong("base-two", ((EXP, EXP.replace("exp", "exp2")),), Kind.CORRECTNESS, "ragged", "base-two", ("one-column",)),
    Wrong(
        "base-two-twice",
        ((EXP, "T.exp((rows[i, j] - row_max[i]) * 1.4426950408889634)"),),
        Kind.CORRECTNESS,
        "short-rows",
        "base-two-twice",
        ("one-column",),
    ),
    Wrong(
        "over-the-tile",
        (
            (EXP, "T.exp(rows[i, j] - T.max(T.max(row_max[0], row_max[1]), T.max(row_max[2], row_max[3])))"),
            (DIVIDE, "rows[i, j] /= row_sum[0] + row_sum[1] + row_sum[2] + row_sum[3]"),
        ),
        Kind.CORRECTNESS,
        "ragged",
        "over-the-tile-4",
    ),
    Wrong(
        "along-columns",
        (
            ("row_max = T.alloc_fragment((block_M,)", "row_max = T.alloc_fragment((columns,)"),
            ("row_sum = T.alloc_fragment((block_M,)", "row_sum = T.alloc_fragment((columns,)"),
            (MAXIMUM, MAXIMUM.replace("dim=1", "dim=0")),
            (SUM, SUM.replace("dim=1", "dim=0")),
            (EXP, EXP.replace("row_max[i]", "row_max[j]")),
            (DIVIDE, DIVIDE.replace("row_sum[i]", "row_sum[j]")),
        ),
        Kind.CORRECTNESS,
        "whole-tiles",
        "along-columns-4",
    ),
    Wrong(
        "first-maximum",
        ((EXP, EXP.replace("row_max[i]", "row_max[0]")),),
        Kind.CORRECTNESS,
        "offsets",
        "first-maximum-4",
        passes=(*PADDED, *WHOLE),
    ),
    Wrong(
        "largest-of-the-tile",
        (
            (
                MAXIMUM,
                f"{MAXIMUM}            largest = T.alloc_fragment((1,), accum_dtype)\n"
                "            T.reduce_max(row_max, largest, dim=0)\n",
            ),
            (EXP, EXP.replace("row_max[i]", "largest[0]")),
        ),
        Kind.CORRECTNESS,
        "offsets",
        "largest-of-the-tile-4",
        passes=(*PADDED, *WHOLE),
    ),
    Wrong(
        "sum-not-cleared",
        ((SUM, SUM.replace("dim=1", "dim=1, clear=False")),),
        Kind.CORRECTNESS,
        "ragged",
    ),
    Wrong("sum-by-hand", ((SUM, BY_HAND),), Kind.ORDER, passes=(*PADDED, *WHOLE)),
    Wrong("sum-by-hand-flattened", ((SUM, FLATTENED),), Kind.ORDER, passes=(*PADDED, *WHOLE)),
    Wrong("sum-by-threads", ((SUM, BY_THREADS),), Kind.ORDER, passes=(*PADDED, *WHOLE)),
    Wrong("sum-by-every-thread", ((SUM, BY_EVERY_THREAD),), Kind.ORDER, passes=(*PADDED, *WHOLE)),
    Wrong(
        "sums-in-float16",
        (('accum_dtype: str = "float"', 'accum_dtype: str = "float16"'),),
        Kind.REQUIREMENT,
        "sums-in-float32",
    ),
    Wrong(
        "exponentials-rounded",
        ((EXP_LOOP, IN_HALF),),
        Kind.REQUIREMENT,
        "rounds-once",
    ),
    Wrong(
        "exponentials-through-shared",
        (
            (SUM, f"            T.copy(rows, shared)\n            T.copy(shared, rows)\n{SUM}"),
            (READ, f"            shared = T.alloc_shared((block_M, columns), dtype)\n{READ}"),
        ),
        Kind.REQUIREMENT,
        "rounds-once",
    ),
    Wrong(
        "end-of-long-rows-missing",
        (
            ("columns = tilelang.next_power_of_2(N)", "columns = 1024"),
            (READ, f"{WHOLE_CHUNKS_ONLY}            T.copy(X[bx * block_M, 0], rows)\n"),
            (LAST, ""),
        ),
        Kind.CORRECTNESS,
        "one-row",
        passes=("ragged", "offsets", "short-rows", "whole-tiles", "one-column"),
    ),
    Wrong(
        "short-rows-divided-twice",
        ((DIVIDE, "rows[i, j] /= row_sum[i] if N > 32 or N == 1 else row_sum[i] * row_sum[i]"),),
        Kind.CORRECTNESS,
        "short-rows",
        passes=("ragged", *WHOLE),
    ),
    Wrong(
        "last-rows-missing",
        ((GRID, GRID.replace("T.ceildiv(M, block_M)", "max(1, M // block_M)")),),
        Kind.CORRECTNESS,
        "ragged",
        passes=("whole-tiles", "one-row"),
    ),
    Wrong(
        "every-block-one-row-further",
        ((READ, READ.replace("bx * block_M", "bx")),),
        Kind.CORRECTNESS,
        "whole-tiles",
        passes=("one-row",),
    ),
)
