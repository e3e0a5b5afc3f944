"""Kernels that use each construct of TileLang a learner may meet: right ones, one for each construct.

`CONSTRUCTS` maps a name to a source with a factory `kernel(**arguments)`; `tests.tracing` traces them.
"""

from __future__ import annotations

from textwrap import dedent, indent


def tile_kernel(
    body: str,
    params: str = 'A: T.Tensor((64, 32), "float32"), B: T.Tensor((64, 32), "float32")',
    launch: str = "T.Kernel(1, threads=128) as bx",
    before: str = "",
) -> str:
    """A plain factory whose kernel has `body` below its launch, at line 8 of the source without `before`."""
    lines = ["@tilelang.jit", "def kernel():"]
    lines += indent(dedent(before).strip("\n"), "    ").splitlines()
    lines += ["    @T.prim_func", f"    def main({params}):", f"        with {launch}:"]
    lines += indent(dedent(body).strip("\n"), "            ").splitlines()
    return "\n".join([*lines, "    return main", ""])


AB16 = 'A: T.Tensor((64, 32), "float16"), B: T.Tensor((64, 32), "float16")'
ROWS = 'A: T.Tensor((64, 32), "float32"), B: T.Tensor((64,), "float32")'

VECTOR_ADD = """
@tilelang.jit(out_idx=[-1])
def kernel(N, block=128, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype), C: T.Tensor((N,), dtype)):
        with T.Kernel(T.ceildiv(N, block), threads=128) as bx:
            for i in T.Parallel(block):
                C[bx * block + i] = A[bx * block + i] + B[bx * block + i]
    return main
"""

GEMM = """
@tilelang.jit(out_idx=[-1])
def kernel(M, N, K, bm=64, bn=32, bk=32, stages=2, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bn), T.ceildiv(M, bm), threads=128) as (bx, by):
            left = T.alloc_shared((bm, bk), dtype)
            right = T.alloc_shared((bk, bn), dtype)
            total = T.alloc_fragment((bm, bn), "float32")
            T.use_swizzle(panel_size=4)
            T.clear(total)
            for k in T.Pipelined(T.ceildiv(K, bk), num_stages=stages):
                T.copy(A[by * bm, k * bk], left)
                T.copy(B[k * bk, bx * bn], right)
                T.gemm(left, right, total)
            T.copy(total, C[by * bm, bx * bn])
    return main
"""

ATTENTION = """
@tilelang.jit(out_idx=[-1])
def kernel(batch, heads, seq_len, dim, is_causal=False, rows=64, keys=32, dtype="float16"):
    shape = (batch, seq_len, heads, dim)
    scale = 1.4426950408889634 / math.sqrt(dim)
    @T.prim_func
    def main(
        Q: T.Tensor(shape, dtype), K: T.Tensor(shape, dtype), V: T.Tensor(shape, dtype), O: T.Tensor(shape, dtype)
    ):
        with T.Kernel(T.ceildiv(seq_len, rows), heads, batch, threads=128) as (bx, by, bz):
            q = T.alloc_shared((rows, dim), dtype)
            k = T.alloc_shared((keys, dim), dtype)
            v = T.alloc_shared((keys, dim), dtype)
            s = T.alloc_fragment((rows, keys), "float32")
            p = T.alloc_fragment((rows, keys), dtype)
            o = T.alloc_fragment((rows, dim), "float32")
            top = T.alloc_fragment((rows,), "float32")
            last = T.alloc_fragment((rows,), "float32")
            part = T.alloc_fragment((rows,), "float32")
            total = T.alloc_fragment((rows,), "float32")
            T.copy(Q[bz, bx * rows:(bx + 1) * rows, by, :], q)
            T.fill(o, 0)
            T.fill(total, 0)
            T.fill(top, -T.infinity("float32"))
            last_key = T.min(seq_len, (bx + 1) * rows) if is_causal else seq_len
            for t in T.Pipelined(T.ceildiv(last_key, keys), num_stages=1):
                T.copy(K[bz, t * keys:(t + 1) * keys, by, :], k)
                for i, j in T.Parallel(rows, keys):
                    s[i, j] = T.if_then_else(
                        (t * keys + j < seq_len) & (is_causal == False or bx * rows + i >= t * keys + j), 0.0, -1e30)
                T.gemm(q, k, s, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(V[bz, t * keys:(t + 1) * keys, by, :], v)
                T.copy(top, last)
                T.reduce_max(s, top, dim=1, clear=False)
                for i, j in T.Parallel(rows, keys):
                    s[i, j] = T.exp2((s[i, j] - top[i]) * scale)
                T.reduce_sum(s, part, dim=1)
                for i in T.Parallel(rows):
                    last[i] = T.exp2((last[i] - top[i]) * scale)
                    total[i] = total[i] * last[i] + part[i]
                for i, j in T.Parallel(rows, dim):
                    o[i, j] *= last[i]
                T.copy(s, p)
                T.gemm(p, v, o, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(rows, dim):
                o[i, j] /= total[i]
            T.copy(o, O[bz, bx * rows:(bx + 1) * rows, by, :])
    return main
"""

_STAGED = """
x = T.alloc_shared((64, 32), "float32")
y = T.alloc_fragment((64, 32), "float32")
T.copy(A, x)
T.copy(x, y)
"""


def _elementwise(value: str, dtype: str = "float32") -> str:
    return tile_kernel(
        f"""
        x = T.alloc_fragment((64, 32), "{dtype}")
        T.copy(A, x)
        for i, j in T.Parallel(64, 32):
            x[i, j] = {value}
        T.copy(x, B)
        """,
        f'A: T.Tensor((64, 32), "{dtype}"), B: T.Tensor((64, 32), "{dtype}")',
    )


_FUNCTIONS = """
    exp exp2 exp10 log log2 log10 log1p sqrt rsqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh
    erf sigmoid floor ceil trunc round nearbyint abs __exp __exp10 __log __log2 __log10 __sin __cos __tan
    ieee_frcp ieee_fsqrt ieee_frsqrt
"""

CONSTRUCTS: dict[str, str] = {
    **{f"T.{name}": _elementwise(f"T.{name}(x[i, j])") for name in _FUNCTIONS.split()},
    "T.max, T.min": _elementwise("T.max(T.min(x[i, j], 1.0), 0.0)"),
    "T.clamp": _elementwise("T.clamp(x[i, j], 0.0, 1.0)"),
    "T.pow": _elementwise("T.pow(x[i, j], x[i, j])"),
    "T.atan2": _elementwise("T.atan2(x[i, j], 2.0)"),
    "T.copysign": _elementwise("T.copysign(x[i, j], -1.0)"),
    "T.hypot": _elementwise("T.hypot(x[i, j], 3.0)"),
    "T.fmod": _elementwise("T.fmod(x[i, j], 3.0)"),
    "T.ldexp": _elementwise("T.ldexp(x[i, j], 2)"),
    "T.fma": _elementwise("T.fma(x[i, j], 2.0, 1.0)"),
    "T.ieee_fmaf": _elementwise("T.ieee_fmaf(x[i, j], T.float32(2), T.float32(1))"),
    "T.ieee_add": _elementwise("T.ieee_add(x[i, j], T.float32(1))"),
    "T.if_then_else": _elementwise("T.if_then_else(x[i, j] > 0, x[i, j], -x[i, j])"),
    "T.Select": _elementwise("T.Select(x[i, j] > 0, x[i, j], T.float32(0))"),
    "T.isnan": _elementwise("T.if_then_else(T.isnan(x[i, j]), T.float32(0), x[i, j])"),
    "T.isinf": _elementwise("T.if_then_else(T.isinf(x[i, j]), T.float32(0), x[i, j])"),
    "T.isfinite": _elementwise("T.if_then_else(T.isfinite(x[i, j]), x[i, j], T.float32(0))"),
    "T.infinity": _elementwise('T.max(x[i, j], -T.infinity("float32"))'),
    "T.max_value": _elementwise('T.min(x[i, j], T.max_value("float32"))'),
    "T.min_value": _elementwise('T.max(x[i, j], T.min_value("float32"))'),
    "T.cast": _elementwise('T.cast(T.cast(x[i, j], "float16"), "float32")'),
    ".astype": _elementwise('x[i, j].astype("bfloat16").astype("float32")'),
    "T.reinterpret": _elementwise('T.reinterpret("float32", T.reinterpret("int32", x[i, j]) & 0x7FFFFFFF)'),
    "and, or, not": _elementwise("T.if_then_else(T.And(x[i, j] > 0, T.Not(x[i, j] > 1)), x[i, j], T.float32(0))"),
    "integers": _elementwise(
        "(x[i, j] // 3) % 5 + (x[i, j] << 2) - (x[i, j] >> 1) | (x[i, j] & 6) ^ ~x[i, j]", "int32"
    ),
    "T.truncdiv": _elementwise("T.truncdiv(x[i, j], 3) + T.truncmod(x[i, j], 3)", "int32"),
    "T.popcount": _elementwise("T.popcount(x[i, j])", "int32"),
    "T.__ldg": tile_kernel("for i, j in T.Parallel(64, 32):\n    B[i, j] = T.__ldg(A[i, j])"),
    "int8": _elementwise('T.cast(T.cast(x[i, j], "int32") * 2, "int8")', "int8"),
    "bfloat16": _elementwise("x[i, j] * x[i, j]", "bfloat16"),
    "float16": _elementwise("x[i, j] + x[i, j]", "float16"),
    "float64": _elementwise("x[i, j] + x[i, j]", "float64"),
    "bool tile": tile_kernel(
        """
        keep = T.alloc_fragment((64, 32), "bool")
        for i, j in T.Parallel(64, 32):
            keep[i, j] = A[i, j] > 0
        for i, j in T.Parallel(64, 32):
            B[i, j] = T.if_then_else(keep[i, j], A[i, j], T.float32(0))
        """
    ),
    "T.copy, staged": tile_kernel(_STAGED + "T.copy(y, B)"),
    "T.copy, regions": tile_kernel(
        """
        x = T.alloc_shared((32, 32), "float32")
        T.copy(A[0:32, 0:32], x)
        T.copy(x, B[0:32, :])
        T.copy(A[32, 0], x, coalesced_width=2)
        T.copy(x, B[32, 0])
        """
    ),
    "T.copy, scalar": tile_kernel("T.copy(A[0, 0], B[0, 0])"),
    "T.copy, hints": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float32")
        T.copy(A, x, disable_tma=True, eviction_policy="evict_first")
        T.copy(x, B)
        """
    ),
    "T.fill, region": tile_kernel(_STAGED + "T.fill(y[0:32, :], 1.0)\nT.copy(y, B)"),
    "T.transpose": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float32")
        y = T.alloc_shared((32, 64), "float32")
        T.copy(A, x)
        T.transpose(x, y)
        T.copy(y, B)
        """,
        'A: T.Tensor((64, 32), "float32"), B: T.Tensor((32, 64), "float32")',
    ),
    **{
        f"T.reduce_{kind}": tile_kernel(
            f"""
            x = T.alloc_fragment((64, 32), "{dtype}")
            r = T.alloc_fragment((64,), "{dtype}")
            T.copy(A, x)
            T.reduce_{kind}(x, r, dim=1)
            T.copy(r, B)
            """,
            f'A: T.Tensor((64, 32), "{dtype}"), B: T.Tensor((64,), "{dtype}")',
        )
        for kind, dtype in (
            *((kind, "float32") for kind in ("sum", "max", "min", "abssum", "absmax")),
            *((kind, "int32") for kind in ("bitand", "bitor", "bitxor")),
        )
    },
    "T.reduce_max, clear=False": tile_kernel(
        """
        x = T.alloc_fragment((64, 32), "float32")
        r = T.alloc_fragment((64,), "float32")
        T.copy(A, x)
        T.fill(r, -T.infinity("float32"))
        T.reduce_max(x, r, dim=1, clear=False)
        T.copy(r, B)
        """,
        ROWS,
    ),
    "T.reduce_sum, shared": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float32")
        r = T.alloc_shared((64,), "float32")
        T.copy(A, x)
        T.reduce_sum(x, r, dim=1)
        T.copy(r, B)
        """,
        ROWS,
    ),
    "T.cumsum": tile_kernel(_STAGED + "T.cumsum(x, dim=1)\nT.copy(x, B)"),
    "T.cumsum, fragment": tile_kernel(_STAGED + "T.cumsum(y, dim=1, reverse=True)\nT.copy(y, B)"),
    "T.cummax": tile_kernel(_STAGED + "T.cummax(x, dim=0)\nT.copy(x, B)"),
    "T.alloc_reducer": tile_kernel(
        """
        total = T.alloc_reducer((64,), "float32", op="sum")
        r = T.alloc_fragment((64,), "float32")
        T.reducer_init(total)
        for i, j in T.Parallel(64, 32):
            T.reducer_update(total[i], A[i, j])
        T.finalize_reducer(total, r)
        T.copy(r, B)
        """,
        ROWS,
    ),
    "T.alloc_reducer, old": tile_kernel(
        """
        total = T.alloc_reducer((64,), "float32", op="sum", replication="all")
        T.clear(total)
        for i, j in T.Parallel(64, 32):
            total[i] += A[i, j]
        T.finalize_reducer(total)
        T.copy(total, B)
        """,
        ROWS,
    ),
    "T.alloc_var": tile_kernel(
        """
        n = T.alloc_var("int32", init=3)
        n = n + 1
        for i, j in T.Parallel(64, 32):
            B[i, j] = A[i, j] * n
        """
    ),
    "while": tile_kernel(
        """
        n = T.alloc_var("int32", init=0)
        y = T.alloc_fragment((64, 32), "float32")
        T.copy(A, y)
        while n < 3:
            for i, j in T.Parallel(64, 32):
                y[i, j] += 1.0
            n = n + 1
        T.copy(y, B)
        """
    ),
    "break": tile_kernel(
        """
        y = T.alloc_fragment((64, 32), "float32")
        T.copy(A, y)
        for k in T.serial(8):
            if k > 2:
                T.loop_break()
            for i, j in T.Parallel(64, 32):
                y[i, j] += 1.0
        T.copy(y, B)
        """
    ),
    "if": tile_kernel(
        """
        if bx == 0:
            T.copy(A, B)
        else:
            T.fill(B, 0)
        """
    ),
    "T.serial": tile_kernel(
        "for r in T.serial(0, 64, 2):\n    for i, j in T.Parallel(2, 32):\n        B[r + i, j] = A[r + i, j]"
    ),
    "T.unroll": tile_kernel("for r in T.unroll(64):\n    for j in T.Parallel(32):\n        B[r, j] = A[r, j]"),
    "T.unroll, factor": tile_kernel(
        "for r in T.unroll(64, unroll_factor=4):\n    for j in T.Parallel(32):\n        B[r, j] = A[r, j]"
    ),
    "T.vectorized": tile_kernel("for i in T.Parallel(64):\n    for j in T.vectorized(4):\n        B[i, j] = A[i, j]"),
    "T.Parallel, hints": tile_kernel("for i, j in T.Parallel(64, 32, coalesced_width=2):\n    B[i, j] = A[i, j]"),
    "T.Parallel, loop_layout": tile_kernel(
        """
        for i, j in T.Parallel(64, 32, loop_layout=T.Fragment((64, 32), forward_fn=place)):
            B[i, j] = A[i, j]
        """,
        before="place = lambda i, j: (i * 2 + j // 16, j % 16)",
    ),
    "index through a name": tile_kernel(
        """
        for i, j in T.Parallel(32, 32):
            k = i * 2
            B[k, j] = A[k, j]
            B[k + 1, j] = A[k + 1, j]
        """
    ),
    "T.Persistent": tile_kernel(
        """
        for i, j in T.Persistent([4, 2], 4, bx):
            T.copy(A[i * 16, j * 16], B[i * 16 : i * 16 + 16, j * 16 : j * 16 + 16])
        """,
        launch="T.Kernel(4, threads=128) as bx",
    ),
    "T.PersistentTileScheduler": tile_kernel(
        """
        tiles = T.PersistentTileScheduler(4, 2, num_workers=4)
        tiles.init(bx)
        while tiles.valid():
            for i, j in T.Parallel(16, 16):
                B[tiles.m_idx * 16 + i, tiles.n_idx * 16 + j] = A[tiles.m_idx * 16 + i, tiles.n_idx * 16 + j]
            tiles.next_tile()
        """,
        launch="T.Kernel(4, threads=128) as bx",
    ),
    "T.Pipelined, order and stage": tile_kernel(
        """
        x = T.alloc_shared((16, 32), "float32")
        for k in T.Pipelined(4, order=[1, 0], stage=[0, 1]):
            T.copy(A[k * 16, 0], x)
            T.copy(x, B[k * 16, 0])
        """
    ),
    "three grid axes": tile_kernel(
        "for i, j in T.Parallel(16, 16):\n    B[bx * 16 + i, by * 16 + j] = A[bx * 16 + i, by * 16 + j]",
        launch="T.Kernel(4, 2, 1, threads=64) as (bx, by, bz)",
    ),
    "threads not given": tile_kernel("T.copy(A, B)", launch="T.Kernel(1) as bx"),
    "threads in two axes": tile_kernel("T.copy(A, B)", launch="T.Kernel(1, threads=(32, 4)) as bx"),
    "T.use_swizzle, column": tile_kernel(
        "T.use_swizzle(8, order='column')\nT.copy(A, B)", launch="T.Kernel(1, 1) as (bx, by)"
    ),
    "T.annotate_layout": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float32")
        T.annotate_layout({x: T.Layout((64, 32), lambda i, j: i * 32 + (j ^ (i % 8)))})
        T.copy(A, x)
        T.copy(x, B)
        """
    ),
    "T.annotate_layout, swizzled": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float16")
        T.annotate_layout({x: tilelang.layout.make_swizzled_layout(x)})
        T.copy(A, x)
        T.copy(x, B)
        """,
        AB16,
    ),
    "T.annotate_layout, fragment": tile_kernel(
        """
        x = T.alloc_fragment((64, 32), "float32")
        T.annotate_layout({x: T.Fragment((64, 32), forward_fn=lambda i, j: (i * 2 + j // 16, j % 16))})
        T.copy(A, x)
        T.copy(x, B)
        """
    ),
    "T.annotate_safe_value": tile_kernel(
        """
        x = T.alloc_fragment((128, 32), "float32")
        T.annotate_safe_value({A: -T.infinity("float32")})
        T.copy(A[0:128, 0:32], x)
        T.copy(x[0:64, :], B)
        """
    ),
    "T.annotate_l2_hit_ratio": tile_kernel("T.annotate_l2_hit_ratio({A: 0.5})\nT.copy(A, B)"),
    "T.annotate_min_blocks_per_sm": tile_kernel("T.annotate_min_blocks_per_sm(2)\nT.copy(A, B)"),
    "T.annotate_restrict_buffers": tile_kernel("T.annotate_restrict_buffers(A, B)\nT.copy(A, B)"),
    "cluster_dims": tile_kernel("T.copy(A, B)", launch="T.Kernel(2, threads=128, cluster_dims=2) as bx"),
    "T.reshape": tile_kernel(
        _STAGED + "z = T.reshape(x, (32, 64))\nT.copy(z, B)",
        'A: T.Tensor((64, 32), "float32"), B: T.Tensor((32, 64), "float32")',
    ),
    "T.view": tile_kernel(
        _STAGED + 'z = T.view(x, (64, 32), "int32")\nT.copy(z, B)',
        'A: T.Tensor((64, 32), "float32"), B: T.Tensor((64, 32), "int32")',
    ),
    "T.alloc_global": tile_kernel(
        'w = T.alloc_global((64, 32), "float32")\nT.copy(A, w)\nT.sync_threads()\nT.copy(w, B)'
    ),
    "T.alloc_local": tile_kernel(
        """
        t = T.get_thread_binding()
        row = T.alloc_local((16,), "float32")
        for j in T.serial(16):
            row[j] = A[t // 2, (t % 2) * 16 + j]
        for j in T.serial(16):
            B[t // 2, (t % 2) * 16 + j] = row[j]
        """
    ),
    "thread index": tile_kernel(
        """
        t = T.get_thread_binding()
        for r in T.serial(16):
            B[t // 2, (t % 2) * 16 + r] = A[t // 2, (t % 2) * 16 + r]
        """
    ),
    "T.atomic_add": tile_kernel("for i, j in T.Parallel(64, 32):\n    T.atomic_add(B[i], A[i, j])", ROWS),
    "T.atomic_add, tile": tile_kernel(_STAGED + "T.atomic_add(B, y)"),
    "T.atomic_max": tile_kernel("for i, j in T.Parallel(64, 32):\n    T.atomic_max(B[i], A[i, j])", ROWS),
    "T.print, value": tile_kernel("T.copy(A, B)\nif bx == 0:\n    T.print(A[0, 0], msg='first')"),
    "T.print, message": tile_kernel("T.copy(A, B)\nT.print(msg='here')"),
    "T.print, tile": tile_kernel(_STAGED + "T.print(y)\nT.copy(y, B)"),
    "T.print, fragment element": tile_kernel(_STAGED + "T.print(y[0, 0])\nT.copy(y, B)"),
    "T.print, shared tile": tile_kernel(_STAGED + "T.print(x)\nT.copy(x, B)"),
    "T.device_assert": tile_kernel("T.device_assert(bx >= 0, 'no block')\nT.copy(A, B)"),
    "T.async_copy": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float32")
        T.async_copy(A, x)
        T.ptx_wait_group(0)
        T.sync_threads()
        T.copy(x, B)
        """
    ),
    "T.tma_copy": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float32")
        ready = T.alloc_barrier(128)
        T.tma_copy(A, x, barrier=ready)
        T.barrier_arrive(ready)
        T.mbarrier_wait_parity(ready, 0)
        T.copy(x, B)
        """
    ),
    "T.set_max_nreg": tile_kernel("T.set_max_nreg(240, 1)\nT.copy(A, B)"),
    "T.ws": tile_kernel(
        """
        x = T.alloc_shared((64, 32), "float32")
        with T.ws(0):
            T.copy(A, x)
        T.copy(x, B)
        """,
        launch="T.Kernel(1, threads=256) as bx",
    ),
    "T.warp_reduce_sum": tile_kernel(
        "t = T.get_thread_binding()\nB[t] = T.warp_reduce_sum(A[t])",
        'A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32")',
    ),
    "T.shfl_xor": tile_kernel(
        "t = T.get_thread_binding()\nB[t] = T.shfl_xor(A[t], 1)",
        'A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32")',
    ),
    "T.any_of": tile_kernel(
        """
        x = T.alloc_shared((32,), "bool")
        for i in T.Parallel(32):
            x[i] = A[i] > 0
        for i in T.Parallel(32):
            B[i] = T.if_then_else(T.any_of(x), A[i], T.float32(0))
        """,
        'A: T.Tensor((32,), "float32"), B: T.Tensor((32,), "float32")',
    ),
    "macro": tile_kernel(
        _STAGED + "double(y)\nT.copy(y, B)",
        before="""
        @T.macro
        def double(tile):
            for i, j in T.Parallel(64, 32):
                tile[i, j] = tile[i, j] * 2
        """,
    ),
    "two launches": """
@tilelang.jit
def kernel():
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"), C: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                B[i] = A[i] + 1
        with T.Kernel(1, threads=64) as bx:
            for i in T.Parallel(64):
                C[i] = B[i] * 2
    return main
""",
    "dynamic size": """
@tilelang.jit
def kernel():
    N = T.dynamic("N")
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 64), threads=64) as bx:
            for i in T.Parallel(64):
                B[bx * 64 + i] = A[bx * 64 + i]
    return main
""",
    "strided tensor": """
@tilelang.jit
def kernel():
    @T.prim_func
    def main(A: T.StridedTensor((64, 32), (64, 1), "float32"), B: T.Tensor((64, 32), "float32")):
        with T.Kernel(1, threads=64) as bx:
            T.copy(A, B)
    return main
""",
    "eager style": """
@tilelang.jit
def kernel(A, B):
    N = T.const("N")
    A: T.Tensor[[N], T.float32]
    B: T.Tensor[[N], T.float32]
    C = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, 128), threads=128) as bx:
        for i in T.Parallel(128):
            C[bx * 128 + i] = A[bx * 128 + i] + B[bx * 128 + i]
    return C
""",
    "plain factory": """
def kernel():
    @T.prim_func
    def main(A: T.Tensor((64,), T.float16), B: T.Tensor((64,), T.float16)):
        with T.Kernel(1, threads=64) as bx:
            T.copy(A, B)
    return main
""",
    "wgmma_gemm": """
@tilelang.jit
def kernel():
    @T.prim_func
    def main(A: T.Tensor((64, 32), "float16"), B: T.Tensor((32, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.clear(c)
            T.wgmma_gemm(a, b, c)
            T.wait_wgmma(0)
            T.copy(c, C)
    return main
""",
    "gemm, options": """
@tilelang.jit
def kernel():
    @T.prim_func
    def main(A: T.Tensor((32, 64), "float16"), B: T.Tensor((64, 32), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128) as bx:
            a = T.alloc_shared((32, 64), "float16")
            b = T.alloc_shared((64, 32), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, c, transpose_A=True, transpose_B=True, clear_accum=True)
            T.copy(c, C)
    return main
""",
}
