"""A plain factory; one fragment for each step, and the result handed to shared memory element by element."""

import math

import tilelang.language as T


def make_matmul_bias_gelu(M, N, K, dtype="float16"):
    tile = (64, 64)

    @T.prim_func
    def fused(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), Bias: T.Tensor((N,), dtype), C: T.Tensor((M, N), dtype)
    ):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), dtype)
            b = T.alloc_shared((32, 64), dtype)
            sums = T.alloc_fragment(tile, "float32")
            cubed = T.alloc_fragment(tile, "float32")
            out = T.alloc_shared(tile, dtype)
            T.clear(sums)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=3):
                T.copy(A[by * 64 : (by + 1) * 64, k * 32 : (k + 1) * 32], a)
                T.copy(B[k * 32 : (k + 1) * 32, bx * 64 : (bx + 1) * 64], b)
                T.gemm(a, b, sums, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(*tile):
                sums[i, j] = sums[i, j] + T.cast(Bias[bx * 64 + j], "float32")
            for i, j in T.Parallel(*tile):
                cubed[i, j] = sums[i, j] * sums[i, j] * sums[i, j]
            for i, j in T.Parallel(*tile):
                cubed[i, j] = T.tanh(math.sqrt(2 / math.pi) * (sums[i, j] + 0.044715 * cubed[i, j]))
            for i, j in T.Parallel(*tile):
                out[i, j] = T.cast(0.5 * sums[i, j] * (1.0 + cubed[i, j]), dtype)
            T.copy(out, C[by * 64, bx * 64])

    return fused
