"""Copies, fills, views and indices that the CPU device runs, each in a kernel of its own."""

from __future__ import annotations

import torch

from tests.device.cpu.table import COPY_IN, Runs, kernel, matrix, normal, vector


def doubled(lines: str, launch: str = "T.Kernel(T.ceildiv(N, 64), threads=128) as bx", before: str = "") -> Runs:
    """A kernel whose output is twice its input, by way of the construct."""
    return Runs(vector(lines, launch, before), lambda: [normal(100)], lambda a: 2 * a.double(), {"N": 100})


COPIES: dict[str, Runs] = {
    "annotate_safe_value": Runs(
        vector(
            COPY_IN.replace("T.copy", "T.annotate_safe_value({A: -T.infinity(dtype)})\nT.copy")
            + """
r = T.alloc_fragment((1,), dtype)
f = T.alloc_fragment((64,), dtype)
T.copy(s, f)
T.reduce_max(f, r, dim=0)
for i in T.Parallel(64):
    B[bx * 64 + i] = r[0] + T.if_then_else(A[bx * 64 + i + 36] < -1e30, T.float32(100), T.float32(0))
"""
        ),
        lambda: [normal(100) - 100],
        lambda a: torch.cat([a[:64].amax().expand(64), a[64:].amax().expand(36) + 100]).double(),
        {"N": 100},
    ),
    "copy clips and pads every dimension": Runs(
        matrix(
            """
            s = T.alloc_shared((32, 32), dtype)
            for i in T.serial(2):
                for j in T.serial(2):
                    T.copy(A[i * 32 - 8, j * 32 - 4], s)
                    for u, v in T.Parallel(32, 32):
                        s[u, v] = s[u, v] + 1
                    T.copy(s, B[i * 32 - 8, j * 32 - 4])
            """
        ),
        lambda: [normal(40, 50)],
        lambda a: a.double() + 1,
        {"M": 40, "N": 50},
    ),
    "copy of a slice with unit dimensions, cast": Runs(
        kernel(
            """
            s = T.alloc_shared((64, 16), "float32")
            T.copy(A[bz, bx * 64:(bx + 1) * 64, by, :], s)
            T.copy(s, B[bz, bx * 64:(bx + 1) * 64, by, :])
            """,
            'A: T.Tensor((2, 100, 3, 16), "float16"), B: T.Tensor((2, 100, 3, 16), "float16")',
            "T.Kernel(2, 3, 2, threads=128) as (bx, by, bz)",
        ),
        lambda: [normal(2, 100, 3, 16, dtype=torch.float16)],
        lambda a: a,
        tolerance=0,
    ),
    "copy within one tile": Runs(
        vector(COPY_IN + "T.copy(s[0:32], s[32:64])\nT.copy(s, B[bx * 64])"),
        lambda: [normal(64)],
        lambda a: torch.cat([a[:32], a[:32]]),
        {"N": 64},
        tolerance=0,
    ),
    "transpose": Runs(
        matrix(
            """
            s = T.alloc_shared((24, 40), dtype)
            t = T.alloc_shared((40, 24), dtype)
            T.copy(A, s)
            T.transpose(s, t)
            T.copy(t, B)
            """,
            out="(N, M)",
        ),
        lambda: [normal(24, 40)],
        lambda a: a.T,
        {"M": 24, "N": 40},
        out=torch.empty(40, 24),
        tolerance=0,
    ),
    "fill and clear of regions": Runs(
        matrix(
            "s = T.alloc_shared((24, 40), dtype)\nT.copy(A, s)\nT.fill(s[2:4, 1:39], 3)\nT.clear(s[5, :])\nT.copy(s, B)"
        ),
        lambda: [normal(24, 40)],
        lambda a: _filled(a),
        {"M": 24, "N": 40},
        tolerance=0,
    ),
    "fill of a tensor": Runs(
        matrix("T.clear(B)\nT.fill(B[8:40, 3:50], 2)", "T.Kernel(1, threads=64) as bx"),
        lambda: [normal(24, 40)],
        lambda a: torch.zeros_like(a).index_put((torch.arange(8, 24)[:, None], torch.arange(3, 40)), torch.tensor(2.0)),
        {"M": 24, "N": 40},
        tolerance=0,
    ),
    "negative and sliced indices": Runs(
        matrix("B[0, 0:40] = A[-1, 0:40]\nfor i, j in T.Parallel(23, 40):\n    B[i + 1, j] = A[-1, -1]"),
        lambda: [normal(24, 40)],
        lambda a: torch.cat([a[-1:], a[-1, -1].expand(23, 40)]),
        {"M": 24, "N": 40},
        tolerance=0,
    ),
    "indirect indices out of range": Runs(
        kernel(
            "for i in T.Parallel(64):\n    B[I[i]] = A[I[i]] + A[I[I[i]]]",
            'A: T.Tensor((64,), "float32"), I: T.Tensor((64,), "int32"), B: T.Tensor((64,), "float32")',
            "T.Kernel(1, threads=64) as bx",
        ),
        lambda: [normal(64), torch.tensor([*range(63, 3, -1), 3, 2, 1, 99]).int()],
        lambda a, index: _indirect(a, index),
        out=torch.empty(64),
    ),
    "reshape and view": Runs(
        matrix(
            """
            s = T.alloc_shared((24, 40), dtype)
            flat = T.reshape(s, (960,))
            bits = T.view(s, (24, 40), dtype="int32")
            T.copy(A, s)
            for i in T.Parallel(960):
                flat[i] = flat[i] * 2
            for i, j in T.Parallel(24, 40):
                bits[i, j] = bits[i, j] ^ -2147483648
            T.copy(s, B)
            """
        ),
        lambda: [normal(24, 40)],
        lambda a: -2 * a,
        {"M": 24, "N": 40},
        tolerance=0,
    ),
    "strided tensor": Runs(
        kernel(
            "T.copy(A, B)",
            'A: T.StridedTensor((20, 10), (15, 1), "float32"), B: T.Tensor((20, 10), "float32")',
            "T.Kernel(1, threads=64) as bx",
        ),
        lambda: [normal(20, 15)[:, :10]],
        lambda a: a,
        out=torch.empty(20, 10),
        tolerance=0,
    ),
    "async_copy, tma_copy, barriers": doubled(
        """
        s = T.alloc_shared((64,), dtype)
        t = T.alloc_shared((64,), dtype)
        bar = T.alloc_barrier(128)
        T.async_copy(A[bx * 64:bx * 64 + 64], s)
        T.ptx_commit_group()
        T.ptx_wait_group(0)
        T.tma_copy(A[bx * 64:bx * 64 + 64], t, barrier=bar[0])
        T.barrier_arrive(bar[0])
        T.mbarrier_wait_parity(bar[0], 0)
        T.set_max_nreg(240, 1)
        T.no_set_max_nreg()
        for i in T.Parallel(64):
            B[bx * 64 + i] = s[i] + t[i]
        """
    ),
}


def _filled(a: torch.Tensor) -> torch.Tensor:
    a = a.clone()
    a[2:4, 1:39] = 3
    a[5] = 0
    return a


def _indirect(a: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    def read(values: torch.Tensor, at: int) -> float:
        return float(values[at]) if 0 <= at < 64 else 0.0

    out = torch.full((64,), torch.nan).double()
    for i in range(64):
        at = int(index[i])
        if 0 <= at < 64:
            out[at] = read(a.double(), at) + read(a.double(), int(read(index, at)))
    return out
