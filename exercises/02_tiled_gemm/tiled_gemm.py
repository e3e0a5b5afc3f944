"""Exercise 2: multiply two matrices on the tensor cores, C = A @ B.

A has the shape (M, K), B (K, N) and C (M, N). All are float16; the sums are kept in float32.
M, N and K are any numbers from 1 up.
"""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_matmul(
    M: int,
    N: int,
    K: int,
    block_M: int = 128,
    block_N: int = 128,
    block_K: int = 32,
    num_stages: int = 3,
    threads: int = 128,
    use_swizzle: bool = False,
    dtype: str = "float16",
    accum_dtype: str = "float",
):
    """Returns the kernel that multiplies an (M, K) matrix by a (K, N) matrix.

    block_M, block_N: rows and columns of the tile of C that one block computes.
    block_K: how much of K a block takes in one trip.
    num_stages: how many trips' tiles are on their way at once.
    threads: threads of a block.
    use_swizzle: whether blocks that run together also lie together in C.
    dtype: of A, B and C. accum_dtype: of the sums.
    """

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        # TODO 1: launch one block for each tile of C: first how many tiles lie side by side (along N), then
        # how many lie one below the other (along M). The ragged tiles at the ends count, too.
        with T.Kernel(1, 1, threads=threads) as (bx, by):
            # Block (bx, by) computes the tile of C whose first row is by * block_M and whose first column is
            # bx * block_N.
            T.use_swizzle(panel_size=10, enable=use_swizzle)

            # TODO 2: allocate this block's memory. In shared memory, of type dtype: a tile of A, block_M x
            # block_K, and a tile of B, block_K x block_N. In a fragment, of type accum_dtype: the sums,
            # block_M x block_N.

            # TODO 3: set the sums to zero. Until then they hold what was left in those registers.

            # TODO 4: go along K in trips of block_K, in a pipelined loop with num_stages stages. In each trip,
            # copy this block's tile of A and its tile of B for that stretch of K into shared memory, and add
            # their product to the sums.

            # TODO 5: copy the sums to this block's place in C.

    return main
