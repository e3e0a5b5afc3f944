"""The CPU device tells what a GPU does: every kernel of its construct table gives the same there, built by TileLang.

A kernel that TileLang does not compile for this GPU is skipped, with its message: there the CPU has nothing to
foretell.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from tests.device.cpu.constructs import TILES
from tests.device.cpu.control import CONTROLS
from tests.device.cpu.table import Runs
from tests.tracing import document
from tlpuzzles.device.cuda import devices
from tlpuzzles.device.cuda.load import load

ROWS: dict[str, Runs] = {**TILES, **CONTROLS}
THREADS = 12

NOT_ALIKE = dict.fromkeys(
    ("float16 rounds", "bfloat16 rounds"), "nvcc fuses a multiplication and an addition, which rounds once, not twice"
)
"""Where the two differ, and why that is so."""


@pytest.fixture(scope="module")
def kernels() -> Iterator[dict[str, Any]]:
    """Every kernel compiled, or the exception that compiling it raised."""
    found = devices.find()
    if not found.gpus:
        pytest.skip(f"no GPU: {found.why}")
    import tilelang

    arch = "sm_{}{}{}".format(*found.gpus[0].capability, "a" if found.gpus[0].capability == (9, 0) else "")

    def compiled(name: str) -> Any:
        try:
            return tilelang.compile(functions[name], target={"kind": "cuda", "arch": arch})
        except Exception as error:  # noqa: BLE001 - TileLang raises whatever the bug it met makes it raise
            return error

    functions = {name: load(document(row.source, **row.arguments)) for name, row in ROWS.items()}
    with ThreadPoolExecutor(THREADS) as pool:
        yield dict(zip(ROWS, pool.map(compiled, ROWS), strict=True))


@pytest.mark.parametrize("name", ROWS)
def test_a_gpu_gives_what_the_cpu_device_gives(name: str, kernels: dict[str, Any]) -> None:
    row, kernel = ROWS[name], kernels[name]
    if isinstance(kernel, Exception):
        pytest.skip(f"TileLang does not compile it here: {str(kernel).strip().splitlines()[-1][:200]}")
    inputs = row.inputs()
    first = next(x for x in inputs if isinstance(x, torch.Tensor))
    like = row.out if row.out is not None else first
    output = torch.full_like(like, float("nan") if like.is_floating_point() else 77).cuda()
    kernel(*(_on_gpu(x) for x in inputs), output)
    torch.cuda.synchronize()
    expected = row.expected(*inputs).double()
    # A GPU's exp and the like differ in last bits; its tensor cores round float32 factors to TF32.
    tolerance = max(row.tolerance, 2e-3 if "T.gemm" in row.source else 2e-5)
    if name in NOT_ALIKE:
        pytest.xfail(NOT_ALIKE[name])
    torch.testing.assert_close(output.cpu().double(), expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def _on_gpu(value: object) -> object:
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cuda").copy_(value)
