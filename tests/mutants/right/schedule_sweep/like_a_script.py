"""Tuples in a plain list, as scripts have them; the swizzle behind an `if`; min() finds the best."""

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
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            if use_swizzle:
                T.use_swizzle(panel_size=10, enable=True)
            T.clear(C_local)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            T.copy(C_local, C[by * block_M, bx * block_N])

    return main


def smem_bytes(block_M, block_N, block_K, num_stages, itemsize=2):
    return block_K * (block_M + block_N) * itemsize * (num_stages or 1)


def candidates(M, N, K, smem_limit):
    names = ("block_M", "block_N", "block_K", "num_stages", "threads", "use_swizzle")
    proposed = [
        (64, 64, 32, 2, 128, False),
        (64, 64, 32, 3, 128, True),
        (64, 128, 32, 2, 128, False),
        (128, 64, 32, 2, 128, True),
        (128, 128, 32, 2, 128, False),
        (128, 128, 32, 2, 128, True),
        (128, 128, 32, 3, 128, False),
        (128, 128, 32, 0, 128, False),
        (128, 128, 64, 2, 256, False),
        (128, 256, 32, 2, 256, False),
        (128, 256, 64, 3, 256, True),
        (128, 256, 64, 4, 256, True),
    ]
    fitting = [values for values in proposed if smem_bytes(*values[:4]) <= smem_limit]
    return [dict(zip(names, values)) for values in fitting]  # noqa: B905 - Python 3.9 has no strict


def sweep(schedules, measure):
    results = []
    for number, schedule in enumerate(schedules):
        try:
            ms = measure(schedule)
        except (RuntimeError, ValueError, TypeError) as error:
            print("failed:", type(error).__name__)
            continue
        if ms == ms:
            results.append((ms, number))
    if not results:
        return None, []
    best = min(results)
    return schedules[best[1]], [(ms, schedules[number]) for ms, number in sorted(results)]
