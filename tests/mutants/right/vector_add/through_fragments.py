"""Tiles copied into registers, added there and copied back; the output is declared by position."""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2])
def make_vector_add(N: int, block_N: int = 256, dtype: str = "float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, block_N), threads=128) as bx:
            a = T.alloc_fragment((block_N,), dtype)
            b = T.alloc_fragment((block_N,), dtype)
            T.copy(A[bx * block_N], a)
            T.copy(B[bx * block_N], b)
            for i in T.Parallel(block_N):
                a[i] += b[i]
            T.copy(a, C[bx * block_N])

    return main
