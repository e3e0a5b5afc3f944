"""A list for each GPU; measures everything twice; the result by way of shared memory; a class that holds the table."""

from __future__ import annotations

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_matmul(
    M,
    N,
    K,
    block_M=128,
    block_N=128,
    block_K=32,
    num_stages=3,
    threads=128,
    use_swizzle=False,
    dtype="float16",
    accum_dtype="float32",
):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (x, y):
            T.use_swizzle(panel_size=4, enable=use_swizzle)
            left = T.alloc_shared((block_M, block_K), dtype)
            right = T.alloc_shared((block_K, block_N), dtype)
            whole = T.alloc_shared((block_M, block_N), dtype)
            sums = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(sums)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[y * block_M, k * block_K], left)
                T.copy(B[k * block_K, x * block_N], right)
                T.gemm(left, right, sums)
            T.copy(sums, whole)
            T.copy(whole, C[y * block_M, x * block_N])

    return main


def smem_bytes(block_M, block_N, block_K, num_stages, itemsize=2):
    total = 0
    for _stage in range(max(1, num_stages)):
        total += block_M * block_K * itemsize
        total += block_N * block_K * itemsize
    return total


def schedule(block_M, block_N, block_K, num_stages, threads=128, use_swizzle=True):
    return dict(locals())


SMALL = [schedule(64, 64, depth, stages, use_swizzle=swizzle) for depth in (16, 32) for stages in (1, 2) for swizzle in (True, False)]  # fmt: skip  # noqa: E501
FOR_GPU = {
    64: [schedule(128, 128, 32, 2), schedule(128, 128, 32, 2, 256)],
    99: [schedule(128, 128, 32, 3), schedule(128, 128, 64, 3, 256)],
    163: [schedule(128, 128, 32, 4), schedule(128, 256, 32, 4, 256)],
    227: [schedule(128, 256, 64, 4, 256), schedule(256, 128, 64, 3, 256)],
}


def candidates(M, N, K, smem_limit):
    return [*FOR_GPU[smem_limit // 1024], *SMALL]


class Table:
    def __init__(self):
        self.rows = []

    def add(self, time, schedule):
        place = sum(1 for other, _ in self.rows if other <= time)
        self.rows.insert(place, (time, schedule))


def sweep(schedules, measure):
    table = Table()
    for one in schedules:
        try:
            time = min(measure(one), measure(one))
        except Exception:  # noqa: BLE001 - a learner's file
            time = float("nan")
        if time > 0:  # NaN is not
            table.add(time, one)
    return next((one for _, one in table.rows), None), table.rows
