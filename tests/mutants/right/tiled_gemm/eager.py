"""The eager style, in a factory that returns it."""

import tilelang
import tilelang.language as T


def make_matmul(M, N, K, block_M=128, block_N=128, block_K=32, num_stages=2, dtype="float16", accum_dtype="float"):
    @tilelang.jit
    def product(A, B):
        A: T.Tensor[[M, K], dtype]
        B: T.Tensor[[K, N], dtype]
        C = T.empty((M, N), dtype)
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, by):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], a)
                T.copy(B[k * block_K, bx * block_N], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * block_M, bx * block_N])
        return C

    return product
