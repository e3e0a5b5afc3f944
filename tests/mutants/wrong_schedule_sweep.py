"""Wrong counts, lists and sweeps, and a wrong product."""

from tests.mutants.mutant import Wrong
from tlpuzzles.verdict.model import Kind

TILES = "tiles = block_M * block_K + block_K * block_N"
BYTES = "return tiles * itemsize * max(num_stages, 1)"
SMALLEST = "(64, 64, 32, 256),"
STAGES = "((4, True), (3, True), (2, True), (2, False))"
FITS = "if smem_bytes(block_M, block_N, block_K, num_stages) <= smem_limit:"
SWIZZLE = '"use_swizzle": use_swizzle,'
SURVIVE = "continue\n        if not math"
NAN = "if not math.isnan(milliseconds):"
ROW = "table.append((milliseconds, schedule))"
SORT = "table.sort(key=lambda row: row[0])"
BEST = "best = table[0][1] if table else None"
RETURN = "return best, table"
READ_B = "B[ko * block_K, bx * block_N]"


def _wrong(id_: str, old: str, new: str, check: str, mistake: str | None = None) -> Wrong:
    return Wrong(id_, ((old, new),), Kind.FUNCTION, check, mistake)


WRONG = (
    _wrong("b-forgotten", TILES, "tiles = block_M * block_K", "smem-bytes", "b-forgotten"),
    _wrong("c-counted", TILES, f"{TILES} + block_M * block_N", "smem-bytes", "c-counted"),
    _wrong("c-alone", TILES, "tiles = block_M * block_N", "smem-bytes", "c-alone"),
    _wrong("itemsize-ignored", BYTES, "return tiles * 2 * max(num_stages, 1)", "smem-bytes", "itemsize-ignored"),
    _wrong("elements", BYTES, "return tiles * max(num_stages, 1)", "smem-bytes", "elements-for-bytes"),
    _wrong("stages-ignored", BYTES, "return tiles * itemsize", "smem-bytes", "stages-ignored"),
    _wrong("kibibytes", BYTES, f"{BYTES} // 1024", "smem-bytes", "whole-kib-for-bytes"),
    _wrong("no-stages-no-bytes", BYTES, "return tiles * itemsize * num_stages", "smem-no-stages", "no-stages-no-bytes"),
    _wrong("limit-ignored", FITS, "if smem_limit:", "candidates-fit", "limit-ignored"),
    _wrong("one-stage-compared", FITS, FITS.replace("num_stages", "1"), "candidates-fit", "limit-ignored"),
    _wrong("limit-doubled", FITS, FITS.replace("smem_limit", "2 * smem_limit"), "candidates-fit"),
    _wrong("warp-groups-forgotten", SMALLEST, "(96, 64, 32, 256),", "candidates-compile", "hopper-forgotten"),
    _wrong("too-many-warps", SMALLEST, "(16, 16, 32, 256),", "candidates-compile"),
    _wrong("threads-that-are-no-warps", SMALLEST, "(64, 64, 32, 100),", "candidates-compile"),
    _wrong("a-schedule-twice", STAGES, STAGES.replace("False", "True"), "candidates-differ", "repeated"),
    _wrong(
        "never-swizzled",
        STAGES,
        "((4, False), (3, False), (2, False), (1, False))",
        "candidates-differ",
        "one-use-swizzle",
    ),
    _wrong("two-for-small-limits", STAGES, "((4, True), (3, False))", "candidates-differ"),
    _wrong("swizzle-as-a-number", SWIZZLE, '"use_swizzle": int(use_swizzle),', "candidates-form", "no-schedule"),
    _wrong("a-key-too-many", SWIZZLE, f'{SWIZZLE} "panel_size": 10,', "candidates-form", "no-schedule"),
    Wrong(
        "small-tiles-only",
        (
            ("    (128, 256, 64, 256),\n    (128, 256, 32, 256),\n    (128, 128, 64, 256),\n", ""),
            ("    (128, 128, 32, 128),\n", "    (64, 128, 32, 128),\n"),
        ),
        Kind.FUNCTION,
        "candidates-large",
        "small-tiles-only",
        passes=("candidates-differ",),
    ),
    _wrong(
        "large-tiles-on-a-hopper-alone",
        FITS,
        FITS.replace("num_stages)", "max(num_stages, block_M * block_N // 2048))"),
        "candidates-large",
        "small-tiles-only",
    ),
    _wrong("takes-the-slowest", BEST, BEST.replace("table[0]", "table[-1]"), "sweep-best", "takes-the-slowest"),
    _wrong("takes-the-last", BEST, "best = schedules[-1] if table else None", "sweep-best", "takes-the-last"),
    _wrong("time-for-schedule", BEST, "best = table[0][0] if table else None", "sweep-best", "time-for-schedule"),
    _wrong("not-sorted", SORT, "best = min(table, key=lambda row: row[0], default=(0, None))", "sweep-table"),
    _wrong("slowest-first", SORT, "table.sort(key=lambda row: -row[0])", "sweep-table", "slowest-first"),
    _wrong("sorted-with-the-dicts", SORT, "table.sort()", "sweep-table"),
    _wrong("rows-turned-round", RETURN, "return best, [(s, t) for t, s in table]", "sweep-table", "rows-turned-round"),
    _wrong("best-alone", RETURN, "return best, table[:1]", "sweep-table", "best-alone"),
    _wrong("stops-at-failure", SURVIVE, SURVIVE.replace("continue", "break"), "sweep-survives", "stops-at-failure"),
    _wrong("nan-wins", NAN, "if True:", "sweep-survives", "nan-wins"),
    _wrong(
        "failure-as-zero", SURVIVE, SURVIVE.replace("continue", "milliseconds = 0.0"), "sweep-survives", "failure-kept"
    ),
    _wrong("does-not-survive", "except Exception:", "except ValueError:", "sweep-survives"),
    _wrong("nothing-runs", BEST, "best = table[0][1]", "sweep-none"),
    Wrong("b-stands-still", ((READ_B, "B[0, bx * block_N]"),), Kind.CORRECTNESS),
)
