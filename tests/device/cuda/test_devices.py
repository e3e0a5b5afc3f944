"""Finding GPUs without torch, against a library that answers as the driver's does."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pynvml
import pytest

from tlpuzzles.device.cuda import devices
from tlpuzzles.device.cuda.devices import Presence, find

from .nvmls import Driver

DRIVER = r"""
#include <stdio.h>
#include <string.h>
int nvmlInitWithFlags(unsigned flags) { return FAILS; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned size) { strncpy(text, "580.95", size); return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = GPUS; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) { *handle = (void *)(long)(index + 1); return 0; }
int nvmlDeviceGetName(void *handle, char *text, unsigned size) {
    strncpy(text, (long)handle == 1 ? "H200" : "T4", size); return 0; }
int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) {
    *major = (long)handle == 1 ? 9 : 7; *minor = (long)handle == 1 ? 0 : 5; return 0; }
int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *memory) { memory[0] = 150ull << 30; return 0; }
#if UUIDS
int nvmlDeviceGetUUID(void *handle, char *text, unsigned size) {
    snprintf(text, size, "GPU-1%ld34-beef", (long)handle); return 0; }
int nvmlDeviceGetHandleByUUID(char *uuid, void **part) { *part = (void *)9; return strcmp(uuid, "MIG-7") ? 6 : 0; }
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void *part, void **whole) { *whole = (void *)2; return 0; }
#endif
"""
Install = Callable[..., Path]


def _build(folder: Path, gpus: int, fails: int, uuids: bool, *, named: bool = False) -> Path:
    """`named`: by the driver's own name the loader finds it for everybody, as long as the process lives."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source, library = folder / "nvml.c", folder / f"nvml-{gpus}-{fails}-{uuids}.so"
    source.write_text(DRIVER)
    options = [f"-DGPUS={gpus}", f"-DFAILS={fails}", f"-DUUIDS={int(uuids)}"]
    options += ["-Wl,-soname,libnvidia-ml.so.1"] if named else []
    subprocess.run([compiler, *options, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a driver with so many GPUs in place."""

    def install(gpus: int, fails: int = 0, *, uuids: bool = True) -> None:
        library = _build(tmp_path, gpus, fails, uuids)
        monkeypatch.setattr(pynvml, "nvmlLib", ctypes.CDLL(str(library)))
        monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})

    return install


def test_gpus_are_listed_with_what_the_driver_knows(driver: Install) -> None:
    driver(2)
    found = find({})
    assert (found.presence, found.driver, found.why) == (Presence.PRESENT, "580.95", "")
    assert [(gpu.name, gpu.capability, gpu.uuid) for gpu in found.gpus] == [
        ("H200", (9, 0), "GPU-1134-beef"),
        ("T4", (7, 5), "GPU-1234-beef"),
    ]
    assert found.gpus[0].memory == 150 << 30


@pytest.mark.parametrize(
    ("visible", "names"),
    [
        ("1", ["T4"]),
        (" 1, 0", ["T4", "H200"]),
        ("0,7,1", ["H200"]),
        ("GPU-1234-beef", ["T4"]),
        ("GPU-12,0", ["T4", "H200"]),
        ("0,GPU-99,1", ["H200"]),
        ("MIG-7", ["T4"]),
        ("MIG-8", ["H200", "T4"]),
        ("0, 01", ["H200", "T4"]),
        ("1,0x0", ["T4"]),
        ("1,0gpu", ["T4"]),
        ("1," + "9" * 5000, ["T4"]),
        ("MIG-7,1,0", ["T4", "H200"]),
    ],
)
def test_hidden_gpus_do_not_count(driver: Install, visible: str, names: list[str]) -> None:
    driver(2)
    assert [gpu.name for gpu in find({"CUDA_VISIBLE_DEVICES": visible}).gpus] == names


def test_uuids_show_all_gpus_of_a_driver_that_does_not_tell_them(driver: Install) -> None:
    driver(2, uuids=False)
    found = find({"CUDA_VISIBLE_DEVICES": "GPU-1234"})
    assert [(gpu.name, gpu.uuid) for gpu in found.gpus] == [("H200", None), ("T4", None)]


@pytest.mark.parametrize(
    "visible",
    ["", "-1", "9", "GPU-1", "GPU-99", "0x1", "all", "\u0661", *("0,0", "1,0,1", "GPU-1134,0", "MIG-7,MIG-7")],
)
def test_all_hidden_is_said(driver: Install, visible: str) -> None:
    driver(2)
    found = find({"CUDA_VISIBLE_DEVICES": visible})
    assert found.presence is Presence.HIDDEN
    assert f"CUDA_VISIBLE_DEVICES={visible!r}" in found.why


def test_a_driver_that_does_not_answer(driver: Install) -> None:
    driver(1, fails=9)
    assert find({}).presence is Presence.NO_DRIVER
    driver(0)
    assert find({}).presence is Presence.ABSENT


@pytest.mark.parametrize("error", [pynvml.NVMLLibraryMismatchError("12 and 13"), OSError("wrong ELF class")])
def test_a_library_that_does_not_fit_is_a_driver_that_does_not_answer(error: Exception) -> None:
    def fails() -> None:
        raise error

    assert find({}, Driver(nvmlInit=fails)).presence is Presence.NO_DRIVER


def test_no_driver_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class NoDriver:
        NVMLError = pynvml.NVMLError
        NVMLError_LibraryNotFound = pynvml.NVMLError_LibraryNotFound

        def nvmlInit(self) -> None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(devices, "_DRIVER_FOLDER", tmp_path / "gpus")
    assert find({}, NoDriver()).presence is Presence.ABSENT
    (tmp_path / "gpus" / "0000:01:00.0").mkdir(parents=True)
    found = find({}, NoDriver())
    assert found.presence is Presence.NO_DRIVER
    assert "libnvidia-ml.so.1" in found.why


def test_the_driver_of_windows_is_found_where_wsl_has_it(tmp_path: Path) -> None:
    # In a process of its own: a library that is loaded stays.
    library = _build(tmp_path, gpus=1, fails=0, uuids=True, named=True)
    code = (
        "import pathlib, sys; from tlpuzzles.device.cuda import devices, nvml; "
        "nvml.WSL_LIBRARY = pathlib.Path('/nowhere'); before = devices.find({}).presence.value; "
        "nvml.WSL_LIBRARY = pathlib.Path(sys.argv[1]); print(before, devices.find({}).presence.value)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(library)], capture_output=True, text=True, check=True)
    if not done.stdout.startswith("absent"):
        pytest.skip("this machine has a driver of its own, which is found first")
    assert done.stdout == "absent present\n"


def test_asking_loads_neither_torch_nor_tilelang() -> None:
    code = "import sys, tlpuzzles.device.cuda.devices as d; d.find(); print({'torch', 'tilelang'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_binding_is_loaded_only_when_a_gpu_is_asked_for() -> None:
    code = (
        "import sys, tlpuzzles.device.cuda.devices, tlpuzzles.device.cuda.lock; "
        "print({'pynvml', 'filelock'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
