"""Exercise 4: a matrix product with its epilogue in one kernel, C = GELU(A @ B + Bias).

A has the shape (M, K), B (K, N), Bias (N,) and C (M, N). All are float16; the sums, the bias added to
them and GELU are computed in float32. M, N and K are any numbers from 1 up.
"""

import math

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_matmul_bias_gelu(
    M: int,
    N: int,
    K: int,
    block_M: int = 128,
    block_N: int = 128,
    block_K: int = 32,
    num_stages: int = 2,
    threads: int = 128,
    dtype: str = "float16",
    accum_dtype: str = "float",
):
    """Returns the kernel for these sizes.

    block_M, block_N: rows and columns of the tile of C that one block computes.
    block_K: how much of K a block takes in one trip.
    num_stages: how many trips' tiles are on their way at once.
    threads: threads of a block.
    dtype: of A, B, Bias and C. accum_dtype: of the sums and of what is done to them.
    """

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        Bias: T.Tensor((N,), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)

            # TODO 1: a tile of C has block_N columns, and each column has one number of Bias. Allocate room
            # for them in shared memory or in a fragment, of type dtype, and copy this block's part of Bias there.

            # The main loop: the product of exercise 2. After it, C_local holds this block's tile of A @ B.
            T.clear(C_local)
            for ko in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, ko * block_K], A_shared)
                T.copy(B[ko * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)

            # TODO 2: add the bias: to each element of C_local the number that belongs to its column. This and TODO 3
            # are done to the float32 sums, before anything is rounded.
            # TODO 3: replace each element x of C_local by GELU(x), in the form with tanh:
            #     0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)))

            # TODO 4: copy the finished tile to this block's place in C.

    return main
