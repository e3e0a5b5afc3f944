"""Wrong tuning spaces, and tuned products that are wrong."""

from tests.mutants.mutant import Wrong
from tlpuzzles.verdict.model import Kind

STAGES = " * 2 * max(num_stages, 1)"
ONE_STAGE = "(block_M * block_K + block_K * block_N) * 2"
COUNTED = (
    "    return max(tiles_of_a_and_b, block_M * block_N * 2)  # C takes the place of A and B when they are done with\n"
)
FITS = "if smem_bytes(block_M, block_N, block_K, num_stages) <= smem_limit():"
APPEND = """                found.append(
                    {
                        "block_M": block_M,
                        "block_N": block_N,
                        "block_K": block_K,
                        "num_stages": num_stages,
                        "threads": threads,
                    }
                )
"""
DICT = APPEND.split("append(\n")[1].rsplit("                )\n", 1)[0]
RETURN = "    return found\n"
AUTOTUNE = "@tilelang.autotune(configs=configs, warmup=5, rep=30)\n"
JIT = "@tilelang.jit(out_idx=[-1])\n"
TILES = "TILES = ((128, 256, 256), (128, 128, 128), (64, 128, 128), (64, 64, 128))"
DEPTHS = "DEPTHS = ((128, 2), (64, 4), (64, 3), (64, 2), (32, 2))"
EMPTY = "            continue\n"
SMALL_TILES = "(64, 128, 128), (64, 64, 128)"
TRIPS = "T.Pipelined(T.ceildiv(K, block_K)"


def _space(id_: str, check: str, mistake: str, *edits: tuple[str, str]) -> Wrong:
    return Wrong(id_, edits, Kind.FUNCTION, check, mistake)


WRONG = (
    _space("bytes-not-counted", "smem-bytes", "bytes-not-counted", (COUNTED, "    return 0\n")),
    _space("a-forgotten", "smem-bytes", "a-forgotten", (ONE_STAGE, "block_K * block_N * 2")),
    _space("b-forgotten", "smem-bytes", "b-forgotten", (ONE_STAGE, "block_M * block_K * 2")),
    _space(
        "elements-counted", "smem-bytes", "elements-for-bytes", (ONE_STAGE, "(block_M * block_K + block_K * block_N)")
    ),
    _space("one-stage-counted", "smem-bytes", "stages-ignored", (STAGES, " * 2")),
    _space("c-added", "smem-bytes", "c-added", (COUNTED, "    return tiles_of_a_and_b + block_M * block_N * 2\n")),
    _space("sums-counted", "smem-large-c", "c-as-float32", ("block_M * block_N * 2)", "block_M * block_N * 4)")),
    _space("no-stages-no-bytes", "smem-no-stages", "no-stages-no-bytes", (STAGES, " * 2 * num_stages")),
    _space("c-forgotten", "smem-large-c", "c-forgotten", (COUNTED, "    return tiles_of_a_and_b\n")),
    _space("stages-forgotten", "configs-legal", "stages-forgotten", (STAGES, " * 2")),
    _space("bytes-forgotten", "configs-legal", "bytes-forgotten", (STAGES, " * max(num_stages, 1)")),
    _space(
        "limit-of-a-hopper", "configs-legal", "one-list-for-all", (FITS, FITS.replace("smem_limit()", "227 * 1024"))
    ),
    _space("limit-not-asked", "configs-legal", "one-list-for-all", (FITS, "if smem_limit():")),
    _space(
        "too-many-warps", "configs-legal", "no-warp-partition", (TILES, TILES.replace("64, 64, 128", "16, 32, 256"))
    ),
    _space("tile-of-no-instruction", "configs-legal", "no-warp-partition", (TILES, TILES.replace("64, 64", "60, 64"))),
    _space("listed-twice", "configs-count", "listed-twice", (DEPTHS, DEPTHS.replace("(64, 3)", "(64, 4)"))),
    _space("appended-twice", "configs-count", "listed-twice", (RETURN, "    return found + found\n")),
    _space("one-config", "configs-count", "one-config", (RETURN, "    return found[:1]\n")),
    _space("too-few", "configs-count", "too-few", (RETURN, "    return found[:3]\n")),
    _space(
        "too-many", "configs-count", "too-many", (DEPTHS, "DEPTHS = [(k, s) for k in (16, 32, 64) for s in (1, 2, 3)]")
    ),
    _space("one-tile", "configs-vary", "too-alike", (TILES, "TILES = ((64, 64, 128),)")),
    _space(
        "tuples",
        "configs-form",
        "tuples-not-dicts",
        (DICT, " " * 20 + "(block_M, block_N, block_K, num_stages, threads)\n"),
    ),
    _space("none-returned", "configs-form", "not-a-list", (RETURN, "")),
    _space("one-dict-of-lists", "configs-form", "not-a-list", (RETURN, '    return {"block_M": [64, 128]}\n')),
    _space(
        "nothing-fits",
        "configs-form",
        "nothing-to-try",
        (FITS, FITS.replace("<= smem_limit()", "<= smem_limit() // 1024")),
    ),
    _space("key-of-no-parameter", "configs-form", "unknown-key", ('"block_M": block_M', '"block_X": block_M')),
    _space("key-missing", "configs-form", "missing-key", ('                        "threads": threads,\n', "")),
    _space(
        "key-too-many",
        "configs-form",
        "no-parameter",
        ('"threads": threads,', '"threads": threads, "use_swizzle": True,'),
    ),
    _space(
        "sums-as-a-tunable",
        "configs-form",
        "changes-the-result",
        ('"threads": threads,', '"threads": threads, "accum_dtype": "float16",'),
    ),
    _space(
        "sizes-as-tunables", "configs-form", "sizes-in-config", ('"threads": threads,', '"threads": threads, "M": M,')
    ),
    _space(
        "stages-as-text", "configs-form", "not-a-number", ('"num_stages": num_stages', '"num_stages": str(num_stages)')
    ),
    _space(
        "large-tiles-only",
        "configs-small-problem",
        "tiles-too-large",
        (EMPTY, "            pass\n"),
        (SMALL_TILES, "(128, 64, 128), (256, 64, 128)"),
    ),
    _space(
        "called-at-import",
        "tuning-space",
        "called-at-import",
        (AUTOTUNE, AUTOTUNE.replace("configs=configs", "configs=configs(4096, 4096, 4096)")),
    ),
    _space(
        "another-list-each-time",
        "tuning-space",
        "not-the-same-twice",
        (RETURN, "    import random\n\n    return random.sample(found, 4)\n"),
    ),
    _space(
        "another-space",
        "tuning-space",
        "another-space",
        (AUTOTUNE, AUTOTUNE.replace("configs=configs", "configs=lambda M, N, K: configs(M, N, K)[:4]")),
    ),
    _space("not-autotuned", "tuning-space", "not-autotuned", (AUTOTUNE, "")),
    Wrong("jit-over-autotune", ((AUTOTUNE + "# --- end\n" + JIT, JIT + AUTOTUNE + "# --- end\n"),), Kind.BUILD),
    Wrong("sums-in-float16", (('accum_dtype: str = "float"', 'accum_dtype: str = "float16"'),), Kind.REQUIREMENT),
    Wrong("ragged-trip-missing", ((TRIPS, "T.Pipelined(max(1, K // block_K)"),), Kind.CORRECTNESS),
)
