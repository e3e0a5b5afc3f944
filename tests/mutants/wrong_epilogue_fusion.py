"""Wrong epilogues. The tiles are 128 x 128 x 32 here: the solution's defaults."""

from tests.mutants.mutant import Wrong
from tlpuzzles.verdict.model import Kind

GRID = "with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):"
READ_BIAS = "T.copy(Bias[bx * block_N], Bias_local)"
ADD_BIAS = "                C_local[i, j] += Bias_local[j]\n"
GEMM = "                T.gemm(A_shared, B_shared, C_local)\n"
ROOT = "math.sqrt(2 / math.pi)"
INNER = f"{ROOT} * (x + 0.044715 * x * x * x)"
GELU = "0.5 * x * (1 + T.tanh(u))"
PRECISE = (GELU, "x / (1 + T.exp(-2 * u))")
"""A GPU's own tanh may hide what is wrong with a constant; its exp does not."""
STAGED = "            T.copy(C_local, C_shared)\n            T.copy(C_shared, C[by * block_M, bx * block_N])\n"
WRITE = "T.copy(C_shared, C[by * block_M, bx * block_N])"
IN_MEMORY = """\
            product = T.alloc_global((T.ceildiv(M, block_M) * block_M, T.ceildiv(N, block_N) * block_N), "float32")
            T.copy(C_local, product[by * block_M, bx * block_N])
            T.copy(product[by * block_M, bx * block_N], C_local)
"""
TWO_LAUNCHES = """\
            T.copy(C_local, C[by * block_M, bx * block_N])
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            C_tile = T.alloc_fragment((block_M, block_N), dtype)
            T.copy(C[by * block_M, bx * block_N], C_tile)
            T.copy(C_tile, C[by * block_M, bx * block_N])
"""
ROUNDED = """\
            C_half = T.alloc_fragment((block_M, block_N), dtype)
"""
ADD_LOOP = f"            for i, j in T.Parallel(block_M, block_N):\n{ADD_BIAS}"
OTHERS = ("ragged", "mostly-bias", "whole-tiles", "ragged-rows", "ragged-columns", "exact-sums", "one-element")


def _gelu(id_: str, old: str, new: str, mistake: str | None = None, check: str = "ragged") -> Wrong:
    """The solution with `old` in its epilogue replaced by `new`."""
    return Wrong(id_, ((old, new),), Kind.CORRECTNESS, check, mistake or id_)


WRONG = (
    Wrong("no-bias", ((ADD_BIAS, ADD_BIAS.replace("Bias_local[j]", "0.0")),), Kind.CORRECTNESS, "ragged", "no-bias"),
    Wrong(
        "bias-of-first-tile",
        ((READ_BIAS, "T.copy(Bias[0], Bias_local)"),),
        Kind.CORRECTNESS,
        "mostly-bias",
        "bias-of-first-tile-128",
        passes=("one-element",),
    ),
    Wrong(
        "bias-by-rows",
        (
            (READ_BIAS, "T.copy(Bias[by * block_M], Bias_local)"),
            (ADD_BIAS, ADD_BIAS.replace("Bias_local[j]", "Bias_local[i]")),
        ),
        Kind.CORRECTNESS,
        "ragged",
        "bias-by-rows",
        passes=("one-element",),
    ),
    Wrong(
        "bias-by-rows-of-its-tile",
        ((ADD_BIAS, ADD_BIAS.replace("Bias_local[j]", "Bias_local[i]")),),
        Kind.CORRECTNESS,
        "whole-tiles",
        "bias-by-rows-128",
        passes=("one-element",),
    ),
    Wrong(
        "bias-after-gelu",
        ((ADD_BIAS, ADD_BIAS.replace("Bias_local[j]", "0.0")), (GELU, GELU + " + Bias_local[j]")),
        Kind.CORRECTNESS,
        "mostly-bias",
        "bias-after-gelu",
    ),
    Wrong(
        "bias-in-every-trip",
        (
            (f"            for i, j in T.Parallel(block_M, block_N):\n{ADD_BIAS}", ""),
            (
                GEMM,
                f"{GEMM}                for i, j in T.Parallel(block_M, block_N):\n    {ADD_BIAS}",
            ),
        ),
        Kind.CORRECTNESS,
        "ragged",
        "bias-in-every-trip-32",
        passes=("ragged-rows", "one-element"),
    ),
    Wrong(
        "gelu-in-every-trip",
        (
            (
                GEMM,
                f"{GEMM}                for i, j in T.Parallel(block_M, block_N):\n"
                "                    y = C_local[i, j]\n"
                "                    C_local[i, j] = 0.5 * y * (1 + T.tanh(0.79788456 * (y + 0.044715 * y * y * y)))\n",
            ),
            (GELU, "x + 0.0 * u"),
        ),
        Kind.CORRECTNESS,
        "ragged",
    ),
    _gelu("no-gelu", GELU, "x + 0.0 * u"),
    _gelu("relu", GELU, "T.max(x, 0.0) + 0.0 * u"),
    _gelu("silu", GELU, "x / (1 + T.exp(-x)) + 0.0 * u"),
    _gelu("quick-gelu", GELU, "x / (1 + T.exp(-1.702 * x)) + 0.0 * u"),
    _gelu("no-cubic-term", INNER, f"{ROOT} * x"),
    _gelu("square-for-cube", INNER, f"{ROOT} * (x + 0.044715 * x * x)"),
    _gelu("no-root", f"{ROOT} * ", ""),
    _gelu("no-factor-two", GELU, "x / (1 + T.exp(-u))"),
    _gelu("wrong-sign", GELU, "x / (1 + T.exp(2 * u))"),
    _gelu("base-two", GELU, "x / (1 + T.exp2(-2 * u))"),
    _gelu("not-halved", GELU, "x * (1 + T.tanh(u))"),
    _gelu("tanh-without-one", GELU, "0.5 * x * T.tanh(u)"),
    _gelu("factor-x-missing", GELU, "0.5 * (1 + T.tanh(u))"),
    Wrong(
        "tanh-overflows",
        ((GELU, "0.5 * x * (1 + (T.exp(2 * u) - 1) / (T.exp(2 * u) + 1))"),),
        Kind.CORRECTNESS,
        "saturated",
        "tanh-overflows",
        passes=OTHERS,
    ),
    Wrong("sums-not-cleared", (("            T.clear(C_local)\n", ""),), Kind.CORRECTNESS, "ragged"),
    Wrong(
        "tiles-written-transposed",
        ((WRITE, "T.copy(C_shared, C[bx * block_M, by * block_N])"),),
        Kind.CORRECTNESS,
        "whole-tiles",
        passes=("one-element",),
    ),
    Wrong("every-tile-in-one-place", ((WRITE, "T.copy(C_shared, C[0, 0])"),), Kind.CORRECTNESS, "whole-tiles"),
    Wrong(
        "ragged-columns-missing",
        ((GRID, GRID.replace("T.ceildiv(N, block_N)", "max(1, N // block_N)")),),
        Kind.CORRECTNESS,
        "ragged-columns",
        passes=("whole-tiles", "ragged-rows", "one-element"),
    ),
    Wrong(
        "sums-in-float16",
        (('accum_dtype: str = "float"', 'accum_dtype: str = "float16"'),),
        Kind.REQUIREMENT,
        "accumulates-in-float32",
    ),
    Wrong(
        "product-through-memory",
        ((GEMM, f"{GEMM}{IN_MEMORY}"),),
        Kind.REQUIREMENT,
        "no-global-intermediate",
    ),
    Wrong(
        "gelu-of-rounded-sums",
        (
            (ADD_LOOP, ADD_LOOP + ROUNDED + "            T.copy(C_local, C_half)\n"),
            ("x = C_local[i, j]", "x = C_half[i, j]"),
        ),
        Kind.REQUIREMENT,
        "rounds-once",
    ),
    Wrong(
        "epilogue-in-float16",
        (
            (ADD_LOOP, f"{ROUNDED}            T.copy(C_local, C_half)\n{ADD_LOOP.replace('C_local', 'C_half')}"),
            ("x = C_local[i, j]", "x = C_half[i, j]"),
            (f"C_local[i, j] = {GELU}", f"C_half[i, j] = {GELU}"),
            ("T.copy(C_local, C_shared)", "T.copy(C_half, C_shared)"),
        ),
        Kind.REQUIREMENT,
        "rounds-once",
    ),
    Wrong(
        "sums-rounded-in-passing",
        (("x = C_local[i, j]", 'x = T.cast(T.cast(C_local[i, j], "float16"), "float32")'),),
        Kind.REQUIREMENT,
        "rounds-once",
    ),
    Wrong("root-of-two-digits", ((ROOT, "0.8"),), Kind.REQUIREMENT, "constants"),
    Wrong(
        "root-a-little-off",
        ((ROOT, "0.7988"),),
        Kind.REQUIREMENT,
        "constants",
    ),
    Wrong("cubic-factor-misspelt", ((INNER, f"{ROOT} * (x + 0.045715 * x * x * x)"),), Kind.REQUIREMENT, "constants"),
    Wrong(
        "root-computed-wrongly",
        ((ROOT, "T.sqrt(0.64)"), PRECISE),
        Kind.CORRECTNESS,
        "exact-sums",
        passes=("ragged", "whole-tiles", "ragged-columns", "one-element"),
    ),
    Wrong(
        "cubic-factor-computed-wrongly",
        ((INNER, f"{ROOT} * (x + x * x * x / 21.9)"), PRECISE),
        Kind.CORRECTNESS,
        "exact-sums",
        passes=("ragged", "whole-tiles", "ragged-columns", "one-element"),
    ),
    Wrong(
        "long-products-cut-off",
        (("T.ceildiv(K, block_K), num_stages", "T.ceildiv(min(K, 384), block_K), num_stages"),),
        Kind.CORRECTNESS,
        "ragged-columns",
        passes=("ragged", "saturated", "mostly-bias", "whole-tiles", "ragged-rows", "exact-sums", "one-element"),
    ),
    Wrong("two-launches", ((STAGED, TWO_LAUNCHES),), Kind.REQUIREMENT, "one-launch"),
)
