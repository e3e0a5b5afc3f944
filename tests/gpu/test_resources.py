"""What the driver says of compiled kernels, beside what cuobjdump reads in their binaries.

    python -m pytest -o addopts= tests/gpu/test_resources.py -ra

Prints one table, also where pytest captures what tests print. Compiles four kernels: some 20 seconds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.device.cuda.kernels import ADD, GEMM
from tests.tracing import prim_func
from tlpuzzles.device.cuda import devices
from tlpuzzles.verdict.measured import Compiled

LARGE = {"M": 1024, "N": 1024, "K": 1024}
KERNELS: dict[str, tuple[str, dict[str, object], dict[str, object]]] = {
    "add": (ADD, {"N": 1 << 20}, {}),
    "gemm": (GEMM, {**LARGE, "bm": 128, "bn": 128, "stages": 2}, {}),
    "gemm, fast math": (GEMM, {**LARGE, "bm": 128, "bn": 64}, {"tl.enable_fast_math": True}),
    "gemm that spills": (GEMM, {**LARGE, "bm": 128, "bn": 256}, {}),
}
"""Source, arguments, pass configs. The last has 256 sums for a thread, which has 255 registers."""
RESERVED = 2048
"""Bytes by which static shared memory may seem larger: on an H100 1 KiB of the system's and up to 1 KiB of padding."""


@pytest.fixture(scope="module")
def arch() -> Iterator[str]:
    found = devices.find()
    if not found.gpus:
        pytest.skip(f"no GPU: {found.why}")
    import torch

    major, minor = torch.cuda.get_device_capability()
    yield f"sm_{major}{minor}" + ("a" if major == 9 else "")
    torch.cuda.empty_cache()


@pytest.fixture(scope="module")
def kernels(arch: str) -> dict[str, Any]:
    """Compiled side by side, as the grader compiles them."""
    import tilelang

    # Traced one after the other: two threads would make one module at the same time.
    traced = {name: prim_func(source, **arguments) for name, (source, arguments, _) in KERNELS.items()}

    def compile_one(name: str) -> Any:
        configs = KERNELS[name][2]
        target = {"kind": "cuda", "arch": arch}
        return tilelang.compile(
            traced[name], target=target, execution_backend="tvm_ffi", pass_configs=dict(configs), verbose=False
        )

    with ThreadPoolExecutor(len(KERNELS)) as pool:
        return dict(zip(KERNELS, pool.map(compile_one, KERNELS), strict=True))


@pytest.fixture(scope="module")
def told(arch: str, kernels: dict[str, Any]) -> dict[str, Compiled]:
    from tlpuzzles.device.cuda.resources import compiled

    return {name: compiled(kernel, arch, KERNELS[name][2]) for name, kernel in kernels.items()}


def test_everything_is_found_out(told: dict[str, Compiled], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print("\n| kernel | registers | spilled | shared | threads | blocks | instructions |\n|" + 7 * "---|")
        for name, one in told.items():
            print(
                f"| {name} | {one.registers} | {one.spill_bytes} | {one.shared_bytes} | {one.threads} "
                f"| {one.blocks_per_sm} | {', '.join(one.instructions)} |"
            )
    for one in told.values():
        assert None not in (one.registers, one.spill_bytes, one.shared_bytes, one.threads, one.blocks_per_sm)
        assert one.blocks_per_sm is not None
        assert one.threads is not None
        assert 1 <= one.blocks_per_sm <= 2048 // one.threads


def test_spills_are_seen_and_only_where_there_are_some(told: dict[str, Compiled]) -> None:
    assert {name for name, one in told.items() if one.spill_bytes} == {"gemm that spills"}


def test_shared_memory_is_that_of_all_stages(told: dict[str, Compiled], arch: str) -> None:
    dynamic = 2 * (128 * 32 + 32 * 128) * 2
    shared = told["gemm"].shared_bytes
    assert shared is not None
    assert dynamic <= shared <= dynamic + RESERVED
    assert (told["add"].shared_bytes or 0) <= RESERVED


def test_threads_are_those_that_run(told: dict[str, Compiled], arch: str) -> None:
    assert told["add"].threads == 256
    assert told["gemm"].threads == (256 if arch == "sm_90a" else 128)  # an H100's 128 producers are counted


def test_a_kernel_of_few_registers_fills_a_multiprocessor(told: dict[str, Compiled]) -> None:
    import torch

    most = torch.cuda.get_device_properties(0).max_threads_per_multi_processor
    assert told["add"].blocks_per_sm == most // 256


def test_a_binary_for_another_gpu_tells_nothing(arch: str) -> None:
    import tilelang

    from tlpuzzles.device.cuda.resources import compiled

    other = "sm_75" if arch != "sm_75" else "sm_80"
    kernel = tilelang.compile(
        prim_func(ADD, N=3000), target={"kind": "cuda", "arch": other}, execution_backend="tvm_ffi", verbose=False
    )
    found = compiled(kernel, other, {})
    assert (found.threads, found.registers, found.spill_bytes, found.blocks_per_sm) == (256, None, None, None)


@pytest.mark.parametrize("name", KERNELS)
def test_the_driver_agrees_with_cuobjdump(
    told: dict[str, Compiled], kernels: dict[str, Any], arch: str, name: str, tmp_path: Path
) -> None:
    from tlpuzzles.device.cuda.resources import binary_of, launches

    folder = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin"
    cuobjdump = shutil.which("cuobjdump") or shutil.which("cuobjdump", path=str(folder))
    if cuobjdump is None:
        pytest.skip("cuobjdump is not installed")
    kernel = kernels[name]
    source = kernel.get_kernel_source()
    file = tmp_path / "kernel.cubin"
    file.write_bytes(binary_of(source, arch, KERNELS[name][2]))
    printed = subprocess.run(
        [cuobjdump, "--dump-resource-usage", str(file)], capture_output=True, text=True, check=True
    ).stdout
    numbers = {key: int(value) for key, value in re.findall(r"\b(REG|STACK|SHARED|LOCAL):(\d+)", printed)}
    (launch,) = launches(source, kernel.get_host_source())
    found = told[name]
    assert found.registers == numbers["REG"], printed
    assert found.spill_bytes == numbers["STACK"] + numbers["LOCAL"], printed
    assert found.shared_bytes is not None
    assert launch.dynamic_bytes is not None
    assert abs(found.shared_bytes - launch.dynamic_bytes - numbers["SHARED"]) <= RESERVED, printed
