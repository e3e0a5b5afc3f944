"""Rows in trips of 256 columns with a running maximum, then once more to write: any length without a long tile."""

import tilelang
import tilelang.language as T

WIDTH = 256


@tilelang.jit(out_idx=[-1])
def make_softmax(M, N, block_M=8, threads=128, dtype="float16", accum_dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            x = T.alloc_fragment((block_M, WIDTH), accum_dtype)
            most = T.alloc_fragment((block_M,), accum_dtype)
            before = T.alloc_fragment((block_M,), accum_dtype)
            part = T.alloc_fragment((block_M,), accum_dtype)
            total = T.alloc_fragment((block_M,), accum_dtype)
            T.fill(most, -1e30)
            T.clear(total)
            for trip in T.serial(T.ceildiv(N, WIDTH)):
                for i, j in T.Parallel(block_M, WIDTH):
                    x[i, j] = T.if_then_else(
                        trip * WIDTH + j < N, X[bx * block_M + i, trip * WIDTH + j], -T.infinity(accum_dtype)
                    )
                T.copy(most, before)
                T.reduce_max(x, most, dim=1, clear=False)
                for i, j in T.Parallel(block_M, WIDTH):
                    x[i, j] = T.exp(x[i, j] - most[i])
                T.reduce_sum(x, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * T.exp(before[i] - most[i]) + part[i]
            for trip in T.serial(T.ceildiv(N, WIDTH)):
                T.copy(X[bx * block_M, trip * WIDTH], x)
                for i, j in T.Parallel(block_M, WIDTH):
                    x[i, j] = T.exp(x[i, j] - most[i]) / total[i]
                T.copy(x, Y[bx * block_M, trip * WIDTH])

    return main
