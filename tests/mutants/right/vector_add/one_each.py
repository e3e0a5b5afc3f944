"""A block of as many elements as threads, with nothing said about the end: TileLang guards what lies past it."""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def make_vector_add(N, width=256, dtype="float32"):
    @T.prim_func
    def added(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, width), threads=width) as block:
            for lane in T.Parallel(width):
                C[block * width + lane] = A[block * width + lane] + B[block * width + lane]

    return added
