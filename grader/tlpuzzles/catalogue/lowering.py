"""What TileLang 0.1.15 says when it cannot lower a kernel."""

from __future__ import annotations

from tlpuzzles.catalogue.entry import Known, Where
from tlpuzzles.catalogue.explanation import Hint

_PAD = (
    "Make the fragment's row a power of two, e.g. tilelang.next_power_of_2(N) columns, and threads too. Fill what lies "
    "past the row's real end with a value that changes nothing: -T.infinity(dtype) for a maximum, 0 for a sum"
)

LOWERING: tuple[Known, ...] = (
    Known(
        "layout-conflict",
        r"Layout infer conflict between (?P<a>\w+) and (?P<b>\w+) in T\.Parallel loop",
        "On {gpu} the threads that hold an element of {a} are not the ones that need it in {b}",
        "If both take part in a T.gemm, write policy=T.GemmWarpPolicy.FullRow in each of these T.gemm calls: every "
        "warp then "
        "owns whole rows. That needs 16 rows of the tile for each warp of 32 threads, so block_M >= threads / 2. "
        "Otherwise pass the values through a tile in shared memory",
        Where.USES,
    ),
    Known(
        "layout-twice",
        r"Get different layout for (?P<buffer>\w+)",
        "Two operations need {buffer} spread over the threads in different ways",
        "Copy {buffer} into a tile in shared memory with T.copy and let one of the two work on that. Printing an "
        "element of a "
        "T.gemm result is one such operation: print it from the copy",
        Where.USES,
    ),
    Known(
        "layout-not-inferred",
        r"layout for fragment (?P<buffer>\w+) can not be inferred",
        "Nothing says how {buffer} is spread over the threads",
        "Use {buffer} in a tile operation (T.copy, T.gemm, T.fill, a reduction) or in a T.Parallel loop",
        Where.USES,
    ),
    Known(
        "reduce-layout",
        r"Inconsistent layouts between src and dst in ReduceOp",
        "The threads of a block cannot share out the row of a reduction evenly",
        _PAD,
        Where.REDUCE,
        hint=Hint.IDEA,
    ),
    Known(
        "reduce-butterfly",
        r"XOR-butterfly AllReduce requires logical_width .*?got (?P<width>\d+)",
        "A reduction over {width} threads is not possible: their number must be a power of two",
        _PAD,
        Where.REDUCE,
        hint=Hint.IDEA,
    ),
    Known(
        "no-layout",
        r"no available layout found",
        "TileLang finds no way to spread one of the tiles over the threads of a block",
        "The usual cause is a reduction over a row that the threads cannot share out evenly. "
        + _PAD
        + ". Another cause is an element that one thread holds and another needs, as in y[i, j] = x[i, j + 1] on "
        "fragments: keep x in shared memory then",
        Where.REDUCE,
        hint=Hint.IDEA,
    ),
    Known(
        "pipeline-trips",
        r"Downcast from \S*Sub to \S*IntImm failed",
        "The number of trips of a T.Pipelined loop differs from block to block, and with num_stages of 2 or more "
        "TileLang "
        "0.1.15 cannot count the copies under way in such a loop on {gpu}",
        "Use num_stages=1 (or 0) there, or a number of trips that is the same for all blocks. A factory that takes a "
        "parameter named arch can choose by GPU",
        Where.PIPELINE,
    ),
    Known(
        "warp-partition-hopper",
        r"No valid warp partition for T\.gemm \(Warp-Group MMA\): M=(?P<m>\d+), N=(?P<n>\d+) cannot be evenly "
        r"covered by "
        r"(?P<warps>\d+) warps?",
        "A T.gemm of {m} x {n} cannot be shared out evenly among {warps} warps on {gpu}",
        "There each warp takes a multiple of 16 rows and 8 columns, and warps come in fours along the rows. Make "
        "block_M a "
        "multiple of 64 and block_N a multiple of 16, or use fewer threads (32 make a warp)",
        Where.GEMM,
    ),
    Known(
        "warp-partition",
        r"No valid warp partition for T\.gemm: M=(?P<m>\d+), N=(?P<n>\d+) cannot be evenly covered by "
        r"(?P<warps>\d+) warps?",
        "A T.gemm of {m} x {n} cannot be shared out evenly among {warps} warps",
        "Each warp takes a multiple of 16 rows and 8 columns. Make the tile larger, e.g. 64 x 64 with threads=128, "
        "or use "
        "fewer threads (32 make a warp; a power of two of warps)",
        Where.GEMM,
    ),
    Known(
        "tile-not-16",
        r"(?P<side>[MN]) must be divisible by (?P<factor>\d+), but got (?P<size>\d+)",
        "The tensor cores work on pieces of {factor}, and the tile of a T.gemm has {size} along {side}",
        "Make block_M and block_N multiples of 16; sizes that do not divide the matrix are fine, since copies past "
        "its edge "
        "are cut off and filled with 0",
        Where.GEMM,
    ),
    Known(
        "gemm-depth",
        r"block_K \((?P<k>\d+)\) must be a multiple of micro_size_k \((?P<factor>\d+)\)",
        "The tensor cores of {gpu} multiply pieces that are {factor} deep, and the tiles of a T.gemm are {k} deep",
        "Make block_K a multiple of {factor}",
        Where.GEMM,
    ),
    Known(
        "gemm-inner",
        r"Unsupported k_dim (?P<k>\d+)|\(stride == 4 \|\| stride % 8 == 0\) is false: stride=(?P<stride>\d+)",
        "The tensor cores cannot read a T.gemm tile whose inner side (block_K) is that short or odd",
        "Make block_K a multiple of 16",
        Where.GEMM,
    ),
    Known(
        "gemm-narrow-hopper",
        r"Not a canonical GMMA_\w+ layout|WGMMA operand layout contiguity",
        "On {gpu} the tensor cores cannot read an operand of this shape from shared memory",
        "Make block_N a multiple of 16 and block_K too",
        Where.GEMM,
    ),
    Known(
        "gemm-accumulator",
        r"local_buf(?: (?P<buffer>\w+))? must be a fragment",
        "T.gemm adds into a tile that is not a fragment",
        "Allocate the result of T.gemm with T.alloc_fragment; T.copy it to shared or global memory afterwards",
        Where.GEMM,
        hint=Hint.IDEA,
    ),
    Known(
        "gemm-mixed",
        r"Mixed-dtype GEMM only supports .*?got A=(?P<a_type>\w+), B=(?P<b_type>\w+)",
        "The two tiles that a T.gemm multiplies must have one dtype; {left} is {a_type}, {right} is {b_type}",
        "T.copy {wide} into a {narrow_type} tile first, which converts it, and give that to T.gemm",
        Where.MIXED_GEMM,
        hint=Hint.IDEA,
    ),
    Known(
        "barrier-hopper",
        r"T\.alloc_barrier\(\) requires sm_90",
        "Barriers of this kind (T.alloc_barrier) exist from Hopper (H100) on; there are none on {gpu}",
        "Use T.sync_threads() or leave the synchronisation to T.Pipelined. A factory that takes a parameter named "
        "arch can "
        "choose by GPU",
    ),
    Known(
        "tma-hopper",
        r"T\.(?P<op>tma_copy)\(\) requires TMA",
        "T.tma_copy needs the copy engine of Hopper (H100) and newer; there is none on {gpu}",
        "Use T.copy, which takes that engine where there is one",
        Where.CALL,
    ),
    Known(
        "wgmma-hopper",
        r"T\.(?P<op>wgmma_gemm)\(\) requires Hopper",
        "T.wgmma_gemm needs the tensor cores of Hopper (H100), and shapes that they take; it does not run on {gpu}",
        "Use T.gemm, which takes the best instruction that there is",
        Where.CALL,
    ),
    Known(
        "local-in-parallel",
        r"Local buffer `(?P<buffer>\w+)` is indexed by T\.Parallel loop variable `(?P<variable>\w+)`",
        "{buffer} is private to each thread (T.alloc_local), and {variable} of a T.Parallel loop indexes it",
        "Allocate {buffer} with T.alloc_fragment, which T.Parallel shares out among the threads",
        Where.USES,
    ),
    Known(
        "layout-not-injective",
        r"Invalid layout for (?:shared )?buffer `(?P<buffer>\w+)`: the forward map must be injective\. Details: "
        r"\(?\"?(?P<which>[^\"]*)",
        "The layout given for {buffer} puts two elements in one place: {which}",
        "Check the function passed to T.annotate_layout: different indices must give different positions",
        Where.USES,
    ),
    Known(
        "coalesced-width",
        r"coalesced_width should be an IntImmNode",
        "TileLang 0.1.15 does not accept its own option coalesced_width of T.Parallel",
        "Leave coalesced_width out",
    ),
    Known(
        "no-cuda-form",
        r"Unresolved call .*?name=\"(?:tirx|tl)\.(?P<op>[\w.]+)\"",
        "The function {op} has no CUDA form for the dtype it is called with",
        "Convert its argument with T.cast(x, 'float32') first, or write it with other functions",
    ),
    Known(
        "pass-config",
        r"Invalid config option '(?P<option>[^']+)'",
        "TileLang 0.1.15 knows no pass config {option}",
        "Remove it from pass_configs",
    ),
)
