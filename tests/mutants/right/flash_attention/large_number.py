"""A large negative number for minus infinity, set after the product; powers of e; scores scaled one by one."""

import math

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[3])
def make_flash_attn(
    batch,
    heads,
    seq_len,
    dim,
    is_causal=False,
    block_M=64,
    block_N=32,
    threads=128,
    dtype="float16",
    accum_dtype="float",
):
    shape = [batch, seq_len, heads, dim]
    factor = 1.0 / math.sqrt(dim)

    @T.prim_func
    def main(
        Q: T.Tensor(shape, dtype), K: T.Tensor(shape, dtype), V: T.Tensor(shape, dtype), O: T.Tensor(shape, dtype)
    ):
        with T.Kernel(heads, batch, T.ceildiv(seq_len, block_M), threads=threads) as (h, b, block):
            q = T.alloc_shared([block_M, dim], dtype)
            k = T.alloc_shared([block_N, dim], dtype)
            v = T.alloc_shared([block_N, dim], dtype)
            s = T.alloc_fragment([block_M, block_N], accum_dtype)
            p = T.alloc_fragment([block_M, block_N], dtype)
            o = T.alloc_fragment([block_M, dim], accum_dtype)
            best = T.alloc_fragment([block_M], accum_dtype)
            here = T.alloc_fragment([block_M], accum_dtype)
            worth = T.alloc_fragment([block_M], accum_dtype)
            added = T.alloc_fragment([block_M], accum_dtype)
            total = T.alloc_fragment([block_M], accum_dtype)
            T.copy(Q[b, block * block_M : (block + 1) * block_M, h, :], q)
            T.fill(o, 0)
            T.fill(total, 0)
            T.fill(best, -1e30)
            for step in T.serial(T.ceildiv(seq_len, block_N)):
                T.copy(K[b, step * block_N : (step + 1) * block_N, h, :], k)
                T.copy(V[b, step * block_N : (step + 1) * block_N, h, :], v)
                T.clear(s)
                T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                for i, j in T.Parallel(block_M, block_N):
                    s[i, j] = T.if_then_else(step * block_N + j < seq_len, s[i, j] * factor, -1e30)
                if is_causal:
                    for i, j in T.Parallel(block_M, block_N):
                        s[i, j] = T.if_then_else(step * block_N + j <= block * block_M + i, s[i, j], -1e30)
                T.reduce_max(s, here, dim=1)
                for i in T.Parallel(block_M):
                    here[i] = T.max(here[i], best[i])
                    worth[i] = T.exp(best[i] - here[i])
                    best[i] = here[i]
                for i, j in T.Parallel(block_M, block_N):
                    s[i, j] = T.exp(s[i, j] - best[i])
                T.reduce_sum(s, added, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * worth[i] + added[i]
                for i, j in T.Parallel(block_M, dim):
                    o[i, j] = o[i, j] * worth[i]
                T.copy(s, p)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, dim):
                o[i, j] = o[i, j] / total[i]
            T.copy(o, O[b, block * block_M : (block + 1) * block_M, h, :])

    return main
