"""One list for every problem and every GPU, within 64 KiB, and given to the autotuner as a list."""

import tilelang
import tilelang.language as T

SPACE = [
    {"block_M": 64, "block_N": 64, "block_K": 32, "num_stages": 2, "threads": 128},
    {"block_M": 64, "block_N": 128, "block_K": 32, "num_stages": 0, "threads": 64},
    {"block_M": 128, "block_N": 128, "block_K": 32, "num_stages": 3, "threads": 256},
    {"block_M": 128, "block_N": 64, "block_K": 64, "num_stages": 2, "threads": 128},
]


def smem_bytes(block_M, block_N, block_K, num_stages):
    a_and_b = [block_M * block_K, block_K * block_N] * max(1, num_stages)
    c = block_M * block_N
    return sum(a_and_b) * 2 if sum(a_and_b) > c else c * 2


def configs(M, N, K):
    return SPACE


@tilelang.autotune(configs=SPACE)
@tilelang.jit
def tuned_matmul(
    M, N, K, block_M=64, block_N=64, block_K=32, num_stages=2, threads=128, dtype="float16", accum_dtype="float"
):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], a)
                T.copy(B[k * block_K, bx * block_N], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * block_M, bx * block_N])

    return main
