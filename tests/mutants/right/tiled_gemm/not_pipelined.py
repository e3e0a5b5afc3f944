"""A serial loop along K, TileLang under another name, sums that start with the first product."""

import tilelang
import tilelang.language as tl


@tilelang.jit(out_idx=-1)
def make_matmul(
    M,
    N,
    K,
    block_M=64,
    block_N=64,
    block_K=32,
    num_stages=0,
    threads=128,
    use_swizzle=False,
    dtype=tl.float16,
    accum_dtype=tl.float32,
):
    @tl.prim_func
    def product(A: tl.Tensor((M, K), dtype), B: tl.Tensor((K, N), dtype), C: tl.Tensor((M, N), dtype)):
        with tl.Kernel(tl.ceildiv(N, block_N), tl.ceildiv(M, block_M), threads=threads) as (column, row):
            a = tl.alloc_shared((block_M, block_K), dtype)
            b = tl.alloc_shared((block_K, block_N), dtype)
            c = tl.alloc_fragment((block_M, block_N), accum_dtype)
            for k in tl.serial(tl.ceildiv(K, block_K)):
                tl.copy(A[row * block_M, k * block_K], a)
                tl.copy(B[k * block_K, column * block_N], b)
                tl.gemm(a, b, c, clear_accum=k == 0)
            for i, j in tl.Parallel(block_M, block_N):
                if row * block_M + i < M and column * block_N + j < N:
                    C[row * block_M + i, column * block_N + j] = c[i, j]

    return product
