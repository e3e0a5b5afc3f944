"""What the compiler made of a kernel: registers and memory of its threads and blocks, and the instructions it uses.

Numbers come from the CUDA driver, which has them of the very binary that runs; instructions from TileLang's sources.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from tilelang.cuda.backend import tilelang_callback_cuda_compile
from tilelang.transform.pass_config import normalize_pass_configs
from tvm.target import Target

from tlpuzzles.seeing import names
from tlpuzzles.verdict.features import Feature
from tlpuzzles.verdict.measured import Compiled

FAST_MATH = "tl.enable_fast_math"

_LIBRARIES = ("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1")
_SHARED_BYTES, _LOCAL_BYTES, _REGISTERS, _MOST_DYNAMIC = 1, 3, 4, 8
"""CUfunction_attribute of the driver API; the first is of static shared memory, the last a limit for dynamic."""

_DYNAMIC = "extern __shared__"
_LAUNCH_NUMBER = re.compile(r"v_int64\) = \(\(int64_t\)(\d+)\);")
"""In the host's source: an argument of a call. Of a launch: blocks, threads, and dynamic shared memory last, if any."""
_FEATURES = {
    Feature.WGMMA: names.WGMMA,
    Feature.MMA: names.MMA,
    Feature.LDMATRIX: names.LDMATRIX,
    Feature.TMA_LOADS: names.TMA_LOAD,
    Feature.TMA_STORES: names.TMA_STORE,
    Feature.CP_ASYNC: names.CP_ASYNC,
    Feature.MBARRIERS: names.MBARRIER_WAIT,
    Feature.PRODUCERS: names.PRODUCERS,
    Feature.VECTOR_LOADS: names.VECTOR_LOAD,
    Feature.VECTOR_STORES: names.VECTOR_STORE,
    Feature.SWIZZLE: names.SWIZZLE,
    Feature.PRECISE: names.PRECISE,
}


def compiled(kernel: Any, arch: str, pass_configs: Mapping[str, object]) -> Compiled:
    """What the compiler made of a `JITKernel` of `tilelang.compile` for `arch`, whose GPU is torch's current one.

    `pass_configs` are those that it was compiled with. With them TileLang finds its binary in its cache; without a
    cache nvcc compiles it once more, which takes seconds. Raises nothing: what could not be found out is None. Of a
    program with several kernels only the instructions are told, for the numbers differ from kernel to kernel.
    """
    source = kernel.get_kernel_source() or ""
    instructions = tuple(feature.value for feature in features(source, pass_configs))
    launched = launches(source, kernel.get_host_source() or "")
    if len(launched) != 1:
        return Compiled(instructions=instructions)
    (launch,) = launched
    loaded = _ask_driver(source, arch, pass_configs, launch)
    if loaded is None:
        return Compiled(threads=launch.threads, instructions=instructions)
    return Compiled(
        registers=loaded.registers,
        spill_bytes=loaded.local_bytes,
        shared_bytes=_sum(loaded.static_bytes, launch.dynamic_bytes),
        threads=launch.threads,
        blocks_per_sm=loaded.blocks_per_sm,
        instructions=instructions,
    )


@dataclass(frozen=True)
class Launch:
    """How the host's part starts one kernel."""

    name: str
    threads: int
    """Of a block, those included that TileLang adds."""
    dynamic_bytes: int | None
    """Shared memory asked for at launch; None where the host's source does not say."""


def launches(source: str, host: str) -> tuple[Launch, ...]:
    """Every kernel of a CUDA source, with what the host's source says of its launch."""
    bodies = names.KERNEL.split(source)[1:]
    return tuple(
        Launch(name, int(threads), _dynamic_bytes(name, host) if _DYNAMIC in body else 0)
        for threads, name, body in zip(bodies[::3], bodies[1::3], bodies[2::3], strict=True)
    )


def features(source: str, pass_configs: Mapping[str, object]) -> tuple[Feature, ...]:
    """What a CUDA source uses."""
    found = {feature for feature, pattern in _FEATURES.items() if re.search(pattern, source)}
    if pass_configs.get(FAST_MATH):
        found.discard(Feature.PRECISE)
    found |= {
        Feature.VECTOR_STORES if match["store"] is not None else Feature.VECTOR_LOADS
        for match in names.vector_accesses(source, names.tensors(source))
    }
    return tuple(feature for feature in Feature if feature in found)


def _dynamic_bytes(name: str, host: str) -> int | None:
    before, call, _ = host.partition(f"TVMFFIFunctionCall({name}_packed")
    numbers = _LAUNCH_NUMBER.findall(before)
    return int(numbers[-1]) if call and numbers else None


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


@dataclass(frozen=True)
class _Loaded:
    """What the driver says of a kernel that it has loaded."""

    registers: int | None
    local_bytes: int | None
    static_bytes: int | None
    blocks_per_sm: int | None


class _DriverError(Exception):
    """A call of the driver failed; the message has its name and its CUresult."""


def _ask_driver(source: str, arch: str, pass_configs: Mapping[str, object], launch: Launch) -> _Loaded | None:
    if not torch.cuda.is_available():
        return None
    driver = _driver()
    if driver is None:
        return None
    try:
        binary = binary_of(source, arch, pass_configs)
        torch.cuda.synchronize()  # a call of CUDA's runtime makes torch's context the thread's, for the driver's calls
        with _function(driver, binary, launch.name) as function:
            return _Loaded(
                registers=_attribute(driver, function, _REGISTERS),
                local_bytes=_attribute(driver, function, _LOCAL_BYTES),
                static_bytes=_attribute(driver, function, _SHARED_BYTES),
                blocks_per_sm=_blocks_per_sm(driver, function, launch),
            )
    except (_DriverError, RuntimeError, OSError, ValueError):  # the latter three: TileLang's, nvcc's and torch's
        return None


def binary_of(source: str, arch: str, pass_configs: Mapping[str, object]) -> bytes:
    """The cubin that TileLang made of a CUDA source with these pass configs, out of its cache if it is there.

    Raises RuntimeError, OSError or ValueError if it is not and nvcc cannot make it again.
    """
    target = Target({"kind": "cuda", "arch": arch})
    return bytes(tilelang_callback_cuda_compile(source, target, normalize_pass_configs(dict(pass_configs))))


def _driver() -> ctypes.CDLL | None:
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _call(driver: ctypes.CDLL, name: str, *arguments: Any) -> None:
    result = getattr(driver, name)(*arguments)
    if result != 0:
        raise _DriverError(f"{name}: {result}")


@contextmanager
def _function(driver: ctypes.CDLL, binary: bytes, name: str) -> Iterator[ctypes.c_void_p]:
    """A kernel of a cubin, loaded once more beside the copy that runs."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _call(driver, "cuModuleLoadData", ctypes.byref(module), binary)
    try:
        _call(driver, "cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        yield function
    finally:
        driver.cuModuleUnload(module)


def _attribute(driver: ctypes.CDLL, function: ctypes.c_void_p, attribute: int) -> int | None:
    value = ctypes.c_int()
    try:
        _call(driver, "cuFuncGetAttribute", ctypes.byref(value), attribute, function)
    except _DriverError:
        return None
    return value.value


def _blocks_per_sm(driver: ctypes.CDLL, function: ctypes.c_void_p, launch: Launch) -> int | None:
    if launch.dynamic_bytes is None:
        return None
    blocks = ctypes.c_int()
    dynamic = ctypes.c_size_t(launch.dynamic_bytes)
    try:
        # As TVM does before it launches: without it no block with more than 48 KiB fits.
        _call(driver, "cuFuncSetAttribute", function, _MOST_DYNAMIC, launch.dynamic_bytes)
        _call(
            driver,
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            ctypes.byref(blocks),
            function,
            launch.threads,
            dynamic,
        )
    except _DriverError:
        return None
    return blocks.value
