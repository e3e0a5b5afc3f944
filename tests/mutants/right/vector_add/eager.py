"""The eager style: the tensors are the parameters, sizes are named by T.const, the output comes from T.empty."""

import tilelang
import tilelang.language as T


@tilelang.jit
def make_vector_add(A, B, block_N: int = 256, dtype: str = "float32"):
    N = T.const("N")
    A: T.Tensor[[N], dtype]
    B: T.Tensor[[N], dtype]
    C = T.empty((N,), dtype)
    with T.Kernel(T.ceildiv(N, block_N), threads=256) as bx:
        for i in T.Parallel(block_N):
            C[bx * block_N + i] = A[bx * block_N + i] + B[bx * block_N + i]
    return C
