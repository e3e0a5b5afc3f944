"""The mask is what the product is added to; scores are scaled where they are raised; V comes after the first product.
Trips end at the diagonal, with a pipeline of one stage."""

import math

import tilelang
import tilelang.language as T

NEVER = -1e30


@tilelang.jit(out_idx=[-1])
def make_flash_attn(batch, heads, seq_len, dim, is_causal=False, side=64, stages=1, threads=128, dtype="float16"):
    shape = (batch, seq_len, heads, dim)
    scale = 1.0 / math.sqrt(dim)

    @T.prim_func
    def attention(
        Q: T.Tensor(shape, dtype), K: T.Tensor(shape, dtype), V: T.Tensor(shape, dtype), O: T.Tensor(shape, dtype)
    ):
        with T.Kernel(T.ceildiv(seq_len, side), heads, batch, threads=threads) as (block, h, b):
            queries = T.alloc_shared((side, dim), dtype)
            keys = T.alloc_shared((side, dim), dtype)
            values = T.alloc_shared((side, dim), dtype)
            scores = T.alloc_fragment((side, side), "float32")
            weights = T.alloc_fragment((side, side), dtype)
            out = T.alloc_fragment((side, dim), "float32")
            before = T.alloc_fragment((side,), "float32")
            most = T.alloc_fragment((side,), "float32")
            shrink = T.alloc_fragment((side,), "float32")
            added = T.alloc_fragment((side,), "float32")
            total = T.alloc_fragment((side,), "float32")
            T.copy(Q[b, block * side : (block + 1) * side, h, :], queries)
            T.clear(out)
            T.clear(total)
            T.fill(most, NEVER)
            for trip in T.Pipelined(block + 1 if is_causal else T.ceildiv(seq_len, side), num_stages=stages):
                T.copy(K[b, trip * side : (trip + 1) * side, h, :], keys)
                for i, j in T.Parallel(side, side):
                    if is_causal:
                        scores[i, j] = T.if_then_else(block * side + i >= trip * side + j, 0.0, NEVER)
                    else:
                        scores[i, j] = T.if_then_else(trip * side + j < seq_len, 0.0, NEVER)
                T.gemm(queries, keys, scores, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(V[b, trip * side : (trip + 1) * side, h, :], values)
                T.copy(most, before)
                T.reduce_max(scores, most, dim=1, clear=False)
                for i in T.Parallel(side):
                    shrink[i] = T.exp((before[i] - most[i]) * scale)
                for i, j in T.Parallel(side, side):
                    scores[i, j] = T.exp((scores[i, j] - most[i]) * scale)
                T.reduce_sum(scores, added, dim=1)
                for i in T.Parallel(side):
                    total[i] = total[i] * shrink[i] + added[i]
                for i, j in T.Parallel(side, dim):
                    out[i, j] *= shrink[i]
                T.copy(scores, weights)
                T.gemm(weights, values, out, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(side, dim):
                out[i, j] /= total[i]
            T.copy(out, O[b, block * side : (block + 1) * side, h, :])

    return attention
