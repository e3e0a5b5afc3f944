"""The eager style, in a factory that returns it; the logarithm of the sum joined to the maximum."""

import tilelang
import tilelang.language as T


def make_softmax(M, N, block_M=2, threads=128, dtype="float16", accum_dtype="float"):
    width = tilelang.next_power_of_2(N)

    @tilelang.jit
    def softmax(X):
        X: T.Tensor[[M, N], dtype]
        Y = T.empty((M, N), dtype)
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
            x = T.alloc_fragment((block_M, width), accum_dtype)
            powers = T.alloc_fragment((block_M, width), accum_dtype)
            shift = T.alloc_fragment((block_M,), accum_dtype)
            total = T.alloc_fragment((block_M,), accum_dtype)
            T.fill(x, -T.infinity(accum_dtype))
            for i, j in T.Parallel(block_M, width):
                if j < N:
                    x[i, j] = X[bx * block_M + i, j]
            T.reduce_max(x, shift, dim=1)
            for i, j in T.Parallel(block_M, width):
                powers[i, j] = T.exp(x[i, j] - shift[i])
            T.reduce_sum(powers, total, dim=1)
            for i in T.Parallel(block_M):
                shift[i] += T.log(total[i])
            for i, j in T.Parallel(block_M, width):
                x[i, j] = T.exp(x[i, j] - shift[i])
            T.copy(x, Y[bx * block_M, 0])
        return Y

    return softmax
