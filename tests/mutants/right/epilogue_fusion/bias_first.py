"""Sums that start at the bias, read straight from memory; GELU with exp; a serial loop along K."""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_matmul_bias_gelu(M, N, K, block_M=64, block_N=64, block_K=32, threads=128, dtype="float16"):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), Bias: T.Tensor((N,), dtype), C: T.Tensor((M, N), dtype)
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), "float32")
            for i, j in T.Parallel(block_M, block_N):
                c[i, j] = Bias[bx * block_N + j]
            for k in T.serial(T.ceildiv(K, block_K)):
                T.copy(A[by * block_M, k * block_K], a)
                T.copy(B[k * block_K, bx * block_N], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(block_M, block_N):
                c[i, j] = c[i, j] / (1 + T.exp(-1.5957691216 * (c[i, j] + 0.044715 * c[i, j] * c[i, j] * c[i, j])))
            T.copy(c, C[by * block_M, bx * block_N])

    return main
