"""The eager style; GELU in its form with erf, which float16 cannot tell from the one with tanh."""

import tilelang
import tilelang.language as T


def make_matmul_bias_gelu(M, N, K, block_M=128, block_N=64, block_K=64, num_stages=2, dtype="float16"):
    @tilelang.jit
    def fused(A, B, Bias):
        A: T.Tensor[[M, K], dtype]
        B: T.Tensor[[K, N], dtype]
        Bias: T.Tensor[[N], dtype]
        C = T.empty((M, N), dtype)
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=128) as (bx, by):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            bias = T.alloc_fragment((block_N,), dtype)
            c = T.alloc_fragment((block_M, block_N), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], a)
                T.copy(B[k * block_K, bx * block_N], b)
                T.gemm(a, b, c)
            T.copy(Bias[bx * block_N], bias)
            for i, j in T.Parallel(block_M, block_N):
                c[i, j] += bias[j]
                c[i, j] = 0.5 * c[i, j] * (1 + T.erf(c[i, j] * 0.7071067811865476))
            T.copy(c, C[by * block_M, bx * block_N])
        return C

    return fused
