"""Compares the emitted code with TileLang's own C backend, an implementation that shares nothing with it but the IR."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.device.cpu.running import compiled
from tests.device.cpu.table import GEMM, PADDED_SOFTMAX, kernel, matrix, normal
from tests.kernel.constructs import ATTENTION
from tests.tracing import document

BIAS_GELU = kernel(
    """
    a = T.alloc_shared((32, 16), "float16")
    b = T.alloc_shared((16, 48), "float16")
    bias = T.alloc_shared((48,), "float16")
    c = T.alloc_fragment((32, 48), "float32")
    T.clear(c)
    T.copy(D[bx * 48], bias)
    for k in T.Pipelined(T.ceildiv(50, 16), num_stages=3):
        T.copy(A[by * 32, k * 16], a)
        T.copy(B[k * 16, bx * 48], b)
        T.gemm(a, b, c)
    for i, j in T.Parallel(32, 48):
        c[i, j] = c[i, j] + bias[j]
    for i, j in T.Parallel(32, 48):
        c[i, j] = c[i, j] * 0.5 * (1.0 + T.tanh(0.7978845608 * (c[i, j] + 0.044715 * c[i, j] * c[i, j] * c[i, j])))
    T.copy(c, C[by * 32, bx * 48])
    """,
    """A: T.Tensor((70, 50), "float16"), B: T.Tensor((50, 100), "float16"), D: T.Tensor((100,), "float16"),
             C: T.Tensor((70, 100), "float16")""",
    "T.Kernel(T.ceildiv(100, 48), T.ceildiv(70, 32), threads=128) as (bx, by)",
)
NORMALISED = matrix(
    """
    x = T.alloc_fragment((4, 40), "float32")
    total = T.alloc_fragment((4,), "float32")
    least = T.alloc_fragment((4,), "float32")
    T.copy(A[bx * 4, 0], x)
    T.reduce_sum(x, total, dim=1)
    T.reduce_min(x, least, dim=1)
    for i, j in T.Parallel(4, 40):
        x[i, j] = (x[i, j] - least[i]) / (total[i] * total[i] + 1)
    T.copy(x, B[bx * 4, 0])
    """,
    "T.Kernel(T.ceildiv(M, 4), threads=128) as bx",
)
HALF = torch.float16
QKV = [normal(2, 100, 3, 32, dtype=HALF, seed=seed) for seed in range(3)]
ATTENTION_SIZES = {"batch": 2, "heads": 3, "seq_len": 100, "dim": 32, "rows": 32, "keys": 32}

CASES: dict[str, tuple[str, dict[str, object], list[torch.Tensor], torch.Tensor]] = {
    "softmax": (PADDED_SOFTMAX, {"M": 10, "N": 100, "P": 128}, [normal(10, 100) * 3], torch.empty(10, 100)),
    "gemm": (
        GEMM,
        {"M": 100, "N": 70, "K": 50, "TB": True},
        [normal(100, 50, dtype=HALF), normal(70, 50, dtype=HALF, seed=1)],
        torch.empty(100, 70),
    ),
    "gemm, bias, gelu": (
        BIAS_GELU,
        {},
        [normal(70, 50, dtype=HALF), normal(50, 100, dtype=HALF, seed=1), normal(100, dtype=HALF, seed=2)],
        torch.empty(70, 100, dtype=HALF),
    ),
    "rows normalised": (NORMALISED, {"M": 10, "N": 40}, [normal(10, 40)], torch.empty(10, 40)),
    "attention": (ATTENTION, ATTENTION_SIZES, QKV, torch.empty_like(QKV[0])),
    "causal attention": (ATTENTION, {**ATTENTION_SIZES, "is_causal": True}, QKV, torch.empty_like(QKV[0])),
}


def for_a_cpu(ir: dict[str, Any]) -> str:
    """The IR as TileLang's C backend takes it: tiles are local arrays, parallel loops serial ones."""
    for node in ir["nodes"]:
        if node["type"] == "ffi.String" and node["data"] in ("shared", "shared.dyn", "local.fragment"):
            node["data"] = "local"
        if node["type"] == "tirx.For" and node["data"]["kind"] == 1:
            node["data"]["kind"] = 0
        if node["type"] == "tirx.For":
            ir["nodes"][node["data"]["annotations"]] = {"type": "ffi.Map", "data": []}
    return json.dumps(ir)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_tilelangs_own_backend(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tilelang
    from tilelang import tvm

    monkeypatch.setenv("TILELANG_DISABLE_CACHE", "1")
    source, arguments, inputs, like = CASES[name]
    program = compiled({name: (source, arguments)}, tmp_path)
    found = program.output(name, inputs, like, tmp_path)
    theirs = torch.full_like(like, float("nan"))
    func = tvm.ir.load_json(for_a_cpu(document(source, **arguments).json))
    built = tilelang.compile(
        func,
        target="c",
        execution_backend="cython",
        pass_configs={"tirx.disable_vectorize": True},
        compile_flags=["-O1"],
    )
    built(*inputs, theirs)
    tolerance = 2e-3 if like.dtype is HALF else 2e-5
    torch.testing.assert_close(found.double(), theirs.double(), rtol=tolerance, atol=tolerance)
