"""A fixed number of blocks that go over the vectors in strides, as kernels written for one GPU do."""

import tilelang
import tilelang.language as T

BLOCKS = 132


@tilelang.jit(out_idx=[-1])
def make_vector_add(N: int, block_N: int = 512, dtype: str = "float32"):
    @T.prim_func
    def main(X: T.Tensor((N,), dtype), Y: T.Tensor((N,), dtype), Z: T.Tensor((N,), dtype)):
        with T.Kernel(BLOCKS, threads=128) as block:
            for stride in T.serial(T.ceildiv(N, block_N * BLOCKS)):
                for i in T.Parallel(block_N):
                    place = (stride * BLOCKS + block) * block_N + i
                    Z[place] = X[place] + Y[place]

    return main
