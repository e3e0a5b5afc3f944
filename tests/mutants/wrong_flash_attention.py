"""Wrong attentions. The scores' tiles are 64 x 64 here: the solution's defaults."""

from tests.mutants.mutant import Wrong
from tlpuzzles.verdict.model import Kind

SCALE = "scale = math.log2(math.e) / math.sqrt(dim)"
LAST = "last = T.min(start + block_M, seq_len) if is_causal else seq_len"
CAUSAL_SEEN = "T.And(key < seq_len, key <= start + i) if is_causal"
FULL_SEEN = "if is_causal else key < seq_len\n"
HIDDEN = "T.if_then_else(seen, scores[i, j], -T.infinity(accum_dtype))"
MASKED = "if (k + 1) * block_N > (T.min(start + 1, seq_len) if is_causal else seq_len):"
SHRINK = "(old_max[i] - row_max[i]) * scale"
EXPONENT = "scores[i, j] * scale - row_max[i] * scale"
MINUS_INFINITY = "T.fill(row_max, -T.infinity(accum_dtype))"
TRIP = "k * block_N : (k + 1) * block_N"
FULL = ("full-ragged", "full-ramp", "full-sharp", "around-a-tile", "one-token")
CAUSAL = ("causal-ragged", "causal-ramp", "causal-whole")

WRONG = (
    Wrong(
        "no-scale", ((SCALE, "scale = math.log2(math.e)"),), Kind.CORRECTNESS, "full-ragged", "no-scale", ("one-token",)
    ),
    Wrong("scale-dim", ((SCALE, "scale = math.log2(math.e) / dim"),), Kind.CORRECTNESS, "causal-ragged", "scale-dim"),
    Wrong("base-two", ((SCALE, "scale = 1 / math.sqrt(dim)"),), Kind.CORRECTNESS, "full-ragged", "base-two"),
    Wrong(
        "exp-for-exp2",
        ((f"T.exp2({EXPONENT})", f"T.exp({EXPONENT})"), (f"T.exp2({SHRINK})", f"T.exp({SHRINK})")),
        Kind.CORRECTNESS,
        "full-ragged",
        "base-two-twice",
        ("one-token",),
    ),
    Wrong(
        "exp-for-exp2-in-the-scores",
        ((f"T.exp2({EXPONENT})", f"T.exp({EXPONENT})"),),
        Kind.CORRECTNESS,
        "causal-ragged",
        "exp-in-scores-64",
        ("one-token",),
    ),
    Wrong(
        "exp-for-exp2-in-shrink",
        ((f"T.exp2({SHRINK})", f"T.exp({SHRINK})"),),
        Kind.CORRECTNESS,
        "full-ramp",
        "exp-in-shrink-64",
        ("one-token",),
    ),
    Wrong(
        "keys-past-the-end",
        ((FULL_SEEN, "if is_causal else key >= 0\n"),),
        Kind.CORRECTNESS,
        "full-ragged",
        "keys-past-the-end-64",
        CAUSAL,
    ),
    Wrong(
        "no-mask",
        ((CAUSAL_SEEN, "key < seq_len if is_causal"), (LAST, "last = seq_len")),
        Kind.CORRECTNESS,
        "causal-ragged",
        "no-mask",
        FULL,
    ),
    Wrong(
        "mask-by-blocks",
        ((CAUSAL_SEEN, "key < seq_len if is_causal"),),
        Kind.CORRECTNESS,
        "causal-ragged",
        "mask-by-blocks-64",
        FULL,
    ),
    Wrong(
        "mask-by-places",
        ((CAUSAL_SEEN, CAUSAL_SEEN.replace("key <= start + i", "j <= i")), (MASKED, "if True:")),
        Kind.CORRECTNESS,
        "causal-ragged",
        "mask-by-places-64",
        FULL,
    ),
    Wrong(
        "mask-by-places-over-all-keys",
        (
            (CAUSAL_SEEN, CAUSAL_SEEN.replace("key <= start + i", "j <= i")),
            (MASKED, "if True:"),
            (LAST, "last = seq_len"),
        ),
        Kind.CORRECTNESS,
        "causal-ragged",
        "mask-by-places-everywhere-64",
        FULL,
    ),
    Wrong(
        "mask-late",
        ((CAUSAL_SEEN, CAUSAL_SEEN.replace("<= start", "< start")),),
        Kind.CORRECTNESS,
        "causal-ragged",
        "mask-late",
        FULL,
    ),
    Wrong(
        "mask-late-with-a-large-number",
        (
            (CAUSAL_SEEN, CAUSAL_SEEN.replace("<= start", "< start")),
            (HIDDEN, "T.if_then_else(seen, scores[i, j], -1e30)"),
            # As one instruction, this would not give 0 for -1e30 less itself: the product is not rounded.
            (EXPONENT, "(scores[i, j] - row_max[i]) * scale"),
        ),
        Kind.CORRECTNESS,
        "causal-whole",
        "mask-late-64",
        FULL,
    ),
    Wrong(
        "mask-early",
        ((CAUSAL_SEEN, CAUSAL_SEEN.replace("start + i", "start + i + 1")), (LAST, "last = seq_len")),
        Kind.CORRECTNESS,
        "causal-ragged",
        "mask-early",
        FULL,
    ),
    Wrong(
        "mask-mirrored",
        (
            (CAUSAL_SEEN, CAUSAL_SEEN.replace("<= start", ">= start")),
            (MASKED, "if True:"),
            (LAST, "last = seq_len"),
            (HIDDEN, "T.if_then_else(seen, scores[i, j], -1e30)"),
            (MINUS_INFINITY, "T.fill(row_max, -1e30)"),
            (EXPONENT, "(scores[i, j] - row_max[i]) * scale"),
        ),
        Kind.CORRECTNESS,
        "causal-ragged",
        "mask-mirrored",
        FULL,
    ),
    Wrong(
        "output-not-rescaled",
        (("output[i, j] *= shrink[i]", "output[i, j] *= 1.0"),),
        Kind.CORRECTNESS,
        "full-ramp",
        "output-not-rescaled-64",
        ("one-token",),
    ),
    Wrong(
        "sum-not-rescaled",
        (("row_sum[i] * shrink[i]", "row_sum[i]"),),
        Kind.CORRECTNESS,
        "causal-ramp",
        "sum-not-rescaled-64",
        ("one-token",),
    ),
    Wrong(
        "no-maximum",
        (
            (EXPONENT, "scores[i, j] * scale"),
            ("T.exp2((old_max[i] - row_max[i]) * scale)", "1.0"),
        ),
        Kind.CORRECTNESS,
        "full-sharp",
        passes=("full-ragged", "causal-ragged"),
    ),
    Wrong(
        "undivided",
        (("output[i, j] /= row_sum[i]", "output[i, j] /= 1.0"),),
        Kind.CORRECTNESS,
        "full-ragged",
        "undivided",
    ),
    Wrong(
        "k-as-values",
        (("T.copy(V[bz, k", "T.copy(K[bz, k"),),
        Kind.CORRECTNESS,
        "full-ragged",
        "k-as-values",
    ),
    Wrong("output-not-cleared", (("            T.clear(output)\n", ""),), Kind.CORRECTNESS, "full-ragged"),
    Wrong(
        "last-queries-missing",
        (("blocks = math.ceil(seq_len / block_M)", "blocks = max(1, seq_len // block_M)"),),
        Kind.CORRECTNESS,
        "full-ragged",
        "ragged-queries-missing-64",
        passes=("one-token",),
    ),
    Wrong(
        "queries-of-the-first-block",
        (("Q[bz, start : start + block_M, by, :]", "Q[bz, 0:block_M, by, :]"),),
        Kind.CORRECTNESS,
        "full-ragged",
        "first-queries-64",
        passes=("one-token",),
    ),
    Wrong(
        "keys-stand-still",
        ((f"K[bz, {TRIP}, by, :]", "K[bz, 0:block_N, by, :]"),),
        Kind.CORRECTNESS,
        "causal-ragged",
        "first-keys-64",
        passes=("one-token",),
    ),
    Wrong(
        "values-stand-still",
        ((f"V[bz, {TRIP}, by, :]", "V[bz, 0:block_N, by, :]"),),
        Kind.CORRECTNESS,
        "full-ragged",
        "first-values-64",
        passes=("one-token",),
    ),
    Wrong(
        "keys-and-values-stand-still",
        ((f"K[bz, {TRIP}, by, :]", "K[bz, 0:block_N, by, :]"), (f"V[bz, {TRIP}, by, :]", "V[bz, 0:block_N, by, :]")),
        Kind.CORRECTNESS,
        "full-ragged",
        "first-keys-and-values-64",
        passes=("one-token",),
    ),
    Wrong(
        "batch-and-heads-exchanged",
        (("as (b0, b1, bz)", "as (b0, b1, by)"), ("by = b0 if", "bz = b0 if")),
        Kind.CORRECTNESS,
        "causal-ragged",
        "batch-and-heads-exchanged",
    ),
    Wrong(
        "queries-of-the-other-axis",
        (("Q[bz, start : start + block_M, by, :]", "Q[by, start : start + block_M, bz, :]"),),
        Kind.CORRECTNESS,
        "full-ragged",
        "axes-exchanged-q",
    ),
    Wrong(
        "all-of-the-other-axis",
        (
            ("Q[bz, start : start + block_M, by, :]", "Q[by, start : start + block_M, bz, :]"),
            (f"K[bz, {TRIP}, by, :]", f"K[by, {TRIP}, bz, :]"),
            (f"V[bz, {TRIP}, by, :]", f"V[by, {TRIP}, bz, :]"),
        ),
        Kind.CORRECTNESS,
        "causal-ragged",
        "axes-exchanged-qkv",
    ),
    Wrong(
        "queries-at-a-position",
        (("Q[bz, start : start + block_M, by, :]", "Q[bz, start, by, 0]"),),
        Kind.CORRECTNESS,
        "full-ragged",
        "position-alone-q-64",
    ),
    Wrong(
        "all-at-a-position",
        (
            ("Q[bz, start : start + block_M, by, :]", "Q[bz, start, by, 0]"),
            (f"K[bz, {TRIP}, by, :]", "K[bz, k * block_N, by, 0]"),
            (f"V[bz, {TRIP}, by, :]", "V[bz, k * block_N, by, 0]"),
        ),
        Kind.CORRECTNESS,
        "causal-ragged",
        "position-alone-qkv-64",
    ),
    Wrong(
        "keys-not-transposed",
        (("transpose_B=True, ", ""),),
        Kind.CORRECTNESS,
        "full-ragged",
        "keys-not-transposed",
    ),
    Wrong("scores-in-float16", (('accum_dtype: str = "float"', 'accum_dtype: str = "float16"'),), Kind.REQUIREMENT),
)
