"""As a notebook has it: a GPU asked for at module level, a helper, no declared output, blocks in reverse order."""

import tilelang
import tilelang.language as T
import torch

assert torch.cuda.is_available(), "This notebook needs a GPU."
THREADS = 256 if torch.cuda.get_device_capability()[0] >= 8 else 128


def blocks(length, width):
    return -(-length // width)


@T.macro
def add_block(A, B, C, start, width):
    for i in T.Parallel(width):
        C[start + i] = A[start + i] + B[start + i]


@tilelang.jit
def make_vector_add(N: int, block_N: int = 1024, dtype: str = "float32"):
    count = blocks(N, block_N)

    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(count, threads=THREADS) as bx:
            add_block(A, B, C, (count - 1 - bx) * block_N, block_N)

    return main
