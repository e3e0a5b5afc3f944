"""All combinations that fit, in a tuple, with a tunable of its own; asks for the GPU when it is loaded."""

import itertools

import tilelang
import tilelang.language as T
import torch

MAJOR, MINOR = torch.cuda.get_device_capability(0)
LIMIT = {75: 64, 80: 160, 90: 227}.get(10 * MAJOR + MINOR, 96) << 10


def smem_bytes(block_M, block_N, block_K, num_stages):
    total = 0
    for _ in range(num_stages) if num_stages else [None]:
        total += block_M * block_K * 2
        total += block_N * block_K * 2
    return float(max(total, 2 * block_M * block_N))


def fits(config):
    return smem_bytes(*(config[name] for name in ("block_M", "block_N", "block_K", "num_stages"))) <= LIMIT


def configs(M, N, K):
    names = ("block_M", "block_N", "block_K", "num_stages", "threads", "panel")
    values = itertools.product((64, 128), (64, 256), (32, 64), (2, 3), (128,), (0, 8))
    return tuple(filter(fits, (dict(zip(names, each, strict=True)) for each in values)))[:24]


@tilelang.autotune(configs=configs, warmup=2, rep=10, timeout=30)
@tilelang.jit(out_idx=-1)
def tuned_matmul(
    M: int,
    N: int,
    K: int,
    block_M=64,
    block_N=64,
    block_K=32,
    num_stages=2,
    threads=128,
    panel=0,
    dtype="float16",
    accum_dtype="float32",
):
    @T.prim_func
    def product(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), T.ceildiv(N, block_N), threads=threads) as (row, column):
            T.use_swizzle(panel, enable=panel > 0)
            a = T.alloc_shared((block_M, block_K), dtype)
            b = T.alloc_shared((block_K, block_N), dtype)
            c = T.alloc_fragment((block_M, block_N), accum_dtype)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[row * block_M, k * block_K], a)
                T.copy(B[k * block_K, column * block_N], b)
                T.gemm(a, b, c, policy=T.GemmWarpPolicy.FullRow)
            T.copy(c, C[row * block_M, column * block_N])

    return product
