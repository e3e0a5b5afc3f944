"""Whether kernels can be compiled and run on the GPU of this machine; asked in a child, which opens the GPU."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace

import torch
from tilelang.contrib import nvcc
from tilelang.contrib.cc import get_cplus_compiler

from tlpuzzles.device.cuda import devices
from tlpuzzles.device.cuda.model import Probe

_NVCC_SECONDS = 20
_CPU_BUILD = (
    "this Python's torch {version} is a build for CPUs, so it cannot use the GPU; install torch's build for CUDA "
    "(pytorch.org/get-started has the command)"
)
_NO_NVCC = (
    "TileLang does not find nvcc, NVIDIA's compiler; install the CUDA toolkit or pip install 'tilelang[nvcc]', or set "
    "CUDA_HOME to the folder whose bin/nvcc it is"
)


def probe() -> Probe:
    """Opens the GPU and tries it. Only for a process that may die of it and is not forked afterwards."""
    found = devices.find()
    result = Probe(False, driver=found.driver, torch=torch.__version__, torch_cuda=torch.version.cuda)
    if found.presence is not devices.Presence.PRESENT:
        return replace(result, why=found.why)
    if torch.version.cuda is None:
        # Asked before anything touches CUDA: TileLang's stand-in for its runtime ends the process without a CUDA torch.
        return replace(result, name=found.gpus[0].name, why=_CPU_BUILD.format(version=torch.__version__))
    try:
        torch.cuda.init()  # type: ignore[no-untyped-call]
        properties = torch.cuda.get_device_properties(0)
        arch = f"sm_{nvcc.get_target_arch((properties.major, properties.minor))}"
        free, total = torch.cuda.mem_get_info(0)
        uuid = getattr(properties, "uuid", None)  # torch 2.4 has none
        uuid = None if uuid is None else f"GPU-{str(uuid).removeprefix('GPU-')}"
        result = replace(result, name=properties.name, arch=arch, uuid=uuid, memory=total, free=free)
        torch.zeros(1, device="cuda").add_(1).item()
    except RuntimeError as error:
        return replace(result, why=f"torch {torch.__version__} cannot use the GPU: {_first_sentence(str(error))}")
    why, version = compilers(arch)
    return replace(result, usable=not why, why=why, nvcc=version)


def compilers(arch: str) -> tuple[str, str | None]:
    """(why kernels cannot be compiled for `arch` here, or "", version of TileLang's nvcc). Opens no GPU."""
    try:
        compiler = nvcc.get_nvcc_compiler()
    except RuntimeError:
        return _NO_NVCC, None
    if not os.access(compiler, os.X_OK):
        return _NO_NVCC, None
    release = re.search(r"release ([\d.]+)", _said(compiler, "--version"))
    version = release[1] if release else None
    known = _said(compiler, "--list-gpu-code").split()
    if known and arch.rstrip("af") not in known:
        return f"nvcc {version or ''} does not compile for this GPU ({arch})", version
    if get_cplus_compiler() is None:
        return "there is no C++ compiler, which nvcc needs; install one, e.g. apt install g++", version
    return "", version


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_NVCC_SECONDS, check=False)
    return done.stdout


def _first_sentence(text: str) -> str:
    return text.strip().splitlines()[0][:300] if text.strip() else "no reason given"
