"""TileLang told what to read past the end of X; one row a block."""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=1)
def make_softmax(M, N, threads=64, dtype="float16", accum_dtype="float"):
    width = max(2, tilelang.next_power_of_2(N))

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(M, threads=threads) as row:
            T.annotate_safe_value({X: -T.infinity(dtype)})
            x = T.alloc_fragment((1, width), accum_dtype)
            most = T.alloc_fragment((1,), accum_dtype)
            total = T.alloc_fragment((1,), accum_dtype)
            T.copy(X[row, 0], x)
            T.reduce_max(x, most, dim=1)
            for i, j in T.Parallel(1, width):
                x[i, j] = T.exp(x[i, j] - most[i])
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(1, width):
                if j < N:
                    Y[row, j] = x[i, j] / total[i]

    return main
