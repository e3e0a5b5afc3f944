"""What the doctor makes of a machine, of good and of bad ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tlpuzzles.doctor.finding import Finding, Status
from tlpuzzles.doctor.rules import judge
from tlpuzzles.doctor.seen import Driver, End, Folder, Gpu, Imported, Marks, Seen, Timing, Tool, parse
from tlpuzzles.verdict.thresholds import Threshold, Thresholds, shipped

LAPTOP = Seen(
    python=(3, 11, 7),
    platform=("Linux", "x86_64"),
    distributions={"tilelang": "0.1.15", "torch": "2.13.0+cpu", "apache-tvm-ffi": "0.1.12", "z3-solver": "4.15.4.0"},
    imports={
        "torch": Imported(End.IMPORTED, {"version": "2.13.0+cpu", "cuda": "", "hip": ""}),
        "tilelang": Imported(End.IMPORTED, {"version": "0.1.15", "cuda_home": ""}),
    },
    driver=None,
    nvidia_device=False,
    cuda_home="",
    nvcc=None,
    cxx=Tool("/usr/bin/g++", "g++ 12.2.0"),
    cache=Folder("/home/a/.cache/tlpuzzles"),
    cache_bytes=5 << 20,
    tilelang_cache=Folder("/home/a/.tilelang/cache"),
)
CUDA_TORCH = Imported(
    End.IMPORTED,
    {"version": "2.13.0", "cuda": "13.0", "hip": "", "available": "yes", "architectures": "sm_75 sm_80 sm_86 sm_90"},
)
COLAB = replace(
    LAPTOP,
    imports={**LAPTOP.imports, "torch": CUDA_TORCH},
    driver=Driver((13, 0), (Gpu("Tesla T4", (7, 5), 14.7),), "580.65"),
    nvidia_device=True,
    cuda_home="/usr/local/cuda",
    nvcc=Tool("/usr/local/cuda/bin/nvcc", "13.0"),
)


def only_fault(seen: Seen) -> Finding:
    """The one finding that is not ok."""
    faults = [finding for finding in judge(seen) if finding.status is not Status.OK]
    assert len(faults) == 1, faults
    assert faults[0].fix
    return faults[0]


OLDER_DRIVER = replace(
    COLAB,
    imports={
        **COLAB.imports,
        "torch": replace(CUDA_TORCH, facts={**CUDA_TORCH.facts, "version": "2.9.1+cu128", "cuda": "12.8"}),
    },
    driver=Driver((12, 4), (Gpu("NVIDIA L4", (8, 9), 22.0),), "550.54"),
    nvcc=Tool("/usr/local/cuda/bin/nvcc", "12.8"),
)
"""Of the same major release as what is built for it, which is enough."""


@pytest.mark.parametrize("seen", [LAPTOP, COLAB, OLDER_DRIVER], ids=["laptop", "colab", "older driver"])
def test_good_machines_have_no_faults(seen: Seen) -> None:
    assert [finding for finding in judge(seen) if finding.status is not Status.OK] == []


def with_version(seen: Seen, distribution: str, version: str) -> Seen:
    return replace(seen, distributions={**seen.distributions, distribution: version})


def with_torch(seen: Seen, **facts: str) -> Seen:
    torch = seen.imports["torch"]
    return replace(seen, imports={**seen.imports, "torch": replace(torch, facts={**torch.facts, **facts})})


def with_gpu(name: str, capability: tuple[int, int]) -> Seen:
    return replace(COLAB, driver=Driver((13, 0), (Gpu(name, capability, 80),)))


BAD = {
    "another TileLang": (with_version(LAPTOP, "tilelang", "0.1.14"), "0.1.14; this grader reads kernels of 0.1.15"),
    "an old tvm-ffi": (with_version(LAPTOP, "apache-tvm-ffi", "0.1.10"), "__ffi_repr__"),
    "a new tvm-ffi": (with_version(LAPTOP, "apache-tvm-ffi", "0.1.13.post2"), "does not fit TileLang 0.1.15"),
    "a new z3": (with_version(LAPTOP, "z3-solver", "4.15.5.0"), "libz3"),
    "a second TVM": (with_version(LAPTOP, "apache-tvm", "0.20.0"), "a second TVM"),
    "an old torch": (with_torch(LAPTOP, version="2.3.1"), "2.4 or newer is needed"),
    "a ROCm torch": (with_torch(LAPTOP, hip="6.2"), "ROCm"),
    "a CPU torch beside a GPU": (with_torch(COLAB, cuda="", architectures=""), "built for the CPU only"),
    "a driver older than torch": (
        replace(COLAB, driver=replace(COLAB.driver, cuda=(12, 8)), nvcc=Tool("/x/nvcc", "12.8")),
        "PyTorch is built for CUDA 13.0, the driver knows CUDA up to 12.8",
    ),
    "torch that sees no GPU": (with_torch(COLAB, available="no"), "says no"),
    "a GPU that torch was not built for": (with_gpu("B200", (10, 0)), "not built for it"),
    "a GPU that is too old": (with_gpu("Tesla V100", (7, 0)), "too old"),
    "a GPU without a driver": (replace(LAPTOP, nvidia_device=True), "no driver"),
    "a driver that does not start": (
        replace(COLAB, driver=Driver((13, 0), (), error="system has unsupported display driver")),
        "does not start: system has unsupported display driver",
    ),
    "no nvcc beside a GPU": (replace(COLAB, nvcc=None), "none in /usr/local/cuda/bin, where TileLang looks"),
    "an old nvcc": (replace(COLAB, nvcc=Tool("/x/nvcc", "11.8")), "CUDA 12 or newer"),
    "a broken nvcc": (replace(COLAB, nvcc=Tool("/x/nvcc", "", "Permission denied")), "Permission denied"),
    "no C++ compiler": (replace(LAPTOP, cxx=None), "none found"),
    "a gcc without C++": (
        replace(LAPTOP, cxx=Tool("/usr/bin/g++", "", "gcc: fatal error: cannot execute 'cc1plus'")),
        "cc1plus",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_problems_are_named_with_what_to_do(name: str) -> None:
    seen, says = BAD[name]
    fault = only_fault(seen)
    assert fault.status is Status.PROBLEM
    assert says in fault.says


ODD = {
    "an untested Python": (replace(LAPTOP, python=(3, 15, 0)), "3.15.0; tested are 3.10 to 3.13"),
    "an untested platform": (replace(LAPTOP, platform=("Darwin", "arm64")), "Darwin arm64"),
    "flashinfer": (with_version(LAPTOP, "flashinfer-python", "0.5"), "stand-in"),
    "an untested GPU": (with_gpu("RTX 3090", (8, 6)), "RTX 3090, sm_86"),
    "an nvcc newer than the driver": (
        replace(with_torch(COLAB, cuda="12.8"), driver=replace(COLAB.driver, cuda=(12, 8))),
        "the driver knows CUDA up to 12.8",
    ),
    "a broken nvcc without a GPU": (replace(LAPTOP, nvcc=Tool("/x/nvcc", "", "Permission denied")), "Permission"),
    "a GPU at work": (
        replace(COLAB, timing=Timing(busy=True, others=2)),
        "at work for somebody else; 2 processes use it",
    ),
    "a hot GPU": (replace(COLAB, timing=Timing(throttled=("temperature",))), "held down now: temperature"),
    "a lock that cannot be": (
        replace(COLAB, timing=Timing(lock_error="/tmp/x.lock cannot be locked")),
        "may disturb each other's times: /tmp/x.lock cannot be locked",
    ),
    "an unwritable cache": (replace(LAPTOP, cache=Folder("/c", "Read-only file system")), "Read-only file system"),
    "an unwritable cache of TileLang": (
        replace(LAPTOP, tilelang_cache=Folder("/t", "Permission denied")),
        "`import tilelang` in programs of your own fails",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_what_does_not_keep_from_grading_is_a_warning(name: str) -> None:
    seen, says = ODD[name]
    fault = only_fault(seen)
    assert fault.status is Status.WARNING
    assert says in fault.says


FAILED_IMPORTS = {
    "TypeAttr `__ffi_repr__` is already registered for type index 130": "do not fit together",
    "AttributeError: '_NestedLoopCheckVisitor' object has no attribute '_inst'": "too new",
    "ImportError: libnvrtc.so.13: cannot open shared object file": "another major release of CUDA",
    "libc10_cuda.so: undefined symbol: cudaGetDriverEntryPointByVersion": "two CUDA runtimes",
    "libcudart_stub.so: undefined symbol: cudaDeviceReset": "flashinfer",
    "undefined symbol: _ZTIN3tvm7runtime10ModuleNodeE": "another TVM",
    "TileLang Error: cudart symbols not found. Make sure PyTorch": "CPU build",
    "ModuleNotFoundError: No module named 'tilelang'": "not installed",
    "RuntimeError: something new": "RuntimeError: something new",
}


@pytest.mark.parametrize("message", FAILED_IMPORTS)
def test_failed_imports_are_explained(message: str) -> None:
    imports = {**LAPTOP.imports, "tilelang": Imported(End.RAISED, message=message)}
    fault = only_fault(replace(LAPTOP, imports=imports))
    assert fault.status is Status.PROBLEM
    assert FAILED_IMPORTS[message] in fault.says
    assert message in fault.says


def test_an_h100_is_sm_90a_and_runs_code_built_for_its_generation() -> None:
    findings = [finding for finding in judge(with_gpu("H100", (9, 0))) if finding.name == "GPU"]
    assert [(finding.status, finding.says) for finding in findings] == [(Status.OK, "H100, sm_90a, 80 GiB")]


def test_who_else_has_the_gpu_open_is_no_fault() -> None:
    findings = judge(replace(COLAB, timing=Timing(others=1, persistent=False)))
    (told,) = (finding for finding in findings if finding.name == "timing")
    assert told.status is Status.OK
    assert "1 process of others" in told.says
    assert "persistence mode is off" in told.says


T4_MARKS = Thresholds(
    entries=tuple(
        Threshold.model_validate({**one.model_dump(), "gpu": "Tesla T4"})
        for one in shipped().entries
        if one.gpu == "sm_75"
    )
)


def with_marks(seen: Seen, thresholds: Thresholds | None, *strangers: str, error: str = "") -> Seen:
    return replace(seen, marks=Marks("/w/thresholds.toml", thresholds, strangers, error))


@pytest.mark.parametrize("seen", [LAPTOP, COLAB], ids=["laptop", "colab"])
def test_good_marks_are_told_with_their_gpus(seen: Seen) -> None:
    assert "marks" not in [finding.name for finding in judge(seen)]
    (found,) = (finding for finding in judge(with_marks(seen, T4_MARKS)) if finding.name == "marks")
    assert (found.status, found.says) == (Status.OK, "/w/thresholds.toml, for Tesla T4")


def test_marks_that_cannot_be_read_keep_from_grading() -> None:
    found = only_fault(with_marks(COLAB, None, error="/w/thresholds.toml is not valid TOML: line 3."))
    assert (found.name, found.status) == ("marks", Status.PROBLEM)
    assert found.says == "/w/thresholds.toml is not valid TOML: line 3."
    assert "tlpuzzles calibrate" in found.fix


@pytest.mark.parametrize(
    ("seen", "says"),
    [
        (with_marks(OLDER_DRIVER, T4_MARKS), "thresholds.toml has no entry for NVIDIA L4; it has: Tesla T4."),
        (with_marks(LAPTOP, Thresholds(entries=())), "thresholds.toml has no entries;"),
        (
            with_marks(COLAB, T4_MARKS, "number 1: no exercise"),
            "/w/thresholds.toml, number 1: no exercise",
        ),
    ],
    ids=["another GPU", "no entries", "an unknown exercise"],
)
def test_marks_that_mark_nothing_are_warned_of(seen: Seen, says: str) -> None:
    found = only_fault(seen)
    assert (found.name, found.status) == ("marks", Status.WARNING)
    assert found.says.startswith(says)


def test_versions_are_compared_as_numbers() -> None:
    assert parse("2.13.0+cpu") == (2, 13, 0)
    assert parse("0.1.13.post2") == (0, 1, 13)
    assert parse("4.15.4rc1") == (4, 15, 4)
    assert parse("2.9") < parse("2.13")
    assert parse("unknown") == ()
