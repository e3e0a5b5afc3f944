"""The exponentials meet V by way of shared memory, macros hold the steps, and queries are scaled beforehand."""

import math

import tilelang
import tilelang.language as T


@tilelang.jit(pass_configs={"tl.enable_fast_math": True})
def make_flash_attn(
    batch: int,
    heads: int,
    seq_len: int,
    dim: int,
    is_causal: bool = False,
    block_M: int = 64,
    block_N: int = 64,
    num_stages: int = 1,
    threads: int = 128,
    dtype: str = "float16",
    accum_dtype: str = "float",
):
    shape = (batch, seq_len, heads, dim)
    factor = math.log2(math.e) / math.sqrt(dim)
    rows = T.GemmWarpPolicy.FullRow

    @T.macro
    def score(queries, keys, scores, first_query, first_key):
        for i, j in T.Parallel(block_M, block_N):
            if is_causal:
                limit = T.min(first_query + i + 1, seq_len)
                scores[i, j] = T.Select(first_key + j < limit, T.float32(0), -T.infinity(accum_dtype))
            else:
                scores[i, j] = T.Select(first_key + j < seq_len, T.float32(0), -T.infinity(accum_dtype))
        T.gemm(queries, keys, scores, transpose_B=True, policy=rows)

    @T.macro
    def soften(scores, largest, before, worth, part, total, output):
        T.copy(largest, before)
        T.reduce_max(scores, largest, dim=1, clear=False)
        for i in T.Parallel(block_M):
            worth[i] = T.exp2(factor * before[i] - factor * largest[i])
        for i, j in T.Parallel(block_M, block_N):
            scores[i, j] = T.exp2(factor * scores[i, j] - factor * largest[i])
        T.reduce_sum(scores, part, dim=1)
        for i in T.Parallel(block_M):
            total[i] = total[i] * worth[i] + part[i]
        for i, j in T.Parallel(block_M, dim):
            output[i, j] *= worth[i]

    @T.prim_func
    def main(
        Q: T.Tensor(shape, dtype),
        K: T.Tensor(shape, dtype),
        V: T.Tensor(shape, dtype),
        O: T.Tensor(shape, dtype),
    ):
        with T.Kernel(T.ceildiv(seq_len, block_M), heads * batch, threads=threads) as (bx, by):
            queries = T.alloc_shared((block_M, dim), dtype)
            keys = T.alloc_shared((block_N, dim), dtype)
            values = T.alloc_shared((block_N, dim), dtype)
            weights = T.alloc_shared((block_M, block_N), dtype)
            scores = T.alloc_fragment((block_M, block_N), accum_dtype)
            output = T.alloc_fragment((block_M, dim), accum_dtype)
            largest = T.alloc_fragment((block_M,), accum_dtype)
            before = T.alloc_fragment((block_M,), accum_dtype)
            worth = T.alloc_fragment((block_M,), accum_dtype)
            part = T.alloc_fragment((block_M,), accum_dtype)
            total = T.alloc_fragment((block_M,), accum_dtype)
            b = by // heads
            h = by % heads
            T.copy(Q[b, bx * block_M : (bx + 1) * block_M, h, :], queries)
            T.clear(output)
            T.clear(total)
            T.fill(largest, -T.infinity(accum_dtype))
            for k in T.Pipelined(T.ceildiv(seq_len, block_N), num_stages=num_stages):
                T.copy(K[b, k * block_N : (k + 1) * block_N, h, :], keys)
                score(queries, keys, scores, bx * block_M, k * block_N)
                soften(scores, largest, before, worth, part, total, output)
                T.copy(scores, weights)
                T.copy(V[b, k * block_N : (k + 1) * block_N, h, :], values)
                T.gemm(weights, values, output, policy=rows)
            for i, j in T.Parallel(block_M, dim):
                output[i, j] /= total[i]
            T.copy(output, O[b, bx * block_M : (bx + 1) * block_M, h, :])

    return main
