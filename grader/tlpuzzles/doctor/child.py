"""Run with `python -c`: imports one package, or asks the GPU's driver, and writes what it learnt to a file as JSON.

In a process of its own because each of these can end the process, or never return. Beside torch and TileLang it imports
nothing of tlpuzzles, as what is imported first decides which CUDA libraries are loaded. Exceptions are left to Python,
which prints them.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path


def torch_facts() -> dict[str, object]:
    import torch

    facts = {"version": torch.__version__, "cuda": torch.version.cuda or "", "hip": torch.version.hip or ""}
    if torch.version.cuda:
        facts["available"] = "yes" if torch.cuda.is_available() else "no"
        facts["architectures"] = " ".join(torch.cuda.get_arch_list())
    return {"facts": facts}


def tilelang_facts() -> dict[str, object]:
    import tilelang
    import tilelang.env

    return {"facts": {"version": tilelang.__version__, "cuda_home": tilelang.env.CUDA_HOME or ""}}


def driver_facts() -> dict[str, object]:
    """Through libcuda, which every driver has, also where nvidia-smi is missing (Colab's containers, WSL)."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {"missing": True}
    number = ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(number))
    answer: dict[str, object] = {"cuda": [number.value // 1000, number.value % 1000 // 10], "gpus": []}
    status = cuda.cuInit(0)
    if status:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(status, ctypes.byref(text))
        return {**answer, "error": (text.value or b"an unknown error").decode(), "status": status}
    cuda.cuDeviceGetCount(ctypes.byref(number))
    return {**answer, "gpus": [_gpu(cuda, index) for index in range(number.value)]}


def _gpu(cuda: ctypes.CDLL, index: int) -> dict[str, object]:
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    memory, name = ctypes.c_size_t(), ctypes.create_string_buffer(256)
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    # 75 and 76: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR in cuda.h.
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
    return {"name": name.value.decode(), "capability": [major.value, minor.value], "memory": memory.value}


def timing_facts() -> dict[str, object]:
    """Of the GPU that kernels are graded on: what disturbs timing there."""
    from tlpuzzles.device.cuda import devices, lock
    from tlpuzzles.device.cuda.machine import Watching

    watching = Watching()
    watching.wait_until_quiet(1.0)
    watching.sample()
    seen = watching.seen()
    return {
        "busy": seen.busy,
        "others": seen.others,
        "throttled": seen.throttled,
        "persistent": watching.persistent,
        "lock_error": next((lock.why_unavailable(gpu.uuid or gpu.name) for gpu in devices.find().gpus), ""),
    }


QUESTIONS = {"torch": torch_facts, "tilelang": tilelang_facts, "driver": driver_facts, "timing": timing_facts}


def main() -> None:
    question, file = sys.argv[1:]
    started = time.perf_counter()
    answer = {**QUESTIONS[question](), "seconds": time.perf_counter() - started}
    Path(file).write_text(json.dumps(answer), "utf-8")


if __name__ == "__main__":
    main()
