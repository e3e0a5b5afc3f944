"""Finding GPUs without torch, against a library that answers as the driver's does."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tlpuzzles.device.cuda import devices
from tlpuzzles.device.cuda.devices import Presence, find

DRIVER = r"""
#include <string.h>
int nvmlInit_v2(void) { return FAILS; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned size) { strncpy(text, "580.95", size); return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = GPUS; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) { *handle = (void *)(long)(index + 1); return 0; }
int nvmlDeviceGetName(void *handle, char *text, unsigned size) {
    strncpy(text, (long)handle == 1 ? "H200" : "T4", size); return 0; }
int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) {
    *major = (long)handle == 1 ? 9 : 7; *minor = (long)handle == 1 ? 0 : 5; return 0; }
int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *memory) { memory[0] = 150ull << 30; return 0; }
"""


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Puts a driver with so many GPUs in place."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")

    def install(gpus: int, fails: int = 0) -> None:
        source, library = tmp_path / "nvml.c", tmp_path / f"nvml-{gpus}-{fails}.so"
        source.write_text(DRIVER)
        options = [f"-DGPUS={gpus}", f"-DFAILS={fails}", "-shared", "-fPIC", "-o", str(library)]
        subprocess.run([compiler, *options, str(source)], check=True)
        monkeypatch.setattr(devices, "_nvml", lambda: ctypes.CDLL(str(library)))

    return install


def test_gpus_are_listed_with_what_the_driver_knows(driver) -> None:  # type: ignore[no-untyped-def]
    driver(2)
    found = find({})
    assert (found.presence, found.driver, found.why) == (Presence.PRESENT, "580.95", "")
    assert [(gpu.name, gpu.capability) for gpu in found.gpus] == [("H200", (9, 0)), ("T4", (7, 5))]
    assert found.gpus[0].memory == 150 << 30


@pytest.mark.parametrize(
    ("visible", "names"), [("1", ["T4"]), ("1,0", ["T4", "H200"]), ("0,7,1", ["H200"]), ("GPU-1234", ["H200", "T4"])]
)
def test_hidden_gpus_do_not_count(driver, visible: str, names: list[str]) -> None:  # type: ignore[no-untyped-def]
    driver(2)
    assert [gpu.name for gpu in find({"CUDA_VISIBLE_DEVICES": visible}).gpus] == names


@pytest.mark.parametrize("visible", ["", "-1", "9"])
def test_all_hidden_is_said(driver, visible: str) -> None:  # type: ignore[no-untyped-def]
    driver(2)
    found = find({"CUDA_VISIBLE_DEVICES": visible})
    assert found.presence is Presence.HIDDEN
    assert f"CUDA_VISIBLE_DEVICES={visible!r}" in found.why


def test_a_driver_that_does_not_answer(driver) -> None:  # type: ignore[no-untyped-def]
    driver(1, fails=9)
    assert find({}).presence is Presence.NO_DRIVER
    driver(0)
    assert find({}).presence is Presence.ABSENT


def test_no_driver_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(devices, "_LIBRARIES", ("libnot-there.so",))
    monkeypatch.setattr(devices, "_DRIVER_FOLDER", tmp_path / "gpus")
    assert find({}).presence is Presence.ABSENT
    (tmp_path / "gpus" / "0000:01:00.0").mkdir(parents=True)
    found = find({})
    assert found.presence is Presence.NO_DRIVER
    assert "libnvidia-ml.so.1" in found.why


def test_asking_loads_neither_torch_nor_tilelang() -> None:
    code = "import sys, tlpuzzles.device.cuda.devices as d; d.find(); print({'torch', 'tilelang'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
