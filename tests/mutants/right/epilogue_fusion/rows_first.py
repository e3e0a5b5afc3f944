"""The grid's axes the other way round, GELU as a macro with powers of 2, guarded stores, a schedule by GPU."""

import math

import tilelang
import tilelang.language as T

STAGES = {"sm_75": 2, "sm_90a": 4}
POWER = -2 * math.sqrt(2 / math.pi) * math.log2(math.e)


@T.macro
def gelu(x):
    return x / (1 + T.exp2(POWER * x * (1 + 0.044715 * x * x)))


@tilelang.jit(out_idx=3, pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True})
def make_matmul_bias_gelu(
    M, N, K, block_M=64, block_N=128, block_K=64, threads=128, dtype="float16", accum_dtype="float32", arch="sm_80"
):
    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), Bias: T.Tensor((N,), dtype), C: T.Tensor((M, N), dtype)
    ):
        with T.Kernel(T.ceildiv(M, block_M), T.ceildiv(N, block_N), threads=threads) as (row, column):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.fill(c, 0)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=STAGES.get(arch, 3)):
                T.copy(A[row * block_M, k * block_K], a)
                T.copy(B[k * block_K, column * block_N], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(block_M, block_N):
                if row * block_M + i < M and column * block_N + j < N:
                    C[row * block_M + i, column * block_N + j] = gelu(c[i, j] + Bias[column * block_N + j])

    return main
