"""What can be told of a compiled kernel without a GPU; the driver has a stand-in. tests/gpu asks a real one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tilelang
import torch
from tilelang.cache import _dispatch_map
from tilelang.contrib import nvcc

from tests.device.cuda.kernels import ADD, GEMM, ROW_MAX
from tests.device.cuda.test_compiling import NVCC
from tests.tracing import prim_func
from tlpuzzles.course.recorded import Recording, recordings
from tlpuzzles.device.cuda import resources
from tlpuzzles.device.cuda.lower import cuda_source
from tlpuzzles.device.cuda.resources import binary_of, compiled, features, launches
from tlpuzzles.verdict.features import Feature
from tlpuzzles.verdict.measured import Compiled

Ask = Callable[..., Compiled]

LANDMARKS = {
    "mma": {Feature.MMA},
    "wgmma": {Feature.WGMMA},
    "ldmatrix": {Feature.LDMATRIX},
    "cp.async": {Feature.CP_ASYNC},
    "tma": {Feature.TMA_LOADS, Feature.TMA_STORES},
}
RECORDED = pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.id)
EXPONENTIALS = """
@tilelang.jit
def kernel(N=4096, block=1024, threads=256):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=threads) as bx:
            for i in T.Parallel(block):
                C[bx * block + i] = T.exp(A[bx * block + i])
    return main
"""


def recorded(name: str) -> Recording:
    return next(recording for recording in recordings() if recording.id == name)


@RECORDED
def test_the_launch_is_read_from_both_sources(recording: Recording) -> None:
    (launch,) = launches(recording.device_source, recording.host_source)
    assert launch.threads == recording.landmarks["launch_bounds"]
    assert launch.dynamic_bytes == recording.dynamic_bytes


@RECORDED
def test_instructions_are_those_that_the_source_calls(recording: Recording) -> None:
    found = set(features(recording.device_source, {}))
    for landmark, expected in LANDMARKS.items():
        assert bool(found & expected) == bool(recording.landmarks[landmark]), landmark


def used(source: str, arch: str, pass_configs: dict[str, object] | None = None, **arguments: object) -> set[Feature]:
    configs = pass_configs or {}
    return set(features(cuda_source(prim_func(source, **arguments), configs, arch), configs))


def test_vector_loads_and_stores_are_told_from_single_elements() -> None:
    both = {Feature.VECTOR_LOADS, Feature.VECTOR_STORES}
    assert used(EXPONENTIALS, "sm_80") >= both
    assert used(EXPONENTIALS, "sm_80", {"tl.enable_lower_ldgstg": True}) >= both
    assert not used(EXPONENTIALS, "sm_80", block=256) & both
    assert not used(EXPONENTIALS, "sm_80", N=4095) & both


@pytest.mark.parametrize(("arch", "whole"), [("sm_80", Feature.VECTOR_STORES), ("sm_90a", Feature.TMA_STORES)])
def test_a_result_by_way_of_shared_memory_is_told_from_scraps(arch: str, whole: Feature) -> None:
    assert whole in features(recorded(f"gemm.{arch}").device_source, {})
    assert not used(GEMM, arch) & {Feature.VECTOR_STORES, Feature.TMA_STORES}


def test_a_pipeline_with_producer_warps_is_told_from_a_plain_loop() -> None:
    pipeline = {Feature.TMA_LOADS, Feature.MBARRIERS, Feature.PRODUCERS}
    assert pipeline <= set(features(recorded("gemm.sm_90a").device_source, {}))
    assert not used(GEMM, "sm_90a", stages=0) & pipeline


def test_a_swizzle_is_seen() -> None:
    assert Feature.SWIZZLE in features(recorded("bias-gelu.sm_80").device_source, {})
    assert Feature.SWIZZLE not in features(recorded("gemm.sm_80").device_source, {})


def test_fast_math_leaves_no_precise_functions() -> None:
    assert Feature.PRECISE in used(EXPONENTIALS, "sm_80")
    assert Feature.PRECISE not in used(EXPONENTIALS, "sm_80", {"tl.enable_fast_math": True})
    assert Feature.PRECISE not in used(ROW_MAX, "sm_80")


class Kernel:
    """The sources of a compiled kernel, or of a program with several like it."""

    def __init__(self, times: int) -> None:
        self._recording, self._times = recorded("gemm-4-stages.sm_80"), times

    def get_kernel_source(self) -> str:
        source = self._recording.device_source
        return "".join(
            source.replace("main_kernel", f"main_kernel_{i}" if i else "main_kernel") for i in range(self._times)
        )

    def get_host_source(self) -> str:
        return self._recording.host_source


class Driver:
    """Answers as the CUDA driver does, for one kernel with 168 registers; the call named in `failing` fails."""

    def __init__(self, failing: str = "", failing_attribute: int = -1) -> None:
        self.failing_attribute = failing_attribute
        self.allowed = 48 << 10
        self.loaded: list[str] = []
        if failing:
            setattr(self, failing, lambda *_: 1)

    def cuModuleLoadData(self, _module: Any, binary: bytes) -> int:
        self.loaded.append(binary.decode())
        return 0

    def cuModuleUnload(self, _module: Any) -> int:
        self.loaded.pop()
        return 0

    def cuModuleGetFunction(self, _function: Any, _module: Any, name: bytes) -> int:
        return 0 if name == b"main_kernel" else 500

    def cuFuncGetAttribute(self, value: Any, attribute: int, _function: Any) -> int:
        if attribute == self.failing_attribute:
            return 1
        value._obj.value = {1: 64, 3: 16, 4: 168}[attribute]
        return 0

    def cuFuncSetAttribute(self, _function: Any, attribute: int, value: int) -> int:
        assert attribute == 8
        self.allowed = value
        return 0

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(
        self, blocks: Any, _function: Any, _threads: int, dynamic: Any
    ) -> int:
        blocks._obj.value = 2 if dynamic.value <= self.allowed else 0
        return 0


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Asks a driver about a GEMM with 64 KiB of dynamic shared memory, whose binary is in TileLang's cache."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(resources, "binary_of", lambda *_: b"cubin")

    def ask(driver: Driver | None, times: int = 1) -> Compiled:
        monkeypatch.setattr(resources, "_driver", lambda: driver)
        found = compiled(Kernel(times), "sm_80", {})
        assert driver is None or driver.loaded == []
        assert found.instructions == ("mma.sync", "ldmatrix", "cp.async", "vector stores")
        return found

    return ask


def test_numbers_are_the_drivers(ask: Ask) -> None:
    found = ask(Driver())
    assert (found.registers, found.spill_bytes, found.threads) == (168, 16, 128)
    assert found.shared_bytes == 64 + 65536
    assert found.blocks_per_sm == 2


@pytest.mark.parametrize("driver", [None, Driver("cuModuleLoadData"), Driver("cuModuleGetFunction")])
def test_what_cannot_be_found_out_is_not_zero(ask: Ask, driver: Driver | None) -> None:
    found = ask(driver)
    assert (found.registers, found.spill_bytes, found.shared_bytes, found.blocks_per_sm) == (None,) * 4
    assert found.threads == 128


def test_one_answer_that_fails_takes_no_other_with_it(ask: Ask) -> None:
    for name in ("cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuFuncSetAttribute"):
        found = ask(Driver(name))
        assert (found.registers, found.blocks_per_sm) == (168, None)
    without_local = ask(Driver(failing_attribute=3))
    assert (without_local.registers, without_local.spill_bytes, without_local.blocks_per_sm) == (168, None, 2)
    without_static = ask(Driver(failing_attribute=1))
    assert (without_static.spill_bytes, without_static.shared_bytes) == (16, None)


def test_without_nvcc_and_cache_the_sources_are_read_all_the_same(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "binary_of", no_nvcc)
    found = ask(Driver())
    assert (found.registers, found.threads) == (None, 128)


def test_of_several_kernels_only_the_instructions_are_told(ask: Ask) -> None:
    found = ask(Driver(), times=2)
    assert (found.threads, found.registers, found.spill_bytes) == (None, None, None)


def no_nvcc(*_: object, **__: object) -> None:
    raise RuntimeError("nvcc is not here")


@pytest.mark.skipif(not NVCC.exists(), reason="nvcc is not installed")
def test_the_binary_is_the_one_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILELANG_CACHE_DIR", str(tmp_path))
    configs: dict[str, object] = {"tl.enable_fast_math": True, "tl.ptxas_register_usage_level": 5}

    def compile_once() -> Any:
        monkeypatch.setattr(_dispatch_map["tvm_ffi"], "_memory_cache", {})
        return tilelang.compile(
            prim_func(ADD, N=5000),
            target={"kind": "cuda", "arch": "sm_80"},
            execution_backend="tvm_ffi",
            pass_configs=dict(configs),
            verbose=False,
        )

    fresh = compile_once()
    monkeypatch.setattr(nvcc, "compile_cuda", no_nvcc)
    (file,) = tmp_path.rglob("kernel.cubin")
    assert binary_of(fresh.get_kernel_source(), "sm_80", configs) == file.read_bytes()
    again = compile_once()
    assert again.artifact is None  # from the disk
    assert binary_of(again.get_kernel_source(), "sm_80", configs) == file.read_bytes()
    with pytest.raises(RuntimeError, match="nvcc"):
        binary_of(again.get_kernel_source(), "sm_80", {})  # another binary, which nobody made
    found = compiled(again, "sm_80", configs)
    assert (found.threads, found.spill_bytes) == (256, None if not torch.cuda.is_available() else 0)
