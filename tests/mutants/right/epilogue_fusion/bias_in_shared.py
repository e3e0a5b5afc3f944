"""The bias waits in shared memory; GELU in place, as x times a logistic function of a polynomial."""

import math

import tilelang
import tilelang.language as T

STEEPNESS = 2 * math.sqrt(2 / math.pi)


@tilelang.jit(out_idx=[-1])
def make_matmul_bias_gelu(M, N, K, side=128, depth=32, stages=2, threads=128, dtype="float16"):
    @T.prim_func
    def fused(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), Bias: T.Tensor((N,), dtype), C: T.Tensor((M, N), dtype)
    ):
        with T.Kernel(T.ceildiv(N, side), T.ceildiv(M, side), threads=threads) as (column, row):
            left = T.alloc_shared((side, depth), dtype)
            right = T.alloc_shared((depth, side), dtype)
            offsets = T.alloc_shared((side,), dtype)
            x = T.alloc_fragment((side, side), "float32")
            T.copy(Bias[column * side], offsets)
            T.clear(x)
            for trip in T.Pipelined(T.ceildiv(K, depth), num_stages=stages):
                T.copy(A[row * side, trip * depth], left)
                T.copy(B[trip * depth, column * side], right)
                T.gemm(left, right, x)
            for i, j in T.Parallel(side, side):
                x[i, j] += offsets[j]
            for i, j in T.Parallel(side, side):
                x[i, j] = x[i, j] / (1.0 + T.exp(-STEEPNESS * (x[i, j] + 0.044715 * x[i, j] * x[i, j] * x[i, j])))
            T.copy(x, C[row * side, column * side])

    return fused
