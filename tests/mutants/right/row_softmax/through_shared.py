"""By way of shared memory, masked while it is read from there; powers of 2; a large number for minus infinity."""

import math

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_softmax(M, N, block_M=4, threads=128, dtype="float16", accum_dtype="float"):
    width = 1
    while width < N:
        width *= 2
    rows = block_M if width <= 4096 else 1

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, rows), threads=threads) as bx:
            shared = T.alloc_shared((rows, width), dtype)
            x = T.alloc_fragment((rows, width), accum_dtype)
            most = T.alloc_fragment((rows,), accum_dtype)
            total = T.alloc_fragment((rows,), accum_dtype)
            T.copy(X[bx * rows, 0], shared)
            for i, j in T.Parallel(rows, width):
                x[i, j] = T.if_then_else(j < N, T.cast(shared[i, j], accum_dtype) * math.log2(math.e), -1e30)
            T.reduce_max(x, most, dim=-1, clear=True)
            for i, j in T.Parallel(rows, width):
                x[i, j] = T.exp2(x[i, j] - most[i])
            T.fill(total, 0)
            T.reduce_sum(x, total, dim=1, clear=False)
            for i, j in T.Parallel(rows, width):
                shared[i, j] = x[i, j] * (1.0 / total[i])
            T.copy(shared, Y[bx * rows, 0])

    return main
