"""Why a GPU that is there cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tilelang.contrib import nvcc

from tlpuzzles.device.cuda import devices, probe
from tlpuzzles.device.cuda.devices import Devices, Gpu, Presence


@pytest.fixture
def with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver says that there is a T4."""
    found = Devices(Presence.PRESENT, (Gpu(0, "Tesla T4", (7, 5), 16 << 30),), "580.95")
    monkeypatch.setattr(devices, "find", lambda: found)


def test_no_gpu_is_said_as_the_driver_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "find", lambda: Devices(Presence.HIDDEN, why="every GPU is hidden"))
    told = probe.probe()
    assert (told.usable, told.why) == (False, "every GPU is hidden")


@pytest.mark.usefixtures("with_gpu")
def test_a_torch_for_cpus_is_named_before_cuda_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.cuda, "init", lambda: pytest.fail("CUDA was touched"))
    told = probe.probe()
    assert not told.usable
    assert told.name == "Tesla T4"
    assert "build for CPUs" in told.why


@pytest.mark.usefixtures("with_gpu")
def test_a_driver_that_is_too_old_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_old() -> None:
        raise RuntimeError("The NVIDIA driver on your system is too old (found version 11040).\nPlease update.")

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "init", too_old)
    told = probe.probe()
    assert not told.usable
    assert told.why.endswith("The NVIDIA driver on your system is too old (found version 11040).")


def _nvcc(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = folder / "nvcc"
    compiler.write_text(
        "#!/bin/sh\n"
        "[ \"$1\" = --version ] && echo 'Cuda compilation tools, release 13.0, V13.0.88' || echo sm_75 sm_90\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setattr(nvcc, "get_nvcc_compiler", lambda: str(compiler))


def test_an_nvcc_that_does_not_know_the_gpu_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _nvcc(tmp_path, monkeypatch)
    assert probe.compilers("sm_90a") == ("", "13.0")
    assert probe.compilers("sm_70") == ("nvcc 13.0 does not compile for this GPU (sm_70)", "13.0")
    monkeypatch.setattr(probe, "get_cplus_compiler", lambda: None)
    assert "C++ compiler" in probe.compilers("sm_90a")[0]


def test_a_missing_nvcc_says_where_it_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "get_nvcc_compiler", lambda: str(tmp_path / "nvcc"))
    why, version = probe.compilers("sm_90a")
    assert "CUDA_HOME" in why
    assert version is None
