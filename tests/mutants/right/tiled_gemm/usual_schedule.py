"""Square tiles, three stages, 128 threads: the schedule of many a first example. The order of blocks is chosen before
anything is allocated, and only if asked for."""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2])
def make_matmul(M, N, K, side=128, depth=32, stages=3, threads=128, swizzled=False, dtype="float16"):
    trips = T.ceildiv(K, depth)

    @T.prim_func
    def product(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, side), T.ceildiv(M, side), threads=threads) as (column, row):
            if swizzled:
                T.use_swizzle(10)
            left = T.alloc_shared((side, depth), dtype)
            right = T.alloc_shared((depth, side), dtype)
            sums = T.alloc_fragment((side, side), "float32")
            T.fill(sums, 0)
            for trip in T.Pipelined(trips, num_stages=stages):
                T.copy(A[row * side, trip * depth], left)
                T.copy(B[trip * depth, column * side], right)
                T.gemm(left, right, sums)
            T.copy(sums, C[row * side, column * side])

    return product
