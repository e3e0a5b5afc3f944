"""Exercise 7: have TileLang find the schedule of a matrix product, C = A @ B.

A has the shape (M, K), B (K, N) and C (M, N). All are float16; the sums are kept in float32.
The product is that of exercise 2 and is given. You list the schedules that are worth a try, and hand
them to the autotuner.
"""

import tilelang
import tilelang.language as T
import torch

# KiB of shared memory that a block can have, by compute capability: T4, A100, L4, H100.
SHARED_KIB = {(7, 5): 64, (8, 0): 163, (8, 9): 99, (9, 0): 227}


def smem_limit() -> int:
    """Bytes of shared memory that a block can have on the GPU at hand; on an unknown one, or none, 64 KiB."""
    if not torch.cuda.is_available():
        return 64 * 1024
    return SHARED_KIB.get(torch.cuda.get_device_capability(), 64) * 1024


def smem_bytes(block_M: int, block_N: int, block_K: int, num_stages: int) -> int:
    """Bytes of shared memory that a block asks for."""
    # TODO 1: add up the bytes of a tile of A and a tile of B (float16: 2 bytes an element) for all stages. The
    # tile of C goes out by the same memory when those are done with: it counts only where it is larger.
    return 0


def configs(M: int, N: int, K: int) -> list:
    """Returns the schedules to try for an (M, K) matrix times a (K, N) matrix.

    A list of 4 to 24 dicts, none twice. Each has a value for block_M, block_N, block_K, num_stages and threads;
    three or more of these differ within the list.
    """
    # TODO 2: list the schedules. Leave out what the GPU at hand cannot run: those that ask for more shared memory
    # than smem_limit(), and those with too many warps for their tile. For a small C, also offer a tile that is
    # not mostly empty: block_M less than 2 * M and block_N less than 2 * N.
    return []


# TODO 3: have TileLang time what configs lists and keep the fastest: one more decorator, in the right place.
@tilelang.jit(out_idx=[-1])
def tuned_matmul(
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
    """Returns the kernel that multiplies an (M, K) matrix by a (K, N) matrix.

    block_M, block_N: rows and columns of the tile of C that one block computes.
    block_K: how much of K a block takes in one trip.
    num_stages: how many trips' tiles are on their way at once.
    threads: threads of a block.
    dtype: of A, B and C. accum_dtype: of the sums.
    """

    @T.prim_func
    def main(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            T.use_swizzle(panel_size=10)
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared((block_K, block_N), dtype)
            C_shared = T.alloc_shared((block_M, block_N), dtype)
            C_local = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(C_local)
            for ko in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, ko * block_K], A_shared)
                T.copy(B[ko * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, C_local)
            # By way of shared memory: from there the tile goes out in whole rows instead of in scraps.
            T.copy(C_local, C_shared)
            T.copy(C_shared, C[by * block_M, bx * block_N])

    return main


if __name__ == "__main__":
    # `python autotuning.py` shows your list and, on a machine with a GPU, tunes. The grader does not run this.
    sizes = {"M": 4096, "N": 4096, "K": 4096}
    for config in configs(**sizes):
        print(config)
    if not torch.cuda.is_available():
        raise SystemExit("There is no GPU here to tune on. `tlpuzzles grade 7` grades the list all the same.")
    # All at once, and kept on disk; the autotuner alone would compile them one after the other.
    space = [{**sizes, **config} for config in configs(**sizes)]
    tuned_matmul.jit_impl.par_compile(space, ignore_error=True)
    kernel = tuned_matmul(**sizes)
    print(f"{kernel.config}: {kernel.latency:.3f} ms")
