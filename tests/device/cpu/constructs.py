"""The constructs that the CPU device runs, each in a kernel of its own."""

from __future__ import annotations

import torch

from tests.device.cpu.copies import COPIES
from tests.device.cpu.table import (
    Runs,
    exact,
    folded,
    gemm,
    half_mathematics,
    kernel,
    masked_rows,
    mathematics,
    matrix,
    normal,
    padded_softmax,
    reduction,
)

ARITHMETIC: dict[str, Runs] = {
    "ragged vector add": mathematics("x + x", lambda a: 2 * a),
    "float16 rounds": exact("x * x + x / (x - x * x)", torch.float16, lambda a: a * a + a / (a - a * a)),
    "bfloat16 rounds": exact("x * x + x / (x - x * x)", torch.bfloat16, lambda a: a * a + a / (a - a * a)),
    "float64": mathematics("T.cast(T.cast(x, 'float64') / 3, dtype)", lambda a: a / 3),
    "int32 arithmetic": exact(
        "(x << 2) ^ (x >> 1) | (x & 7) + ~x - x * 5", torch.int32, lambda a: (a << 2) ^ (a >> 1) | (a & 7) + ~a - a * 5
    ),
    "int32 wraps": exact("x * 1000003 * 1000003", torch.int32, lambda a: a * 1000003 * 1000003),
    "int8 wraps": exact("x * x", torch.int8, lambda a: a * a),
    "floor division": exact(
        "x // 7 * 100 + x % 7", torch.int32, lambda a: torch.div(a, 7, rounding_mode="floor") * 100 + a % 7
    ),
    "truncated division": exact(
        "T.truncdiv(x, 7) * 100 + T.truncmod(x, 7)",
        torch.int32,
        lambda a: torch.div(a, 7, rounding_mode="trunc") * 100 + torch.fmod(a, 7),
    ),
    "division by zero": exact(
        "T.if_then_else(x == 0, 1, 0) + T.truncmod(x, x - x)",
        torch.int32,
        lambda a: a + (a == 0).int(),
    ),
    "shifts, popcount": exact(
        "T.popcount(x) + (x >> (x - x + 40))", torch.int32, lambda a: _popcount(a) + (a < 0) * -1
    ),
    "absolute, min, max": exact(
        "T.abs(x) - T.min(x, 3) + T.max(x, -3)", torch.int32, lambda a: a.abs() - a.clamp(max=3) + a.clamp(min=-3)
    ),
    "cast to int truncates": mathematics("T.cast(T.cast(x * 10, 'int32'), dtype)", lambda a: (a.float() * 10).trunc()),
    "cast to int saturates": mathematics(
        "T.cast(T.cast(x * 1e30, 'int32'), dtype)", lambda a: torch.where(a > 0, 2147483647.0, -2147483648.0)
    ),
    "exp": mathematics("T.exp(x)", torch.exp),
    "exp2, log2": mathematics("T.log2(T.exp2(x) + 1)", lambda a: torch.log2(torch.exp2(a) + 1)),
    "exp10, __exp": mathematics("T.exp10(x) + T.__exp(x)", lambda a: 10**a + a.exp(), tolerance=1e-5),
    "log, log10, log1p": mathematics(
        "T.log(x * x) + T.log10(x * x) + T.log1p(x * x)",
        lambda a: (a * a).log() + (a * a).log10() + (a * a).log1p(),
        tolerance=1e-4,
    ),
    "sqrt, rsqrt": mathematics(
        "T.sqrt(x * x + 1) + T.rsqrt(x * x + 1)", lambda a: (a * a + 1).sqrt() + (a * a + 1).rsqrt()
    ),
    "sin, cos, tan": mathematics("T.sin(x) + T.cos(x) * T.tan(x)", lambda a: 2 * a.sin(), tolerance=1e-5),
    "tanh, erf, sigmoid": mathematics(
        "T.tanh(x) * 4 + T.erf(x) + T.sigmoid(x)", lambda a: a.tanh() * 4 + a.erf() + a.sigmoid(), tolerance=1e-5
    ),
    "floor, ceil, round, trunc": mathematics(
        "T.floor(x) + 10 * T.ceil(x) + 100 * T.trunc(x) + 1000 * T.round(x)",
        lambda a: a.floor() + 10 * a.ceil() + 100 * a.trunc() + 1000 * a.round(),
    ),
    "pow, fmod, atan2": mathematics(
        "T.pow(T.abs(x), x) + T.fmod(x, T.float32(0.7)) + T.atan2(x, x + 3)",
        lambda a: a.abs() ** a + torch.fmod(a, torch.tensor(0.7).double()) + torch.atan2(a, a + 3),
        tolerance=1e-4,
    ),
    "fma, ieee_add, fast_rcp": mathematics(
        "T.fma(x, x, x) + T.ieee_add(x, x) + T.fast_rcp(x)", lambda a: a * a + 3 * a + 1 / a, tolerance=1e-5
    ),
    "float16 exp2, tanh, erf, sigmoid": half_mathematics(
        "T.exp2(x) + T.tanh(x) * 4 + T.erf(x) + T.sigmoid(x) + 3",
        lambda a: a.exp2() + a.tanh() * 4 + a.erf() + a.sigmoid() + 3,
    ),
    "isnan, isinf": mathematics(
        "T.if_then_else(T.isinf(T.exp(x * 1000)), T.float32(1), "
        "T.if_then_else(T.isnan(T.log(x)), T.float32(2), T.float32(3)))",
        lambda a: torch.where(torch.exp(a.float() * 1000).isinf(), 1.0, torch.where(a < 0, 2.0, 3.0)),
    ),
    "clamp, infinity": mathematics(
        "T.clamp(x, -1.0, 1.0) + T.min(x, T.infinity('float32'))", lambda a: a.clamp(-1, 1) + a
    ),
    "reinterpret": mathematics("T.reinterpret(T.reinterpret(x, 'int32'), 'float32')", lambda a: a),
    "max skips NaN": mathematics("T.max(T.log(x - 100), T.float32(5))", lambda a: torch.full_like(a, 5)),
    "boolean operators": mathematics(
        "T.Select(T.And(x > 0, T.Or(x < 1, T.Not(x < 2))), x, T.float32(0))",
        lambda a: torch.where((a > 0) & ((a < 1) | ~(a < 2)), a, 0),
    ),
}


def _popcount(a: torch.Tensor) -> torch.Tensor:
    return torch.tensor([bin(int(x) & 0xFFFFFFFF).count("1") for x in a], dtype=a.dtype)


SOFTMAX: dict[str, Runs] = {
    **{f"softmax of {n}": padded_softmax(n) for n in (1, 33, 96, 1000)},
    "softmax with -inf": padded_softmax(33, masked_rows),
}

REDUCTIONS: dict[str, Runs] = {
    "reduce_sum": reduction("sum", lambda a: a.sum(1), tolerance=1e-4),
    "reduce_sum of columns": reduction("sum", lambda a: a.sum(0), dim=0, tolerance=1e-4),
    "reduce_sum of float16": reduction("sum", lambda a: a.sum(1), dtype="float16", tolerance=2e-2),
    "reduce_max": reduction("max", lambda a: a.amax(1)),
    "reduce_min": reduction("min", lambda a: a.amin(0), dim=0),
    "reduce_abssum": reduction("abssum", lambda a: a.abs().sum(1)),
    "reduce_absmax": reduction("absmax", lambda a: a.abs().amax(1)),
    "reduce_bitand": reduction("bitand", folded(torch.bitwise_and), dtype="int32", tolerance=0),
    "reduce_bitor": reduction("bitor", folded(torch.bitwise_or), dtype="int32", tolerance=0),
    "reduce_bitxor": reduction("bitxor", folded(torch.bitwise_xor), dtype="int32", tolerance=0),
    "reduce_max clear=False": Runs(
        matrix(
            """
            f = T.alloc_fragment((24, 40), dtype)
            r = T.alloc_fragment((24,), dtype)
            T.copy(A, f)
            T.fill(r, 1)
            T.reduce_max(f, r, dim=1, clear=False)
            T.reduce_sum(f, r, dim=1, clear=False)
            T.copy(r, B)
            """,
            out="(24,)",
        ),
        lambda: [normal(24, 40)],
        lambda a: a.double().amax(1).clamp(min=1) + a.double().sum(1),
        {"M": 24, "N": 40},
        out=torch.empty(24),
        tolerance=1e-4,
    ),
    "reduce from shared to shared": Runs(
        matrix(
            """
            s = T.alloc_shared((24, 40), dtype)
            r = T.alloc_shared((24, 1), dtype)
            T.copy(A, s)
            T.reduce_max(s, r, dim=1)
            for i in T.Parallel(24):
                B[i] = r[i, 0]
            """,
            out="(24,)",
        ),
        lambda: [normal(24, 40)],
        lambda a: a.double().amax(1),
        {"M": 24, "N": 40},
        out=torch.empty(24),
    ),
    "cumsum, reversed, and cummax": Runs(
        matrix(
            """
            s = T.alloc_shared((24, 40), dtype)
            f = T.alloc_fragment((24, 40), dtype)
            T.copy(A, s)
            T.copy(A, f)
            T.cumsum(s, dim=1)
            T.cumsum(f, dim=0, reverse=True)
            for i, j in T.Parallel(24, 40):
                f[i, j] = f[i, j] + s[i, j]
            T.copy(A, s)
            T.cummax(s, dim=0)
            for i, j in T.Parallel(24, 40):
                B[i, j] = f[i, j] + s[i, j]
            """
        ),
        lambda: [normal(24, 40)],
        lambda a: a.double().cumsum(1) + a.double().flip(0).cumsum(0).flip(0) + a.double().cummax(0).values,
        {"M": 24, "N": 40},
        tolerance=1e-4,
    ),
    "any_of, all_of": Runs(
        matrix(
            """
            s = T.alloc_shared((24, 40), "bool")
            for i, j in T.Parallel(24, 40):
                s[i, j] = A[i, j] > 2
            for i in T.serial(24):
                B[i] = T.cast(T.any_of(s[i, :]), "int32") * 2 + T.cast(T.all_of(s[i, 0:1]), "int32")
            """,
            out="(24,)",
        ).replace("B: T.Tensor((24,), dtype)", 'B: T.Tensor((24,), "int32")'),
        lambda: [normal(24, 40)],
        lambda a: 2 * (a > 2).any(1).int() + (a[:, 0] > 2).int(),
        {"M": 24, "N": 40},
        out=torch.empty(24, dtype=torch.int32),
        tolerance=0,
    ),
    "alloc_reducer": Runs(
        matrix(
            """
            r = T.alloc_reducer((24,), dtype, op="sum", replication="all")
            T.clear(r)
            for i, j in T.Parallel(24, 40):
                r[i] += A[i, j]
            T.finalize_reducer(r)
            top = T.alloc_reducer((24,), dtype, op="max")
            f = T.alloc_fragment((24,), dtype)
            T.reducer_init(top, 1.0)
            for i, j in T.Parallel(24, 40):
                T.reducer_update(top[i], A[i, j])
            T.finalize_reducer(top, f)
            for i in T.Parallel(24):
                B[i] = r[i] + f[i]
            """,
            out="(24,)",
        ),
        lambda: [normal(24, 40)],
        lambda a: a.double().sum(1) + a.double().amax(1).clamp(min=1),
        {"M": 24, "N": 40},
        out=torch.empty(24),
        tolerance=1e-4,
    ),
}

GEMMS: dict[str, Runs] = {
    "gemm": gemm(100, 96, 40),
    "gemm, transposed": gemm(33, 70, 50, TA=True, TB=True),
    "gemm of one element": gemm(1, 1, 1, BM=16, BN=16),
    "gemm of bfloat16": gemm(40, 50, 30, dtype="bfloat16", TB=True),
    "gemm of float64": gemm(20, 30, 40, dtype="float64", accum="float64", out_dtype="float64", tolerance=1e-12),
    "gemm of int8": gemm(40, 50, 30, dtype="int8", accum="int32", out_dtype="int32", tolerance=0),
    "gemm with slices and clear_accum": Runs(
        kernel(
            """
            a = T.alloc_shared((2, 32, 64), "float16")
            b = T.alloc_shared((64, 48), "float16")
            c = T.alloc_fragment((32, 48), "float32")
            T.copy(A[0:32, :], a[1, :, :])
            T.copy(B, b)
            for k in T.serial(2):
                T.gemm(a[1, :, k * 32:(k + 1) * 32], b[k * 32:(k + 1) * 32, :], c, clear_accum=(k == 0))
            T.copy(c, C)
            """,
            'A: T.Tensor((32, 64), "float16"), B: T.Tensor((64, 48), "float16"), C: T.Tensor((32, 48), "float32")',
            "T.Kernel(1, threads=128) as bx",
        ),
        lambda: [normal(32, 64, dtype=torch.float16), normal(64, 48, dtype=torch.float16, seed=2)],
        lambda a, b: a.double() @ b.double(),
        out=torch.empty(32, 48),
        tolerance=1e-5,
    ),
}

TILES: dict[str, Runs] = {**ARITHMETIC, **SOFTMAX, **REDUCTIONS, **GEMMS, **COPIES}
