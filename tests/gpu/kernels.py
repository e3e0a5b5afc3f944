"""Kernels that do to a GPU what learners' kernels do, right and wrong; traced by `tests.tracing` in a child."""

from __future__ import annotations

HEAD = """
@tilelang.jit
def kernel(N=1000, blocks=4):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(blocks, threads=256) as bx:
"""
TAIL = "    return main\n"


def _elementwise(*lines: str) -> str:
    return HEAD + "".join(f"            {line}\n" for line in lines) + TAIL


COPY = _elementwise("for i in T.Parallel(256):", "    C[bx * 256 + i] = A[bx * 256 + i]")

FAULT = _elementwise("for i in T.Parallel(256):", "    C[bx * 256 + i + 1073741824] = A[bx * 256 + i]")
"""Stores 4 GiB past its output. TileLang's safe memory access would drop the store; without it the GPU faults."""

WRITES_AFTER = _elementwise("for i in T.Parallel(256):", "    C[bx * 256 + i + 24] = A[bx * 256 + i]")
"""Without safe memory access: the last stores land within the guard band behind the output."""

WRITES_BEFORE = _elementwise("for i in T.Parallel(256):", "    C[bx * 256 + i - 24] = A[bx * 256 + i]")
"""The same, before it."""

WRITES_INPUT = _elementwise(
    "for i in T.Parallel(256):", "    C[bx * 256 + i] = A[bx * 256 + i]", "if bx == 1:", "    A[300] = 7.0"
)

READS_OUTPUT = _elementwise(
    "for i in T.Parallel(256):", "    C[bx * 256 + i] = T.max(C[bx * 256 + i], A[bx * 256 + i])"
)
"""max passes a NaN over: only a second launch, on a number, tells."""

HANGS = _elementwise(
    'n = T.alloc_var("int32", init=1)',
    "while n > 0:",
    "    T.atomic_add(C[0], 1.0)",
    "    n = T.if_then_else(A[0] > -1e30, 1, 0)",
)
"""The atomic addition is an effect that no compiler may leave out."""

TOO_MUCH_SHARED = _elementwise(
    'x = T.alloc_shared((600, 128), "float32")',
    "for i, j in T.Parallel(600, 128):",
    "    x[i, j] = A[(bx + i + j) % 1000]",
    "for i in T.Parallel(256):",
    "    C[bx * 256 + i] = x[(i * 7 + bx) % 600, (i + bx) % 128]",
)

RACES = _elementwise("for i in T.Parallel(256):", '    C[i] = T.cast(bx, "float32")')
"""All blocks write the same elements; with many blocks, the last one differs from launch to launch."""

READS_THE_CLOCK = _elementwise(
    "for i in T.Parallel(256):",
    '    C[bx * 256 + i] = A[bx * 256 + i] + T.cast(T.call_extern("int64", "clock64"), "float32")',
)

ASSERTS = _elementwise(
    "for i in T.Parallel(256):", "    T.device_assert(A[i] > 1e9)", "    C[bx * 256 + i] = A[bx * 256 + i]"
)

ADDS_ATOMICALLY = _elementwise("for i in T.Parallel(256):", "    T.atomic_add(C[i], A[bx * 256 + i] * 0.1)")

TOO_MANY_THREADS = """
@tilelang.jit
def kernel(N=1024):
    @T.prim_func
    def main(A: T.Tensor((N, N), "float16"), C: T.Tensor((N, N), "float16")):
        with T.Kernel(N // 256, N // 256, threads=1024) as (bx, by):
            left = T.alloc_shared((256, 32), "float16")
            right = T.alloc_shared((32, 256), "float16")
            total = T.alloc_fragment((256, 256), "float32")
            T.clear(total)
            for k in T.Pipelined(N // 32, num_stages=2):
                T.copy(A[by * 256, k * 32], left)
                T.copy(A[k * 32, bx * 256], right)
                T.gemm(left, right, total)
            T.copy(total, C[by * 256, bx * 256])
    return main
"""
"""On Hopper, TileLang adds a warp group for the copies: 1152 threads."""

HUGE = """
@tilelang.jit
def kernel(rows, N=256):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((rows, N), "float32")):
        with T.Kernel(rows, threads=256) as bx:
            for i in T.Parallel(N):
                C[bx, i] = A[i]
    return main
"""
