"""The constructs that the CPU device refuses by name."""

from __future__ import annotations

from tests.device.cpu.table import COPY_IN, COPY_OUT, Refused, kernel, matrix, vector

IN_THREAD = "tx = T.get_thread_binding()\n"
N = {"N": 128}

REFUSED: dict[str, Refused] = {
    "split-K": Refused(
        matrix(
            "f = T.alloc_fragment((8, 8), dtype)\nT.copy(A[bx * 8, 0], f)\nT.atomic_add(B[0:8, 0:8], f)",
            "T.Kernel(4, threads=64) as bx",
        ),
        "T.atomic_add to B",
        "does not start at zero",
        {"M": 32, "N": 8},
        "T.atomic_add",
    ),
    "split-K, element by element": Refused(
        vector("for i in T.Parallel(64):\n    T.atomic_max(B[i], A[bx * 64 + i])"),
        "T.atomic_max to B",
        "does not start at zero",
        N,
        "T.atomic_max",
    ),
    "warp reduce": Refused(
        vector(IN_THREAD + "B[tx] = T.warp_reduce_sum(A[tx])"), "T.warp_reduce_sum", "T.reduce_sum", N, "T.warp_reduce"
    ),
    "shuffle": Refused(vector(IN_THREAD + "B[tx] = T.shfl_xor(A[tx], 1)"), "T.shfl_xor", "threads", N, "T.shfl_xor"),
    "syncthreads_or": Refused(
        vector(IN_THREAD + "B[tx] = T.cast(T.syncthreads_or(A[tx] > 0), dtype)"), "T.syncthreads_or", "threads", N
    ),
    "ws": Refused(
        vector(
            COPY_IN.split("\n")[0] + "\nwith T.ws(0):\n    T.copy(A[0:64], s)\nwith T.ws(1):\n    T.copy(s, B[0:64])"
        ),
        "T.ws",
        "T.Pipelined",
        N,
    ),
    "import_source": Refused(
        vector(
            'T.import_source("__device__ float f(float x) { return x; }")\nB[0] = T.call_extern("float32", "f", A[0])'
        ),
        "T.import_source",
        "GPU",
        N,
    ),
    "call_extern": Refused(
        vector('B[0] = T.call_extern("float32", "f", A[0])'), "T.call_extern", "GPU", N, "T.call_extern"
    ),
    "sync_grid": Refused(
        vector(COPY_IN + "T.sync_grid()\n" + COPY_OUT), "T.sync_grid", "two launches", N, "T.sync_grid"
    ),
    "8-bit floats": Refused(
        vector(COPY_IN + COPY_OUT), 'dtype "float8_e4m3fn"', "float16", {"N": 128, "dtype": "float8_e4m3fn"}
    ),
    "a tile operation for some threads": Refused(
        vector(IN_THREAD + COPY_IN.split("\n")[0] + "\nif tx < 32:\n    T.copy(A[bx * 64], s)\n" + COPY_OUT),
        "T.copy under a condition on the thread index",
        "together",
        N,
        "    T.copy(A[bx * 64], s)",
    ),
    "a print of a whole tile for some threads": Refused(
        vector(
            IN_THREAD
            + "f = T.alloc_fragment((64,), dtype)\nT.copy(A[bx * 64], f)\n"
            + "if bx == 0 and tx == 0:\n    T.print(f, msg='first')\nT.copy(f, B[bx * 64])"
        ),
        "T.print of a whole tile under a condition on the thread index",
        "Print one element, T.print(f[0], ...), under this guard.",
        N,
        "if bx == 0 and tx == 0:",
    ),
    "a print of a whole matrix for some threads": Refused(
        matrix(
            IN_THREAD + "f = T.alloc_fragment((8, 8), dtype)\nT.copy(A, f)\nif tx < 1:\n    T.print(f)\nT.copy(f, B)"
        ),
        "T.print of a whole tile",
        "T.print(f[0, 0], ...)",
        {"M": 8, "N": 8},
        "if tx < 1:",
    ),
    "sync_threads for some threads": Refused(
        vector(IN_THREAD + "if tx < 32:\n    T.sync_threads()\n    B[tx] = A[tx]"),
        "T.sync_threads under a condition",
        "not all threads",
        N,
    ),
    "thread index in T.Parallel": Refused(
        vector(IN_THREAD + "for i in T.Parallel(64):\n    B[bx * 64 + i] = A[tx]"),
        "the thread index",
        "loop variables of T.Parallel",
        N,
    ),
    "a thread's own value in T.Parallel": Refused(
        vector(IN_THREAD + "v = T.alloc_var(dtype)\nv = A[tx]\nfor i in T.Parallel(64):\n    B[bx * 64 + i] = v"),
        "v",
        "another value in each thread",
        N,
    ),
    "im2col": Refused(
        kernel(
            "s = T.alloc_shared((8, 16), 'float16')\nT.im2col(A, s, bx, 0, 3, 1, 1, 1)\nT.copy(s, B)",
            'A: T.Tensor((1, 8, 8, 16), "float16"), B: T.Tensor((8, 16), "float16")',
            "T.Kernel(1, threads=128) as bx",
        ),
        "T.im2col",
        "T.copy",
    ),
    "rounding mode": Refused(
        vector('B[0] = T.ieee_add(A[0], A[1], "rz")'), "T.ieee_add with another rounding mode", "nearest", N
    ),
    "packed arithmetic": Refused(vector("B[0:2] = T.add2(A[0:2], A[2:4])"), "T.add2", "does not know", N),
}
