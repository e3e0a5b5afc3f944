"""A plain factory without jit, TileLang under another name, a dtype object, and an added parameter."""

import tilelang.language as tl


def make_vector_add(N, block_N=512, dtype=tl.float32, threads=128):
    @tl.prim_func
    def add(X: tl.Tensor((N,), dtype), Y: tl.Tensor((N,), dtype), Z: tl.Tensor((N,), dtype)):
        with tl.Kernel(tl.ceildiv(N, block_N), threads=threads) as block:
            for i in tl.Parallel(block_N):
                index = block * block_N + i
                if index < N:
                    Z[index] = X[index] + Y[index]

    return add
