"""What a learner's file meets in the tracer instead of a GPU.

Files written for a notebook ask for a GPU when they are loaded, and often build a kernel there. In the tracer there is
no GPU: questions about it are answered for the architecture traced for, kernels are traced and not compiled, and a
launch is refused, so that the learner is told which line of the file launches.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import FrameType
from typing import Any

from tlpuzzles.device.limits import A100, architecture

CAPABILITIES = {"sm_75": (7, 5), "sm_80": (8, 0), "sm_89": (8, 9), "sm_90a": (9, 0), "cpu": (8, 0)}
"""(major, minor) compute capability. For a CPU grading that of an A100, the GPU that TileLang's examples assume."""
_NAMES = {"sm_75": "Tesla T4", "sm_80": "NVIDIA A100", "sm_89": "NVIDIA L4", "sm_90a": "NVIDIA H100"}
_PROCESSORS = {"sm_75": 40, "sm_80": 108, "sm_89": 58, "sm_90a": 132, "cpu": 108}
"""Streaming multiprocessors, from NVIDIA's data sheets."""
_MEMORY = {"sm_75": 15 << 30, "sm_80": 40 << 30, "sm_89": 22 << 30, "sm_90a": 80 << 30, "cpu": 40 << 30}


class LaunchRefused(Exception):
    """A kernel was launched, or a tensor put on a GPU, while the file was being traced."""


@dataclass
class Questions:
    """Whether the file asked about the GPU: only then can its kernel depend on the architecture."""

    asked: bool = False


def install(arch: str) -> Questions:
    """Replaces torch.cuda's questions and TileLang's compilation in this process, which is the tracer's own."""
    questions = Questions()
    _answer_cuda(arch, questions)
    _hold_kernels()
    return questions


_THREADS = {"sm_75": 1024, "sm_80": 2048, "sm_89": 1536, "sm_90a": 2048, "cpu": 2048}
"""Threads that a multiprocessor holds: CUDA C++ Programming Guide 13.0, "Technical Specifications"."""
_L2 = {"sm_75": 4 << 20, "sm_80": 40 << 20, "sm_89": 48 << 20, "sm_90a": 50 << 20, "cpu": 40 << 20}


@dataclass(frozen=True)
class _Properties:
    """What torch tells of a GPU, by torch's names."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    max_threads_per_multi_processor: int
    L2_cache_size: int
    shared_memory_per_block_optin: int
    shared_memory_per_multiprocessor: int
    shared_memory_per_block: int = 48 << 10
    regs_per_multiprocessor: int = 65536
    warp_size: int = 32


def _answer_cuda(arch: str, questions: Questions) -> None:
    import torch

    major, minor = CAPABILITIES[arch]
    shared = (architecture(arch) or A100).shared_bytes
    properties = _Properties(
        _NAMES.get(arch, "no GPU (tracing)"),
        major,
        minor,
        _MEMORY[arch],
        _PROCESSORS[arch],
        _THREADS[arch],
        _L2[arch],
        shared_memory_per_block_optin=shared,
        # From sm_80 on the system keeps a KiB of each block's for itself.
        shared_memory_per_multiprocessor=shared + (1 << 10 if major >= 8 else 0),
    )
    answers: dict[str, Any] = {
        "is_available": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_capability": (major, minor),
        "get_device_name": properties.name,
        "get_device_properties": properties,
        "get_arch_list": [arch.rstrip("a")],
        "is_bf16_supported": major >= 8,
        "synchronize": None,
        "empty_cache": None,
        "set_device": None,
        "init": None,
    }
    harmless = {"synchronize", "empty_cache", "set_device", "init", "is_available", "device_count", "current_device"}

    def answer(name: str) -> Any:
        def reply(*_: Any, **__: Any) -> Any:
            questions.asked = questions.asked or name not in harmless
            return answers[name]

        return reply

    for name in answers:
        setattr(torch.cuda, name, answer(name))

    def refuse(*_: Any, **__: Any) -> None:
        raise LaunchRefused("puts a tensor on the GPU")

    torch.cuda._lazy_init = refuse
    torch.Tensor.cuda = refuse  # type: ignore[method-assign, assignment]


class TracedKernel:
    """Stands for a compiled kernel: knows its IR, cannot be launched."""

    def __init__(self, prim_func: Any, out_idx: Any = None, pass_configs: Any = None) -> None:
        self.prim_func = prim_func
        self.out_idx = out_idx
        self.pass_configs = pass_configs or {}

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise LaunchRefused("launches a kernel")

    def get_kernel_source(self, *_: Any, **__: Any) -> str:
        return ""

    def get_host_source(self, *_: Any, **__: Any) -> str:
        return ""

    def show_source(self, *_: Any, **__: Any) -> None:
        return None

    def get_profiler(self, *_: Any, **__: Any) -> Any:
        raise LaunchRefused("profiles a kernel")


def _hold_kernels() -> None:
    import tilelang
    from tilelang.autotuner.tuner import AutoTuneImpl
    from tilelang.jit import JITImpl

    def call(self: Any, *args: Any, **kwargs: Any) -> TracedKernel:
        if self.initialize_jit_mode(*args, **kwargs) == "eager":
            raise LaunchRefused("launches a kernel")
        return traced(self, self.get_tir(*args, **kwargs))

    def compile_(func: Any = None, out_idx: Any = None, *_: Any, pass_configs: Any = None, **__: Any) -> TracedKernel:
        return TracedKernel(func, out_idx, pass_configs)

    def tune(self: Any, *args: Any, **kwargs: Any) -> TracedKernel:
        return call(self.jit_impl, *args, **kwargs)

    JITImpl.__call__ = call
    JITImpl.compile = lambda self, *args, **kwargs: traced(self, self.get_tir(*args, **kwargs))
    AutoTuneImpl.__call__ = tune
    tilelang.compile = compile_


def traced(jit: Any, prim_func: Any) -> TracedKernel:
    """The stand-in for what a `JITImpl` would have compiled from this PrimFunc."""
    return TracedKernel(prim_func, jit.out_idx, jit.pass_configs)


def line_in(path: str, frame: FrameType | None = None) -> int | None:
    """The innermost line of `path` on the stack."""
    frame = frame or inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back
    return None
