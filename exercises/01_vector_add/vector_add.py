"""Exercise 1: add two vectors, C = A + B.

A, B and C have the shape (N,) and one dtype, float32 or float16. N is any number from 1 up.
"""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_vector_add(
    N: int,
    block_N: int = 256,
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
        with T.Kernel(1, threads=256) as bx:
            # TODO 2: bx is the number of this block, counted from 0. Go over the block_N elements that
            # belong to it with a parallel loop, and store the sum of A's and B's element into C's.
            pass

    return main
