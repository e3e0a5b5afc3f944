"""The eager style; two loops in a causal kernel: whole blocks of keys first, then those on the diagonal with a mask."""

import math

import tilelang
import tilelang.language as T


def make_flash_attn(
    batch,
    heads,
    seq_len,
    dim,
    is_causal=False,
    block_M=64,
    block_N=64,
    threads=128,
    dtype="float16",
    accum_dtype="float",
):
    factor = math.log2(math.e) / math.sqrt(dim)

    @T.macro
    def trip(k, first, b, h, K, V, q, kv, s, p, o, top, old, worth, part, total, masked):
        T.copy(K[b, k * block_N : (k + 1) * block_N, h, :], kv)
        T.gemm(q, kv, s, transpose_B=True, clear_accum=True, policy=T.GemmWarpPolicy.FullRow)
        if masked:
            for i, j in T.Parallel(block_M, block_N):
                key = k * block_N + j
                seen = (key <= first + i) if is_causal else (key < seq_len)
                s[i, j] = T.if_then_else(seen, s[i, j], -T.infinity(accum_dtype))
        T.copy(top, old)
        T.reduce_max(s, top, dim=1, clear=False)
        for i in T.Parallel(block_M):
            worth[i] = T.exp2((old[i] - top[i]) * factor)
        for i, j in T.Parallel(block_M, block_N):
            s[i, j] = T.exp2((s[i, j] - top[i]) * factor)
        T.reduce_sum(s, part, dim=1)
        for i in T.Parallel(block_M):
            total[i] = total[i] * worth[i] + part[i]
        for i, j in T.Parallel(block_M, dim):
            o[i, j] *= worth[i]
        T.copy(s, p)
        T.copy(V[b, k * block_N : (k + 1) * block_N, h, :], kv)
        T.gemm(p, kv, o, policy=T.GemmWarpPolicy.FullRow)

    @tilelang.jit
    def attention(Q, K, V):
        Q: T.Tensor[[batch, seq_len, heads, dim], dtype]
        K: T.Tensor[[batch, seq_len, heads, dim], dtype]
        V: T.Tensor[[batch, seq_len, heads, dim], dtype]
        O = T.empty((batch, seq_len, heads, dim), dtype)
        with T.Kernel(T.ceildiv(seq_len, block_M), heads, batch, threads=threads) as (bx, h, b):
            q = T.alloc_shared((block_M, dim), dtype)
            kv = T.alloc_shared((block_N, dim), dtype)
            s = T.alloc_fragment((block_M, block_N), accum_dtype)
            p = T.alloc_fragment((block_M, block_N), dtype)
            o = T.alloc_fragment((block_M, dim), accum_dtype)
            top = T.alloc_fragment((block_M,), accum_dtype)
            old = T.alloc_fragment((block_M,), accum_dtype)
            worth = T.alloc_fragment((block_M,), accum_dtype)
            part = T.alloc_fragment((block_M,), accum_dtype)
            total = T.alloc_fragment((block_M,), accum_dtype)
            first = bx * block_M
            T.copy(Q[b, first : first + block_M, h, :], q)
            T.clear(o)
            T.clear(total)
            T.fill(top, -T.infinity(accum_dtype))
            whole = (first // block_N) if is_causal else (seq_len // block_N)
            for k in T.serial(whole):
                trip(k, first, b, h, K, V, q, kv, s, p, o, top, old, worth, part, total, False)
            trips = T.ceildiv(T.min(first + block_M, seq_len) if is_causal else seq_len, block_N)
            for k in T.serial(whole, trips):
                trip(k, first, b, h, K, V, q, kv, s, p, o, top, old, worth, part, total, True)
            for i, j in T.Parallel(block_M, dim):
                o[i, j] /= total[i]
            T.copy(o, O[b, first : first + block_M, h, :])
        return O

    return attention
