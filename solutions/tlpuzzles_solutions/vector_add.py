"""Exercise 1: add two vectors, C = A + B.

A, B and C have the shape (N,) and one dtype, float32 or float16. N is any number from 1 up.
"""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_vector_add(
    N: int,
    # --- answer
    block_N: int = 1024,
    # --- instead
    # block_N: int = 256,
    # --- end
    dtype: str = "float32",
):
    """Returns the kernel that adds two vectors of length N.

    block_N: how many elements one block adds; yours to choose.
    dtype: of A, B and C, "float32" or "float16".
    """

    @T.prim_func
    def main(
        A: T.Tensor((N,), dtype),
        B: T.Tensor((N,), dtype),
        C: T.Tensor((N,), dtype),
    ):
        # TODO 1: launch enough blocks to cover all N elements, block_N of them in each block, also when
        # N is no multiple of block_N. The line below launches one single block.
        # --- answer
        with T.Kernel(T.ceildiv(N, block_N), threads=256) as bx:
            # --- instead
            # with T.Kernel(1, threads=256) as bx:
            # --- end
            # TODO 2: bx is the number of this block, counted from 0. Go over the block_N elements that
            # belong to it with a parallel loop, and store the sum of A's and B's element into C's.
            # --- answer
            for i in T.Parallel(block_N):
                C[bx * block_N + i] = A[bx * block_N + i] + B[bx * block_N + i]
            # --- instead
            # pass
            # --- end

    return main
