"""Versions of the software that decides how fast a library is, found without importing any of it."""

from __future__ import annotations

import runpy
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from tlpuzzles.grading.environment import environment


def software(driver: str | None) -> str:
    """As one would say it: "driver 580.1, torch 2.13.0, CUDA 13.0, tilelang 0.1.15, tlpuzzles 0.1.0"; what is not known
    is left out. `driver` is NVIDIA's."""
    ours, cuda = environment(), _torchs_cuda()
    found = {
        "driver": driver,
        "torch": ours.torch,
        "CUDA": cuda,
        "cuDNN": None if cuda is None else _cudnn(cuda),
        "tilelang": ours.tilelang,
        "tlpuzzles": ours.tlpuzzles,
    }
    return ", ".join(f"{name} {known}" for name, known in found.items() if known is not None)


def _torchs_cuda() -> str | None:
    """That torch was built with, which its wheel for a CPU has none of."""
    torch = find_spec("torch")
    if torch is None or torch.origin is None:
        return None
    try:
        # A file of plain assignments, which torch's build writes.
        found = runpy.run_path(str(Path(torch.origin).with_name("version.py"))).get("cuda")
    except OSError:
        return None
    return found if isinstance(found, str) else None


def _cudnn(cuda: str) -> str | None:
    """That of the wheel that torch's wheel asks for; a torch built otherwise may have another."""
    try:
        return version(f"nvidia-cudnn-cu{cuda.partition('.')[0]}")
    except PackageNotFoundError:
        return None
