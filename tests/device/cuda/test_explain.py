"""Messages as they came, and what a learner reads instead. Those that lowering gives are in test_lower.py."""

from __future__ import annotations

import pytest

from tlpuzzles.catalogue.explanation import Fault
from tlpuzzles.catalogue.launching import LAUNCHING
from tlpuzzles.device.cuda.explain import explain, gpu_name
from tlpuzzles.device.cuda.model import RunOutcome
from tlpuzzles.device.cuda.run import outcome_of

NVCC = """#include <tl_templates/cuda/gemm.h>
extern "C" __global__ void kernel_kernel() {}

Compilation error:
common.h(621): warning #1444-D: type "longlong4" was declared deprecated
    longlong4 result;

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

ptxas error   : Entry function 'kernel_kernel' uses too much shared data (0x10000 bytes, 0xc000 max)
Command: nvcc --cubin kernel.cu
"""


@pytest.mark.parametrize(
    ("raw", "name", "says", "fault"),
    [
        (NVCC, "nvcc-static-shared", "64 KiB of shared memory of a fixed size; CUDA allows 48 KiB", Fault.KERNEL),
        ("[Errno 2] No such file or directory: '/opt/cuda/bin/nvcc'", "nvcc-missing", "nvcc", Fault.MACHINE),
        ("nvcc fatal   : Unsupported gpu architecture 'sm_70'", "nvcc-arch", "sm_70", Fault.MACHINE),
        ("gcc: fatal error: cannot execute 'cc1plus': execvp", "nvcc-host-compiler", "C++ compiler", Fault.MACHINE),
        (
            "ptxas fatal   : (C7600) Register allocation failed with register count of '64'",
            "nvcc-registers",
            "more registers than the GPU has",
            Fault.KERNEL,
        ),
        ("NVCC compilation timed out after 60.0 seconds.\nCommand: nvcc", "nvcc-timeout", "60.0 seconds", Fault.KERNEL),
        (
            "The layout for fragment C_local can not be inferred correctly.",
            "layout-not-inferred",
            "C_local",
            Fault.KERNEL,
        ),
        (
            "tl.reduce: XOR-butterfly AllReduce requires logical_width to be a power of two, got 33",
            "reduce-butterfly",
            "33 threads",
            Fault.KERNEL,
        ),
    ],
)
def test_a_known_message_of_a_compiler(raw: str, name: str, says: str, fault: Fault) -> None:
    found = explain(raw, "sm_80")
    assert (found.id, found.fault) == (name, fault)
    assert says in found.message
    assert found.fix


@pytest.mark.parametrize(
    ("raw", "name", "outcome"),
    [
        (
            "Failed to set the allowed dynamic shared memory size to 331776 with error: invalid argument",
            "shared-memory",
            RunOutcome.TOO_MUCH_SHARED_MEMORY,
        ),
        ("CUDA error: an illegal memory access was encountered", "illegal-access", RunOutcome.CRASHED),
        ("CUDA error: misaligned address", "misaligned", RunOutcome.CRASHED),
        ("CUDA error: device-side assert triggered", "device-assert", RunOutcome.CRASHED),
        ("CUDA error: operation not supported on global/shared address space", "illegal-access", RunOutcome.CRASHED),
        ("CUDA error: unspecified launch failure", "launch-failed", RunOutcome.CRASHED),
        ("CUDA error: an illegal instruction was encountered", "illegal-instruction", RunOutcome.CRASHED),
        ("CUDA_ERROR_ILLEGAL_INSTRUCTION", "illegal-instruction", RunOutcome.CRASHED),
        ("CUDA error: the launch timed out and was terminated", "watchdog", RunOutcome.CRASHED),
        ("CUDA_ERROR_LAUNCH_TIMEOUT", "watchdog", RunOutcome.CRASHED),
        ("CUDA error: too many resources requested for launch", "registers", RunOutcome.REFUSED),
        ("CUDA out of memory. Tried to allocate 20.00 GiB.", "gpu-memory", RunOutcome.OUT_OF_MEMORY),
        (
            "CUDALaunch Error: CUDA_ERROR_INVALID_VALUE\n grid=(1,1,1), block=(1152,1,1)",
            "launch-configuration",
            RunOutcome.REFUSED,
        ),
        ("CUDALaunch Error: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "registers", RunOutcome.REFUSED),
        ("no kernel image is available for execution on the device", "driver-too-old", RunOutcome.MACHINE),
    ],
)
def test_a_known_message_at_launch(raw: str, name: str, outcome: RunOutcome) -> None:
    found = explain(raw, "sm_90a", table=LAUNCHING)
    assert (found.id, outcome_of(found)) == (name, outcome)
    assert (found.fault is Fault.MACHINE) == (outcome in (RunOutcome.OUT_OF_MEMORY, RunOutcome.MACHINE))


def test_what_nvcc_said_is_kept_without_the_source_and_the_warnings() -> None:
    raw = explain(NVCC, "sm_80").raw
    assert raw == "ptxas error   : Entry function 'kernel_kernel' uses too much shared data (0x10000 bytes, 0xc000 max)"


def test_an_unknown_message_is_cut_to_what_it_says_and_its_line() -> None:
    raw = (
        "\nTraceback (most recent call last):\n  File a.cc, line 3\n"
        "Check failed: (x == y) is false: the moon is full\n\n  --> <kernel>:12:1"
    )
    found = explain(raw, "sm_80")
    assert (found.id, found.message, found.fix, found.line) == ("unknown", "the moon is full", "", 12)
    assert found.raw == raw.strip()


def test_an_unknown_error_of_nvcc_is_its_first_error() -> None:
    error = 'kernel.cu(7): error: identifier "foo" is undefined'
    raw = f"source\nCompilation error:\nkernel.cu(3): warning #1-D: hm\n\n{error}\nCommand: nvcc"
    assert explain(raw, "sm_80").message == error


def test_gpus_without_a_name_are_called_by_their_architecture() -> None:
    assert gpu_name("sm_75") == "T4"
    assert gpu_name("sm_120a") == "sm_120a GPUs"
