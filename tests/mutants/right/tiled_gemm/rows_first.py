"""The grid's axes the other way round, tiles by slices, a macro, and a schedule by GPU."""

import tilelang
import tilelang.language as T

STAGES = {"sm_75": 2, "sm_90a": 4}


@T.macro
def load(source, rows, columns, tile):
    T.copy(source[rows[0] : rows[1], columns[0] : columns[1]], tile)


@tilelang.jit(out_idx=[-1])
def make_matmul(
    M, N, K, block_M=128, block_N=64, block_K=64, threads=128, dtype="float16", accum_dtype="float32", arch="sm_80"
):
    stages = STAGES.get(arch, 3)

    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), T.ceildiv(N, block_N), threads=threads) as (row, column):
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.fill(c, 0)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=stages):
                load(A, (row * block_M, (row + 1) * block_M), (k * block_K, (k + 1) * block_K), a)
                load(B, (k * block_K, (k + 1) * block_K), (column * block_N, (column + 1) * block_N), b)
                T.gemm(a, b, c)
            T.copy(c, C[row * block_M : (row + 1) * block_M, column * block_N : (column + 1) * block_N])

    return main
