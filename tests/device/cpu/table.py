"""What the construct table is made of: kernels that must run right on a CPU, and those that must be refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from textwrap import dedent, indent

import torch

Inputs = list[torch.Tensor | int | float]


def vector(lines: str, launch: str = "T.Kernel(T.ceildiv(N, 64), threads=128) as bx", before: str = "") -> str:
    """A kernel from A(N) to B(N) with these lines in its launch."""
    return kernel(lines, "A: T.Tensor((N,), dtype), B: T.Tensor((N,), dtype)", launch, "N, dtype='float32'", before)


def matrix(lines: str, launch: str = "T.Kernel(1, threads=128) as bx", before: str = "", out: str = "(M, N)") -> str:
    """A kernel from A(M, N) to B."""
    params = f"A: T.Tensor((M, N), dtype), B: T.Tensor({out}, dtype)"
    return kernel(lines, params, launch, "M, N, dtype='float32'", before)


def kernel(lines: str, params: str, launch: str, signature: str = "", before: str = "") -> str:
    body = indent(dedent(lines).strip("\n"), " " * 12)
    return (
        f"{dedent(before)}\ndef kernel({signature}):\n    @T.prim_func\n    def main({params}):\n"
        f"        with {launch}:\n{body}\n    return main\n"
    )


@dataclass(frozen=True)
class Runs:
    """A construct that runs: `expected` computes its output in float64 (or in exact integers) from the inputs."""

    source: str
    inputs: Callable[[], Inputs]
    expected: Callable[..., torch.Tensor]
    arguments: Mapping[str, object] = field(default_factory=dict)
    out: torch.Tensor | None = None
    """Of the output's shape and dtype; None: like the first input."""
    tolerance: float = 2e-6
    """Relative, of each element; 0 for bit equality."""


@dataclass(frozen=True)
class Refused:
    """A construct that is refused: by what name, and what its reason must mention."""

    source: str
    construct: str
    mentions: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    line_of: str = ""
    """Text of the line that is blamed."""


def normal(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def whole(*shape: int, dtype: torch.dtype = torch.int32, low: int = -50, high: int = 50) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(1)).to(dtype)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x.double(), -1)


ELEMENTWISE = """
for i in T.Parallel(64):
    x = A[bx * 64 + i]
    B[bx * 64 + i] = {}
"""
COPY_IN = "s = T.alloc_shared((64,), dtype)\nT.copy(A[bx * 64], s)\n"
COPY_OUT = "T.copy(s, B[bx * 64])\n"


def mathematics(
    expression: str, function: Callable[[torch.Tensor], torch.Tensor], scale: float = 1.0, **kwargs: object
) -> Runs:
    return Runs(
        vector(ELEMENTWISE.format(expression)),
        lambda: [normal(100) * scale],
        lambda a: function(a.double()),
        {"N": 100},
        **kwargs,  # type: ignore[arg-type]
    )


def half_mathematics(expression: str, function: Callable[[torch.Tensor], torch.Tensor]) -> Runs:
    return Runs(
        vector(ELEMENTWISE.format(expression)),
        lambda: [normal(100, dtype=torch.float16)],
        lambda a: function(a.double()),
        {"N": 100, "dtype": "float16"},
        tolerance=4e-3,
    )


def exact(expression: str, dtype: torch.dtype, function: Callable[[torch.Tensor], torch.Tensor]) -> Runs:
    """Element by element the very bits that torch gives in that dtype."""
    name = str(dtype).removeprefix("torch.")
    draw = (lambda: [normal(100, dtype=dtype)]) if dtype.is_floating_point else (lambda: [whole(100, dtype=dtype)])
    return Runs(vector(ELEMENTWISE.format(expression)), draw, function, {"N": 100, "dtype": name}, tolerance=0)


PADDED_SOFTMAX = kernel(
    """
    x = T.alloc_fragment((4, P), "float32")
    top = T.alloc_fragment((4,), "float32")
    total = T.alloc_fragment((4,), "float32")
    for i, j in T.Parallel(4, P):
        x[i, j] = T.if_then_else(j < N, T.cast(X[bx * 4 + i, j], "float32"), -T.infinity("float32"))
    T.reduce_max(x, top, dim=1)
    for i, j in T.Parallel(4, P):
        x[i, j] = T.exp(x[i, j] - top[i])
    T.reduce_sum(x, total, dim=1)
    for i, j in T.Parallel(4, P):
        if j < N:
            Y[bx * 4 + i, j] = x[i, j] / total[i]
    """,
    "X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)",
    "T.Kernel(T.ceildiv(M, 4), threads=128) as bx",
    "M, N, P, dtype='float32'",
)


def padded_softmax(n: int, rows: Callable[[], torch.Tensor] | None = None) -> Runs:
    return Runs(
        PADDED_SOFTMAX,
        lambda: [rows() if rows else normal(10, n) * 3 + 200],
        softmax,
        {"M": 10, "N": n, "P": 1 << (n - 1).bit_length() if n > 1 else 1},
        tolerance=5e-5,
    )


def masked_rows() -> torch.Tensor:
    x = normal(10, 33)
    x[:, ::3] = -torch.inf
    return x


def reduction(
    name: str, function: Callable[[torch.Tensor], torch.Tensor], dim: int = 1, dtype: str = "float32", **kwargs: object
) -> Runs:
    rows = 24 if dim == 1 else 40
    lines = f"""
    f = T.alloc_fragment((24, 40), dtype)
    r = T.alloc_fragment(({rows},), dtype)
    T.copy(A, f)
    T.reduce_{name}(f, r, dim={dim})
    T.copy(r, B)
    """
    element = getattr(torch, dtype)
    draw = (
        (lambda: [normal(24, 40, dtype=element)])
        if element.is_floating_point
        else (lambda: [whole(24, 40, dtype=element)])
    )
    return Runs(
        matrix(lines, out=f"({rows},)"),
        draw,
        lambda a: function(a.double() if element.is_floating_point else a),
        {"M": 24, "N": 40, "dtype": dtype},
        out=torch.empty(rows, dtype=element),
        **kwargs,  # type: ignore[arg-type]
    )


def folded(function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    def fold(a: torch.Tensor) -> torch.Tensor:
        result = a[:, 0]
        for column in range(1, a.shape[1]):
            result = function(result, a[:, column])
        return result

    return fold


GEMM = kernel(
    """
    a = T.alloc_shared((BK, BM) if TA else (BM, BK), dtype)
    b = T.alloc_shared((BN, BK) if TB else (BK, BN), dtype)
    c = T.alloc_fragment((BM, BN), accum)
    T.clear(c)
    for k in T.Pipelined(T.ceildiv(K, BK), num_stages=2):
        if TA:
            T.copy(A[k * BK, by * BM], a)
        else:
            T.copy(A[by * BM, k * BK], a)
        if TB:
            T.copy(B[bx * BN, k * BK], b)
        else:
            T.copy(B[k * BK, bx * BN], b)
        T.gemm(a, b, c, transpose_A=TA, transpose_B=TB)
    T.copy(c, C[by * BM, bx * BN])
    """,
    """A: T.Tensor((K, M) if TA else (M, K), dtype), B: T.Tensor((N, K) if TB else (K, N), dtype),
             C: T.Tensor((M, N), out_dtype)""",
    "T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=128) as (bx, by)",
    "M, N, K, BM=32, BN=48, BK=16, TA=False, TB=False, dtype='float16', accum='float32', out_dtype='float32'",
)


def gemm(m: int, n: int, k: int, tolerance: float = 1e-5, dtype: str = "float16", **arguments: object) -> Runs:
    ta, tb = bool(arguments.get("TA")), bool(arguments.get("TB"))
    element = getattr(torch, dtype)

    def draw(*shape: int, seed: int) -> torch.Tensor:
        return normal(*shape, dtype=element, seed=seed) if element.is_floating_point else whole(*shape, dtype=element)

    return Runs(
        GEMM,
        lambda: [draw(*((k, m) if ta else (m, k)), seed=1), draw(*((n, k) if tb else (k, n)), seed=2)],
        lambda a, b: (a.T if ta else a).double() @ (b.T if tb else b).double(),
        {"M": m, "N": n, "K": k, "dtype": dtype, **arguments},
        out=torch.empty(m, n, dtype=getattr(torch, str(arguments.get("out_dtype", "float32")))),
        tolerance=tolerance,
    )
