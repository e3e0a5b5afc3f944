"""Exercise 3: find the schedule with which a matrix product is fastest, C = A @ B.

The kernel is given. A schedule is a dict with a value for each of its six tunable parameters:

    {"block_M": 128, "block_N": 128, "block_K": 32, "num_stages": 3, "threads": 128, "use_swizzle": False}
"""

# --- answer
import math

# --- end
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_matmul(
    M: int,
    N: int,
    K: int,
    block_M: int = 128,
    block_N: int = 128,
    block_K: int = 32,
    num_stages: int = 3,
    threads: int = 128,
    use_swizzle: bool = False,
    dtype: str = "float16",
    accum_dtype: str = "float",
):
    """Returns the kernel that multiplies an (M, K) matrix by a (K, N) matrix: exercise 2, ready to be tuned."""

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            T.use_swizzle(panel_size=10, enable=use_swizzle)
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(C_local)
            for ko in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, ko * block_K], A_shared)
                T.copy(B[ko * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def smem_bytes(block_M: int, block_N: int, block_K: int, num_stages: int, itemsize: int = 2) -> int:
    """Returns how many bytes of shared memory one block of make_matmul asks for.

    itemsize: bytes of one element of A and B, 2 for float16.
    num_stages=0 is a loop without a pipeline. It needs one set of tiles, as num_stages=1 does.
    """
    # TODO 1: count the bytes. Which two tiles does the kernel hold in shared memory, of what shapes, and how often?
    # --- answer
    tiles = block_M * block_K + block_K * block_N
    return tiles * itemsize * max(num_stages, 1)
    # --- instead
    # return 0
    # --- end


# --- answer
# block_M, block_N, block_K, threads. Sides of 64 and more, and rows for whole warp groups: each of these suits all four
# GPUs. The first are the fastest on large matrices; the small ones are for small matrices and little shared memory.
TILES = (
    (128, 256, 64, 256),
    (128, 256, 32, 256),
    (128, 128, 64, 256),
    (128, 128, 32, 128),
    (64, 64, 64, 128),
    (64, 64, 32, 256),
)


# --- end
def candidates(M: int, N: int, K: int, smem_limit: int) -> list[dict]:
    """Returns the schedules that are worth trying for this problem: 8 to 32 dicts, none of them twice.

    M, N, K: sizes of the problem, 64 or more.
    smem_limit: bytes of shared memory that a block can have: 64 KiB on a T4 (65536), 99 KiB on an L4, 163 KiB on an
    A100, 227 KiB on an H100. It also tells you which GPU it is.

    Every dict has exactly the six keys of the example above; use_swizzle is a bool, the rest are int. None may ask for
    more shared memory than smem_limit, and none may be one that TileLang refuses to compile for that GPU. Not all may
    have the same tile (block_M, block_N, block_K), nor the same num_stages, threads or use_swizzle. For a problem of
    4096 x 4096 and more, one has a tile of at least 128 x 128, or of as many elements.
    """
    # TODO 2: combine tiles, stages, threads and swizzle, and leave out what does not fit.
    # --- answer
    schedules = []
    for block_M, block_N, block_K, threads in TILES:
        if block_M > max(M, 64) or block_N > max(N, 64):
            continue  # most of such a tile would lie outside C
        for num_stages, use_swizzle in ((4, True), (3, True), (2, True), (2, False)):
            if smem_bytes(block_M, block_N, block_K, num_stages) <= smem_limit:
                schedules.append(
                    {
                        "block_M": block_M,
                        "block_N": block_N,
                        "block_K": block_K,
                        "num_stages": num_stages,
                        "threads": threads,
                        "use_swizzle": use_swizzle,
                    }
                )
    return schedules
    # --- instead
    # return []
    # --- end


def sweep(schedules: list[dict], measure) -> tuple[dict | None, list[tuple[float, dict]]]:
    """Measures every schedule and returns (best, table).

    measure(schedule) compiles and times one schedule and returns milliseconds. Where that fails, it raises some
    exception or returns NaN. Such a schedule is left out, and the sweep goes on.

    table: a list of (milliseconds, schedule), one for each schedule that could be measured, the fastest first. Of
    schedules that take equally long, any may come first.
    best: the fastest schedule, the dict itself. If none could be measured, best is None and table is empty.
    """
    # TODO 3: measure every schedule, and keep what could be measured.
    # --- answer
    table = []
    for schedule in schedules:
        try:
            milliseconds = measure(schedule)
        except Exception:  # noqa: BLE001 - whatever keeps one schedule from running, the others may run
            continue
        if not math.isnan(milliseconds):
            table.append((milliseconds, schedule))
    # --- end

    # TODO 4: bring the table into order, and pick the best.
    # --- answer
    table.sort(key=lambda row: row[0])  # by time alone: two dicts cannot be compared
    best = table[0][1] if table else None
    return best, table
    # --- instead
    # return None, []
    # --- end
