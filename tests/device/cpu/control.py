"""Control flow, launches, threads and hints that the CPU device runs, each in a kernel of its own."""

from __future__ import annotations

import torch

from tests.device.cpu.copies import doubled
from tests.device.cpu.table import COPY_IN, COPY_OUT, Runs, kernel, matrix, normal, vector, whole

IN_PARALLEL = "for i in T.Parallel(64):\n    B[bx * 64 + i] = {}\n"

CONTROL: dict[str, Runs] = {
    "use_swizzle": doubled("T.use_swizzle(10)\n" + IN_PARALLEL.format("A[bx * 64 + i] * 2")),
    "staging through shared": doubled(
        COPY_IN
        + "f = T.alloc_fragment((64,), dtype)\nT.copy(s, f)\nfor i in T.Parallel(64):\n    s[i] = f[i] * 2\n"
        + COPY_OUT
    ),
    "annotate_layout, L2 hints, clusters": doubled(
        "s = T.alloc_shared((8, 64), dtype)\n"
        "T.annotate_layout({s: tilelang.layout.make_swizzled_layout(s)})\n"
        "T.annotate_l2_hit_ratio({A: 0.5})\nT.annotate_min_blocks_per_sm(2)\n"
        "T.copy(A[bx * 64:bx * 64 + 64], s[3, :], coalesced_width=4)\n" + IN_PARALLEL.format("s[3, i] * 2"),
        launch="T.Kernel(T.ceildiv(N, 64), threads=128, cluster_dims=2) as bx",
    ),
    "while, break, continue": doubled(
        """
        n = T.alloc_var("int32", init=0)
        while n < 1000:
            n = n + 1
            if n == 33:
                continue
            if n > 65:
                break
            B[bx * 64 + n - 1] = A[bx * 64 + n - 1] * 2
        B[bx * 64 + 32] = A[bx * 64 + 32] * 2
        """
    ),
    "serial, unroll, vectorized, range with a step": doubled(
        """
        c = T.alloc_local((4,), dtype)
        for j in T.serial(0, 64, 4):
            for i in T.unroll(4):
                c[i] = A[bx * 64 + j + i]
            for i in range(0, 4, 2):
                c[i] += c[i]
            for i in T.serial(2):
                c[2 * i + 1] = c[2 * i + 1] * 2
            for i in T.vectorized(4):
                B[bx * 64 + j + i] = c[i]
        """
    ),
    "Pipelined with order and stage": doubled(
        """
        s = T.alloc_shared((16,), dtype)
        for k in T.Pipelined(4, order=[0, 1], stage=[0, 1]):
            T.copy(A[bx * 64 + k * 16], s)
            for i in T.Parallel(16):
                B[bx * 64 + k * 16 + i] = s[i] * 2
        """
    ),
    "alloc_var starts at zero": doubled('z = T.alloc_var("float32")\n' + IN_PARALLEL.format("A[bx * 64 + i] * 2 + z")),
    "macro": doubled(
        COPY_IN + "twice(s)\n" + COPY_OUT,
        before="@T.macro\ndef twice(tile):\n    for i in T.Parallel(64):\n        tile[i] = tile[i] * 2\n",
    ),
    "a condition on the block": doubled(
        "if bx == 0:\n    for i in T.Parallel(64):\n        B[i] = A[i] * 2\nelse:\n"
        "    for i in T.Parallel(64):\n        B[bx * 64 + i] = A[bx * 64 + i] + A[bx * 64 + i]\n"
    ),
    "if_then_else guards an index": Runs(
        vector(COPY_IN + IN_PARALLEL.format("T.if_then_else(i < 63, s[i + 1], s[i - 63])")),
        lambda: [normal(128)],
        lambda a: a.reshape(2, 64).roll(-1, 1).flatten(),
        {"N": 128},
        tolerance=0,
    ),
    "Select guards an index": doubled(COPY_IN + IN_PARALLEL.format("s[i] * 2 + T.Select(i >= 64, s[i], T.float32(0))")),
    "int8 tiles": Runs(
        vector(COPY_IN + COPY_OUT),
        lambda: [whole(100, dtype=torch.int8)],
        lambda a: a,
        {"N": 100, "dtype": "int8"},
        tolerance=0,
    ),
    "three-dimensional grid": Runs(
        kernel(
            "B[bx, by, bz] = A[bx, by, bz] * 2 + bx * 100 + by * 10 + bz",
            'A: T.Tensor((4, 3, 2), "float32"), B: T.Tensor((4, 3, 2), "float32")',
            "T.Kernel(4, 3, 2, threads=32) as (bx, by, bz)",
        ),
        lambda: [normal(4, 3, 2)],
        lambda a: (
            a.double() * 2 + (torch.arange(4) * 100)[:, None, None] + (torch.arange(3) * 10)[:, None] + torch.arange(2)
        ),
    ),
    "Persistent": Runs(
        matrix(
            """
            for bi, bj in T.Persistent([T.ceildiv(M, 8), T.ceildiv(N, 8)], 3, bx):
                for i, j in T.Parallel(8, 8):
                    B[bi * 8 + i, bj * 8 + j] = A[bi * 8 + i, bj * 8 + j] * 2
            """,
            "T.Kernel(3, threads=128) as bx",
        ),
        lambda: [normal(20, 50)],
        lambda a: 2 * a.double(),
        {"M": 20, "N": 50},
    ),
    "one launch for all dimensions at run time": Runs(
        kernel(
            "for i in T.Parallel(64):\n    B[bx * 64 + i] = A[bx * 64 + i] * s + n",
            'A: T.Tensor((N,), "float32"), s: T.float32, n: T.int32, B: T.Tensor((N,), "float32")',
            "T.Kernel(T.ceildiv(N, 64), threads=128) as bx",
            before="N = T.dynamic('N')",
        ),
        lambda: [normal(100), 2.5, -3],
        lambda a, s, n: a.double() * s + n,
    ),
    "two launches and alloc_global": Runs(
        """
def kernel(N):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        W = T.alloc_global((N,), "float32")
        with T.Kernel(T.ceildiv(N, 64), threads=128) as bx:
            for i in T.Parallel(64):
                W[N - 1 - bx * 64 - i] = A[bx * 64 + i] * 2
        with T.Kernel(T.ceildiv(N, 32), threads=64) as bx:
            for i in T.Parallel(32):
                B[bx * 32 + i] = W[N - 1 - bx * 32 - i]
    return main
""",
        lambda: [normal(100)],
        lambda a: a.double() * 2,
        {"N": 100},
    ),
    "alloc_global inside a launch": Runs(
        vector(
            """
            W = T.alloc_global((64,), dtype)
            for i in T.Parallel(64):
                W[i] = A[i] * 2
            for i in T.Parallel(64):
                B[bx * 64 + i] = W[i]
            """
        ),
        lambda: [normal(128)],
        lambda a: a[:64].double().repeat(2) * 2,
        {"N": 128},
    ),
    "eager style": Runs(
        """
@tilelang.jit
def kernel(A, N: int = 100):
    A: T.Tensor((N,), "float32")
    B = T.empty((N,), "float32")
    with T.Kernel(T.ceildiv(N, 64), threads=128) as bx:
        for i in T.Parallel(64):
            B[bx * 64 + i] = A[bx * 64 + i] * 2
    return B
""",
        lambda: [normal(100)],
        lambda a: a.double() * 2,
    ),
}

ATOMICS: dict[str, Runs] = {
    "atomics on shared tiles": Runs(
        kernel(
            """
            h = T.alloc_shared((8,), "int32")
            T.clear(h)
            for i in T.Parallel(64):
                T.atomic_add(h[A[i] % 8], 1)
                T.atomic_max(h[7], A[i])
            T.copy(h, B)
            """,
            'A: T.Tensor((64,), "int32"), B: T.Tensor((8,), "int32")',
            "T.Kernel(1, threads=64) as bx",
        ),
        lambda: [whole(64, low=104, high=111)],
        lambda a: torch.cat([torch.bincount(a.long() % 8, minlength=8)[:7], a.max().long()[None]]),
        out=torch.empty(8, dtype=torch.int32),
        tolerance=0,
    ),
    "atomics on a tensor that a launch has cleared": Runs(
        """
def kernel(M, N):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            for i in T.Parallel(N):
                B[i] = 0
        with T.Kernel(M, threads=128) as bx:
            s = T.alloc_shared((N,), "float32")
            T.copy(A[bx, :], s)
            T.atomic_add(B[0:N], s)
            for i in T.Parallel(N):
                T.atomic_add(B[i], s[i])
    return main
""",
        lambda: [normal(20, 50)],
        lambda a: a.double().sum(0) * 2,
        {"M": 20, "N": 50},
        out=torch.empty(50),
        tolerance=1e-5,
    ),
    "atomic_store, atomic_load, and the value before": Runs(
        kernel(
            """
            c = T.alloc_shared((1,), "int32")
            T.atomic_store(c[0], 5)
            for i in T.Parallel(64):
                place = T.atomic_add(c[0], 1, return_prev=True)
                B[place - 5] = T.atomic_load(A[0])
            """,
            'A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")',
            "T.Kernel(1, threads=64) as bx",
        ),
        lambda: [whole(64)],
        lambda a: a[0].expand(64),
        tolerance=0,
    ),
    "an atomic in every thread": Runs(
        kernel(
            """
            c = T.alloc_shared((1,), "int32")
            T.clear(c)
            T.atomic_add(c[0], 1)
            for i in T.Parallel(8):
                B[i] = A[i] + c[0]
            """,
            'A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")',
            "T.Kernel(1, threads=96) as bx",
        ),
        lambda: [whole(8)],
        lambda a: a + 96,
        tolerance=0,
    ),
}

THREADS: dict[str, Runs] = {
    "thread index and sync_threads": Runs(
        vector(
            """
            tx = T.get_thread_binding()
            s = T.alloc_shared((64,), dtype)
            s[tx] = A[bx * 64 + tx]
            T.sync_threads()
            B[bx * 64 + tx] = s[63 - tx]
            """,
            "T.Kernel(2, threads=64) as bx",
        ),
        lambda: [normal(128)],
        lambda a: a.reshape(2, 64).flip(1).flatten(),
        {"N": 128},
        tolerance=0,
    ),
    "values of each thread": Runs(
        vector(
            """
            tx = T.get_thread_binding()
            own = T.alloc_local((4,), dtype)
            total = T.alloc_var(dtype)
            first = A[tx * 4]
            for j in T.serial(4):
                own[j] = A[tx * 4 + j]
            T.copy(A[tx * 4], own)
            for j in T.serial(4):
                total += own[j]
            if tx < 16:
                for j in range(4):
                    B[tx * 4 + j] = total + first
            else:
                for j in range(4):
                    B[tx * 4 + j] = total - first
            """,
            "T.Kernel(1, threads=32) as bx",
        ),
        lambda: [normal(128)],
        lambda a: _sums_of_four(a),
        {"N": 128},
        tolerance=1e-5,
    ),
    "a tree over the threads": Runs(
        vector(
            """
            tx = T.get_thread_binding()
            s = T.alloc_shared((64,), dtype)
            stride = T.alloc_var("int32", init=32)
            s[tx] = A[tx]
            while stride > 0:
                T.sync_threads()
                if tx < stride:
                    s[tx] = s[tx] + s[tx + stride]
                stride = stride // 2
            T.sync_threads()
            B[tx] = s[0]
            """,
            "T.Kernel(1, threads=64) as bx",
        ),
        lambda: [normal(64)],
        lambda a: a.double().sum().expand(64),
        {"N": 64},
        tolerance=1e-5,
    ),
    "each thread a stride of its own": Runs(
        vector(
            """
            tx = T.get_thread_binding()
            for k in range(T.ceildiv(100 - tx, 32)):
                if A[k * 32 + tx] > 1:
                    B[k * 32 + tx] = 1
                    continue
                B[k * 32 + tx] = A[k * 32 + tx]
            """,
            "T.Kernel(1, threads=32) as bx",
        ),
        lambda: [normal(100)],
        lambda a: a.clamp(max=1),
        {"N": 100},
        tolerance=0,
    ),
    "threads in two dimensions, lanes and warps": Runs(
        kernel(
            """
            tx, ty, tz = T.get_thread_bindings()
            B[ty, tx] = A[ty, tx] + T.get_lane_idx() * 1000 + T.get_warp_idx() * 100
            """,
            'A: T.Tensor((4, 16), "int32"), B: T.Tensor((4, 16), "int32")',
            "T.Kernel(1, threads=(16, 4)) as bx",
        ),
        lambda: [whole(4, 16)],
        lambda a: a + (torch.arange(64) % 32 * 1000 + torch.arange(64) // 32 * 100).reshape(4, 16),
        tolerance=0,
    ),
    "thread_binding": Runs(
        vector('for t in T.thread_binding(64, "threadIdx.x"):\n    B[t] = A[t] * 2', "T.Kernel(1, threads=64) as bx"),
        lambda: [normal(64)],
        lambda a: a * 2,
        {"N": 64},
    ),
}


def _sums_of_four(a: torch.Tensor) -> torch.Tensor:
    rows = a.double().reshape(32, 4)
    sign = torch.where(torch.arange(32) < 16, 1, -1)
    return (rows.sum(1) + sign * rows[:, 0]).repeat_interleave(4)


CONTROLS: dict[str, Runs] = {**CONTROL, **ATOMICS, **THREADS}
