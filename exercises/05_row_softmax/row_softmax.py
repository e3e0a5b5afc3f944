"""Exercise 5: softmax of each row of a matrix, Y[i, j] = exp(X[i, j]) / (sum of exp(X[i, k]) over all k).

X and Y have the shape (M, N) and are float16; exponentials and sums are kept in float32. M is any number
from 1 up, N any number from 1 to 8192. A row may hold minus infinity, but not everywhere.
"""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_softmax(
    M: int,
    N: int,
    block_M: int = 4,
    threads: int = 128,
    dtype: str = "float16",
    accum_dtype: str = "float",
):
    """Returns the softmax kernel for matrices of M rows and N columns.

    block_M: how many rows one block takes.
    threads: threads of a block.
    dtype: of X and Y. accum_dtype: of everything in between.
    """
    # TODO 1: how many columns must the tile have? The threads of a block can share out a row evenly only if
    # its length is a power of two, and N is any number.
    columns = N

    @T.prim_func
    def main(
        X: T.Tensor((M, N), dtype),
        Y: T.Tensor((M, N), dtype),
    ):
        # One block for each block_M rows.
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            rows = T.alloc_fragment((block_M, columns), accum_dtype)  # this block's rows
            row_max = T.alloc_fragment((block_M,), accum_dtype)  # the largest element of each
            row_sum = T.alloc_fragment((block_M,), accum_dtype)  # the sum of its exponentials

            # TODO 2: copy this block's rows of X into the fragment. Columns past the end of X must hold what
            # changes neither a maximum nor a sum of exponentials.

            # TODO 3: the largest element of each row, into row_max.

            # TODO 4: replace each element by exp of what it exceeds its row's maximum by: never more than exp(0).

            # TODO 5: the sum of each row, into row_sum. Then divide each element by its row's sum.

            # TODO 6: copy the rows to their place in Y.

    return main
