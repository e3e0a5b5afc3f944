"""Kernels for the tests of the CUDA device; `tests.tracing` traces them."""

from __future__ import annotations

GEMM = """
@tilelang.jit
def kernel(M=256, N=256, K=256, bm=64, bn=64, bk=32, stages=2, threads=128, dtype="float16", scope="fragment"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=threads) as (bx, by):
            left = T.alloc_shared((bm, bk), dtype)
            right = T.alloc_shared((bk, bn), dtype)
            total = (T.alloc_fragment if scope == "fragment" else T.alloc_shared)((bm, bn), "float32")
            T.clear(total)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A[by * bm, k * bk], left)
                T.copy(B[k * bk, bx * bn], right)
                T.gemm(left, right, total)
            T.copy(total, C[by * bm, bx * bn])
    return main
"""

ATTENTION = """
@tilelang.jit
def kernel(S=128, D=64, causal=False, stages=1, threads=128, policy="FullRow"):
    how = getattr(T.GemmWarpPolicy, policy)
    @T.prim_func
    def main(Q: T.Tensor((S, D), "float16"), K: T.Tensor((S, D), "float16"),
             V: T.Tensor((S, D), "float16"), O: T.Tensor((S, D), "float16")):
        with T.Kernel(T.ceildiv(S, 64), threads=threads) as bx:
            q = T.alloc_shared((64, D), "float16")
            k = T.alloc_shared((64, D), "float16")
            v = T.alloc_shared((64, D), "float16")
            scores = T.alloc_fragment((64, 64), "float32")
            weights = T.alloc_fragment((64, 64), "float16")
            result = T.alloc_fragment((64, D), "float32")
            T.copy(Q[bx * 64, 0], q)
            T.clear(result)
            for step in T.Pipelined(bx + 1 if causal else T.ceildiv(S, 64), num_stages=stages):
                T.copy(K[step * 64, 0], k)
                T.clear(scores)
                T.gemm(q, k, scores, transpose_B=True, policy=how)
                T.copy(V[step * 64, 0], v)
                T.copy(scores, weights)
                T.gemm(weights, v, result, policy=how)
            T.copy(result, O[bx * 64, 0])
    return main
"""
"""Two products in a row, as in attention, without its softmax."""

ROW_MAX = """
@tilelang.jit
def kernel(N=128, threads=128):
    @T.prim_func
    def main(A: T.Tensor((64, N), "float32"), B: T.Tensor((64, N), "float32")):
        with T.Kernel(64, threads=threads) as bx:
            row = T.alloc_fragment((1, N), "float32")
            top = T.alloc_fragment((1,), "float32")
            T.copy(A[bx, 0], row)
            T.reduce_max(row, top, dim=1)
            for i, j in T.Parallel(1, N):
                row[i, j] = row[i, j] - top[i]
            T.copy(row, B[bx, 0])
    return main
"""

ADD = """
@tilelang.jit(out_idx=[-1])
def kernel(N=1000, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, 256), threads=256) as bx:
            for i in T.Parallel(256):
                C[bx * 256 + i] = A[bx * 256 + i] + B[bx * 256 + i]
    return main
"""
