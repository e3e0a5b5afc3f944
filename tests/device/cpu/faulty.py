"""Kernels with errors that a run on the CPU must find, and some that print, fail an assertion, or never end."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from tests.device.cpu.table import kernel, normal, vector

ONE_BLOCK = "T.Kernel(1, threads=64) as bx"
TILE = "s = T.alloc_shared((64,), dtype)\n"
LOADED = TILE + "T.copy(A[bx * 64], s)\n"
IN_PARALLEL = "for i in T.Parallel(64):\n    B[bx * 64 + i] = {}\n"


@dataclass(frozen=True)
class Violation:
    """A kernel that indexes `buffer` out of range, on the line with `text`."""

    source: str
    buffer: str
    dimension: int
    index: int
    """The first index out of range, in order."""
    extent: int
    text: str
    given: torch.Tensor
    like: torch.Tensor


def of_vector(
    lines: str, index: int, text: str, launch: str = "T.Kernel(T.ceildiv(N, 64), threads=128) as bx"
) -> Violation:
    return Violation(vector(lines, launch), "s", 0, index, 64, text, normal(128), torch.zeros(128))


def of_matrix(line: str, dimension: int, index: int, extent: int, text: str) -> Violation:
    source = kernel(
        f"f = T.alloc_fragment((8, 16), 'float32')\nT.copy(A, f)\n{line}\nT.copy(f, B)",
        'A: T.Tensor((8, 16), "float32"), B: T.Tensor((8, 16), "float32")',
        ONE_BLOCK,
    )
    return Violation(source, "f", dimension, index, extent, text, normal(8, 16), torch.zeros(8, 16))


VIOLATIONS: dict[str, Violation] = {
    "a load in T.Parallel": of_vector(LOADED + IN_PARALLEL.format("s[i + 1]"), 64, "s[i + 1]"),
    "a store in T.Parallel": of_vector(LOADED + "for i in T.Parallel(64):\n    s[i - 3 * bx] = 1", -3, "s[i - 3 * bx]"),
    "an index from a tensor": of_vector(LOADED + IN_PARALLEL.format("s[T.cast(A[i] * 0 + 70, 'int32')]"), 70, "+ 70"),
    "a column in a serial loop": of_matrix("for j in T.serial(17):\n    f[2, j] = 0", 1, 16, 16, "f[2, j]"),
    "a region in T.copy": of_matrix(
        "for j in T.serial(3):\n    T.copy(A[0:4, :], f[j * 4:j * 4 + 4, :])", 0, 8, 8, "T.copy(A[0:4"
    ),
    "a region in T.fill": of_matrix("for j in T.serial(3):\n    T.fill(f[:, j * 8:j * 8 + 8], 0)", 1, 16, 16, "T.fill"),
    "a slice in T.gemm": Violation(
        kernel(
            """
            a = T.alloc_shared((16, 32), "float16")
            b = T.alloc_shared((16, 16), "float16")
            c = T.alloc_fragment((16, 16), "float32")
            T.copy(A, a)
            T.copy(A[:, 0:16], b)
            T.clear(c)
            for k in T.serial(3):
                T.gemm(a[:, k * 16:k * 16 + 16], b, c)
            T.copy(c, B)
            """,
            'A: T.Tensor((16, 32), "float16"), B: T.Tensor((16, 16), "float32")',
            ONE_BLOCK,
        ),
        *("a", 1, 32, 32, "T.gemm"),
        given=normal(16, 32, dtype=torch.float16),
        like=torch.zeros(16, 16),
    ),
    "an atomic": of_vector(LOADED + "T.atomic_add(s[bx * 64], 1)\n" + IN_PARALLEL.format("s[i]"), 64, "atomic_add"),
    "a thread's index": of_vector(
        "tx = T.get_thread_binding()\n" + LOADED + "s[tx * 2] = 0\n" + IN_PARALLEL.format("s[i]"),
        *(64, "s[tx * 2]", "T.Kernel(2, threads=64) as bx"),
    ),
}

NEVER_SET = """
f = T.alloc_fragment((8, 64), dtype)
m = T.alloc_fragment((8,), dtype)
for r, i in T.Parallel(8, 64):
    f[r, i] = A[i]
T.reduce_{}(f, m, dim=1, clear=False)
for i in T.Parallel(8):
    B[i] = m[i]
"""

WITHOUT_CLEAR = kernel(
    """
    a = T.alloc_shared((16, 16), "float16")
    c = T.alloc_fragment((16, 16), "float32")
    T.copy(A, a)
    T.gemm(a, a, c)
    T.copy(c, B)
    """,
    'A: T.Tensor((16, 16), "float16"), B: T.Tensor((16, 16), "float32")',
    ONE_BLOCK,
)

HALF_ACCUMULATOR = kernel(
    """
    a = T.alloc_shared((32, 512), "float16")
    b = T.alloc_shared((512, 32), "float16")
    c = T.alloc_fragment((32, 32), "float16")
    d = T.alloc_fragment((32, 32), "float32")
    T.copy(A[0:32, :], a)
    T.copy(A[32:544, 0:32], b)
    T.clear(c)
    T.clear(d)
    T.gemm(a, b, c)
    T.gemm(a, b, d)
    T.copy(c, B[0:32, :])
    T.copy(d, B[32:64, :])
    """,
    'A: T.Tensor((544, 512), "float16"), B: T.Tensor((64, 32), "float16")',
    ONE_BLOCK,
)

OF_MATRICES: dict[str, str] = {"without T.clear": WITHOUT_CLEAR, "half accumulator": HALF_ACCUMULATOR}
OF_INTEGERS: dict[str, str] = {
    "integers never set": kernel(
        "s = T.alloc_shared((64,), 'int32')\nfor i in T.Parallel(32):\n    s[i] = A[i]\nT.copy(s, B)",
        'A: T.Tensor((64,), "int32"), B: T.Tensor((64,), "int32")',
        ONE_BLOCK,
    )
}
PRINTS = """
tx = T.get_thread_binding()
s = T.alloc_shared((64,), dtype)
T.copy(A[bx * 64], s)
if tx == 0:
    T.print(s[0] * 0 + 2, msg="hello")
T.print(bx, msg="all")
T.copy(s, B[bx * 64])
"""
DOUBLED = """
f = T.alloc_fragment(({extent},), dtype)
T.copy(A[0:{extent}], f)
for i in T.Parallel({extent}):
    f[i] *= 2
    if i == 0:
        T.print(f[i], msg="here")
T.copy(f, B[0:{extent}])
"""
IN_LOOPS = {
    "a fragment of all threads": DOUBLED.format(extent=128),
    "a fragment of a quarter": DOUBLED.format(extent=16),
    "one round": DOUBLED.format(extent=1),
    "no round like another": "for i in T.Parallel(4):\n    T.print(A[i], msg='here')\nT.copy(A, B)",
    "all rounds alike": "for i in T.Parallel(4):\n    T.print(A[5], msg='here')\nT.copy(A, B)",
    "one element of a fragment": "f = T.alloc_fragment((128,), dtype)\nT.copy(A[0:128], f)\nfor i in T.Parallel(16):\n"
    "    if i == 0:\n        T.print(f[5], msg='here')\nT.copy(f, B[0:128])",
    "stores": "for i in T.Parallel(4):\n    B[i] = A[i]\n    T.print(A[i], msg='here')",
}
"""Prints in T.Parallel. How often a GPU prints depends on what else the loop does."""
OF_VECTORS: dict[str, str] = {
    "maximum never set": vector(NEVER_SET.format("max")),
    "minimum never set": vector(NEVER_SET.format("min")),
    "shift in place": vector(LOADED + "for i in T.Parallel(63):\n    s[i] = s[i + 1]\n" + IN_PARALLEL.format("s[i]")),
    "blocks in order": vector(
        IN_PARALLEL.format("A[bx * 64 + i] + T.if_then_else(bx > 0, B[bx * 64 + i - 64], T.float32(0))")
    ),
    "a tile of another block": vector(TILE + "if bx == 0:\n    T.copy(A[0:64], s)\n" + IN_PARALLEL.format("s[i]")),
    "prints": vector(PRINTS, "T.Kernel(2, threads=32) as bx"),
    "prints in parallel": vector(
        IN_PARALLEL.format("A[i]") + "\n    if i < 4:\n        T.print(A[i] * 0 + i)", ONE_BLOCK
    ),
    **{f"prints in parallel: {name}": vector(lines, ONE_BLOCK) for name, lines in IN_LOOPS.items()},
    "prints a tile": vector(LOADED + "T.print(s)\n" + IN_PARALLEL.format("s[i]"), ONE_BLOCK),
    "prints without end": vector("for k in T.serial(100000):\n    T.print(k)\n" + IN_PARALLEL.format("A[i]")),
    "device_assert": vector(LOADED + IN_PARALLEL.format("s[i]") + "T.device_assert(s[3] < 0, 'it is \"wrong\"')"),
    "a tile of 64 MiB": vector(
        "s = T.alloc_shared((64, 262144), dtype)\nfor i, j in T.Parallel(64, 262144):\n    s[i, j] = A[i]\n"
        + IN_PARALLEL.format("s[T.cast(A[i] * 0 + 1, 'int32'), 262143 - i]")
    ),
    "never ends": vector("n = T.alloc_var('int32', init=1)\nwhile n > 0:\n    n = 1\n" + IN_PARALLEL.format("A[i]")),
}
