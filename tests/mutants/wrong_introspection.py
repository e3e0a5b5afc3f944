"""Wrong looks into kernels: prints that are not one line, and functions that misread, miscount or misjudge."""

from tests.mutants.mutant import Wrong
from tlpuzzles.verdict.model import Kind

LOOP = """\
            for i in T.Parallel(BLOCK):
                A_local[i] = A_local[i] * 2.0
"""
DOUBLE = "A_local[i] = A_local[i] * 2.0"
GUARD = "if tx == 0 and bx == 0:"
PRINT = 'T.print(A_local[0], msg="first element, doubled")'
BANDWIDTH = "return bytes / 1e9 / (milliseconds / 1e3)"
LIMIT = 'return "compute" if flops / peak_flops > bytes / peak_bandwidth else "memory"'
BENCH = "return kernel.get_profiler().do_bench()"
DYNAMIC = 'if "extern __shared__" in device:'
STATIC = "total += ELEMENT_BYTES[element] * int(count)"
BARRIERS = r'r"\b__syncthreads\b|\b__sync_thread_partial\b|\.wait\("'
BOUNDS = r"""int(re.search(r"__launch_bounds__\((\d+)", source).group(1))"""


def _output(id_: str, edits: tuple[tuple[str, str], ...], mistake: str) -> Wrong:
    return Wrong(id_, edits, Kind.OUTPUT, "prints-once", mistake, passes=("several-blocks",))


def _function(id_: str, old: str, new: str, check: str, mistake: str | None, passes: tuple[str, ...] = ()) -> Wrong:
    return Wrong(id_, ((old, new),), Kind.FUNCTION, check, mistake, passes)


WRONG = (
    _output("every-thread-prints", ((GUARD, "if bx == 0:"),), "unguarded-print"),
    _output("every-thread-of-every-block-prints", ((GUARD, "if N > 0:"),), "unguarded-print"),
    _output("every-block-prints", ((GUARD, "if tx == 0:"),), "printed-in-each-block"),
    _output(
        "whole-fragment-printed",
        ((GUARD, "if bx == 0:"), (PRINT, 'T.print(A_local, msg="all")')),
        "prints-every-element",
    ),
    _output(
        "printed-before-doubling",
        ((LOOP, ""), ("T.copy(A_local, B", f"{LOOP.strip()}\n\n            T.copy(A_local, B")),
        "printed-before-doubling",
    ),
    _output("prints-the-input", ((PRINT, PRINT.replace("A_local[0]", "A[0]")),), "printed-before-doubling"),
    _output("prints-the-second-element", ((PRINT, PRINT.replace("[0]", "[1]")),), "prints-another-element"),
    _output("prints-no-number", ((PRINT, 'T.print(msg="first element, doubled")'),), "message-alone"),
    _output("prints-no-message", ((PRINT, "T.print(A_local[0])"),), "no-message"),
    _output("prints-while-tracing", ((PRINT, "print(A_local[0])"),), "prints-nothing"),
    _output("no-thread-prints", ((GUARD, "if tx == 32 and bx == 0:"),), "prints-nothing"),
    Wrong("squared", ((DOUBLE, "A_local[i] = A_local[i] * A_local[i]"),), Kind.CORRECTNESS, "one-block", "squared"),
    Wrong(
        "every-block-reads-the-first",
        (("T.copy(A[bx * BLOCK], A_local)", "T.copy(A[0], A_local)"),),
        Kind.CORRECTNESS,
        "several-blocks",
        "first-block-everywhere",
        passes=("one-block",),
    ),
    Wrong(
        "one-block-launched",
        (("T.Kernel(N // BLOCK, threads=32)", "T.Kernel(1, threads=32)"),),
        Kind.CORRECTNESS,
        "several-blocks",
        passes=("one-block",),
    ),
    _function("wgmma-counted-as-mma", r'r"\btl::mma_sync\b"', '"mma"', "landmarks-products", "wgmma-as-mma"),
    _function("wgmma-anywhere", r'r"\btl::wgmma_(ss|rs)\b"', '"wgmma"', "landmarks-products", "wgmma-descriptors"),
    _function("wgmma-of-registers-missing", "wgmma_(ss|rs)", "wgmma_(ss)", "landmarks-products", "wgmma-shared-only"),
    _function(
        "waits-counted-as-copies", r'r"\btl::cp_async_gs"', '"tl::cp_async"', "landmarks-copies", "waits-as-copies"
    ),
    _function(
        "ptx-name-looked-for", r'r"\btl::cp_async_gs"', r'r"cp\.async"', "landmarks-copies", "cp-async-as-in-ptx"
    ),
    _function("tma-waits-counted", r'r"\btl::tma_(load|store)\b"', '"tma"', "landmarks-copies", "tma-waits-as-copies"),
    _function("mbarriers-missing", BARRIERS, '"__syncthreads"', "landmarks-threads", "syncthreads-only"),
    _function(
        "launch-bounds-counted",
        BOUNDS,
        'source.count("__launch_bounds__")',
        "landmarks-threads",
        "launch-bounds-counted",
    ),
    _function("launch-bounds-as-text", BOUNDS, BOUNDS[4:-1], "landmarks-threads", "text-for-number"),
    _function("dynamic-memory-always", DYNAMIC, "if True:", "shared-none", "thread-extent", ("shared-dynamic",)),
    _function(
        "any-shared-is-dynamic",
        DYNAMIC,
        'if "__shared__" in device:',
        "shared-static",
        "thread-extent",
        ("shared-none",),
    ),
    _function("static-memory-alone", DYNAMIC, "if False:", "shared-dynamic", "static-only", ("shared-none",)),
    _function("dynamic-memory-alone", STATIC, "total += 0", "shared-static", "dynamic-only", ("shared-dynamic",)),
    _function(
        "milliseconds-as-seconds",
        BANDWIDTH,
        "return bytes / 1e9 / milliseconds",
        "bandwidth",
        "milliseconds-as-seconds",
    ),
    _function("gib", BANDWIDTH, "return bytes / 2**30 / (milliseconds / 1e3)", "bandwidth", "gib-for-gb"),
    _function("words-swapped", LIMIT, LIMIT.replace(">", "<"), "bottleneck", "swapped"),
    _function("peaks-ignored", LIMIT, 'return "compute" if flops > bytes else "memory"', "bottleneck", "peaks-ignored"),
    _function("tie-to-compute", LIMIT, LIMIT.replace(">", ">="), "bottleneck-ties", "tie-to-compute", ("bottleneck",)),
    _function("seconds", BENCH, f"{BENCH} / 1e3", "profile", "seconds"),
    _function("never-measured", BENCH, "return 1.0", "profile", "never-measured"),
    _function("nothing-returned", BENCH, "kernel.get_profiler().do_bench()", "profile", "nothing-returned"),
)
