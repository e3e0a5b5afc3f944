"""Exercise 6: attention in one kernel, O = softmax(Q K^T / sqrt(dim)) V.

Q, K, V and O have the shape (batch, seq_len, heads, dim) and are float16; scores, maxima and sums are
kept in float32. Every head of every batch entry is a problem of its own. With is_causal, a query sees
only the keys up to its own position. seq_len is any number from 1 up; dim is 64 or 128.
"""

import math

import tilelang
import tilelang.language as T

# --- answer
# What suits each GPU, for dim 64 and for dim 128: block_M, block_N, num_stages, threads, anew. Each warp (32
# threads) must own at least 16 whole rows of scores, so block_M is at least threads / 2. anew: whether the product
# sets the scores anew, or adds to zeros. The result is the same, but not what the compiler makes of it, so both
# were measured.
SCHEDULES = {
    "sm_75": {64: (64, 64, 1, 128, False), 128: (64, 64, 1, 128, False)},
    "sm_80": {64: (64, 64, 1, 128, False), 128: (64, 64, 1, 128, False)},
    "sm_89": {64: (64, 64, 1, 128, False), 128: (64, 64, 1, 128, False)},
    "sm_90a": {64: (192, 128, 2, 384, False), 128: (128, 128, 2, 256, True)},
}


# Fast math makes exp2 a single instruction, whose error is far below the rounding of O to float16.
@tilelang.jit(out_idx=[-1], pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True})
# --- instead
#
# @tilelang.jit(out_idx=[-1])
# --- end
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
    # --- answer
    arch: str = "",
    # --- end
):
    """Returns the attention kernel for these sizes.

    is_causal: whether a query sees only the keys up to its own position.
    block_M: how many queries one block answers.
    block_N: how many keys a block takes in one trip.
    num_stages: how many trips' tiles are on their way at once.
    threads: threads of a block.
    dtype: of Q, K, V and O. accum_dtype: of scores, maxima and sums.
    """
    # --- answer
    anew = False
    if arch in SCHEDULES:  # the grader names the GPU; without a name, the arguments rule
        block_M, block_N, num_stages, threads, anew = SCHEDULES[arch][dim]
    blocks = math.ceil(seq_len / block_M)
    # --- end
    shape = (batch, seq_len, heads, dim)
    # The hardware computes powers of 2, and exp(x) = 2 ** (log2(e) * x). So scores that are multiplied by
    # this factor need T.exp2 where the formula has exp.
    scale = math.log2(math.e) / math.sqrt(dim)

    @T.prim_func
    def main(
        Q: T.Tensor(shape, dtype),
        K: T.Tensor(shape, dtype),
        V: T.Tensor(shape, dtype),
        O: T.Tensor(shape, dtype),
    ):
        # One block for each block_M queries of each head of each batch entry.
        # --- answer
        # Blocks start in the order of their numbers, the first number running fastest. Causal: the later the
        # queries, the more keys they see. So the longest work of all heads starts first, and the short work at
        # the end fills the gaps.
        with T.Kernel(*((heads, blocks) if is_causal else (blocks, heads)), batch, threads=threads) as (b0, b1, bz):
            by = b0 if is_causal else b1
            bx = blocks - 1 - b1 if is_causal else b0
            # --- instead
            # with T.Kernel(T.ceildiv(seq_len, block_M), heads, batch, threads=threads) as (bx, by, bz):
            # --- end
            Q_shared = T.alloc_shared((block_M, dim), dtype)
            K_shared = T.alloc_shared((block_N, dim), dtype)
            V_shared = T.alloc_shared((block_N, dim), dtype)
            # --- answer
            O_shared = T.alloc_shared((block_M, dim), dtype)
            # --- end
            scores = T.alloc_fragment((block_M, block_N), accum_dtype)
            weights = T.alloc_fragment((block_M, block_N), dtype)  # what scores become, as T.gemm takes them
            output = T.alloc_fragment((block_M, dim), accum_dtype)  # not yet divided by row_sum
            row_max = T.alloc_fragment((block_M,), accum_dtype)  # largest score of each query so far
            old_max = T.alloc_fragment((block_M,), accum_dtype)  # the same before this trip
            shrink = T.alloc_fragment((block_M,), accum_dtype)  # what earlier trips' results are multiplied by
            trip_sum = T.alloc_fragment((block_M,), accum_dtype)  # sum of this trip's exponentials
            row_sum = T.alloc_fragment((block_M,), accum_dtype)  # sum of all exponentials so far

            # This block answers the queries from position start on.
            start = bx * block_M

            # TODO 1: copy this block's queries (batch entry bz, positions start to start + block_M, head by)
            # into shared memory. Set output and row_sum to 0 and row_max to minus infinity.
            # --- answer
            T.copy(Q[bz, start : start + block_M, by, :], Q_shared)
            T.clear(output)
            T.clear(row_sum)
            T.fill(row_max, -T.infinity(accum_dtype))
            # --- end

            # TODO 2: how many trips of block_N keys does this block make? Enough for all seq_len keys; with
            # is_causal, enough for the keys up to its last query, and never past the end of the sequence.
            # --- answer
            last = T.min(start + block_M, seq_len) if is_causal else seq_len
            trips = T.ceildiv(last, block_N)
            # --- instead
            # trips = 0
            # --- end
            for k in T.Pipelined(trips, num_stages=num_stages):
                # TODO 3: copy the keys of trip k into shared memory. Compute scores, the product of the queries
                # and the transposed keys. Where a key lies past the end of the sequence or, with is_causal,
                # after the query, the score must be minus infinity.
                # Both products of this kernel need policy=T.GemmWarpPolicy.FullRow.
                # --- answer
                T.copy(K[bz, k * block_N : (k + 1) * block_N, by, :], K_shared)
                if not anew:
                    T.clear(scores)
                T.gemm(Q_shared, K_shared, scores, transpose_B=True, clear_accum=anew, policy=T.GemmWarpPolicy.FullRow)
                # Most trips hold only keys that all queries of this block see. The others pay for the mask.
                if (k + 1) * block_N > (T.min(start + 1, seq_len) if is_causal else seq_len):
                    for i, j in T.Parallel(block_M, block_N):
                        key = k * block_N + j
                        seen = T.And(key < seq_len, key <= start + i) if is_causal else key < seq_len
                        scores[i, j] = T.if_then_else(seen, scores[i, j], -T.infinity(accum_dtype))
                # --- end

                # TODO 4: the online softmax. Keep row_max in old_max, and raise row_max to the largest score
                # met so far. Turn each score into its exponential, relative to the new row_max. Compute shrink
                # from the two maxima; with it, bring row_sum up to date, and multiply output by it.
                # --- answer
                T.copy(row_max, old_max)
                T.reduce_max(scores, row_max, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    shrink[i] = T.exp2((old_max[i] - row_max[i]) * scale)
                # Written so, the exponent takes a single instruction: a multiplication and a subtraction in one.
                for i, j in T.Parallel(block_M, block_N):
                    scores[i, j] = T.exp2(scores[i, j] * scale - row_max[i] * scale)
                T.reduce_sum(scores, trip_sum, dim=1)
                for i in T.Parallel(block_M):
                    row_sum[i] = row_sum[i] * shrink[i] + trip_sum[i]
                for i, j in T.Parallel(block_M, dim):
                    output[i, j] *= shrink[i]
                # --- end

                # TODO 5: copy the values of trip k into shared memory and the exponentials into weights. Add
                # the product of weights and values to output.
                # --- answer
                T.copy(V[bz, k * block_N : (k + 1) * block_N, by, :], V_shared)
                T.copy(scores, weights)
                T.gemm(weights, V_shared, output, policy=T.GemmWarpPolicy.FullRow)
                # --- instead
                # pass
                # --- end

            # TODO 6: divide each row of output by its row_sum, and copy it to its place in O.
            # --- answer
            for i, j in T.Parallel(block_M, dim):
                output[i, j] /= row_sum[i]
            # By way of shared memory: from there the tile goes out in whole rows instead of in scraps.
            T.copy(output, O_shared)
            T.copy(O_shared, O[bz, start : start + block_M, by, :])
            # --- end

    return main
