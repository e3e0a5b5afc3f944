"""What nvcc says, or the attempt to call it."""

from __future__ import annotations

from tlpuzzles.catalogue.entry import Known, Where
from tlpuzzles.catalogue.explanation import Fault

NVCC: tuple[Known, ...] = (
    Known(
        "nvcc-missing",
        r"No such file or directory: '?(?P<path>\S*nvcc)\b|Failed to automatically detect CUDA installation",
        "nvcc, NVIDIA's compiler, was not found on this machine",
        "Install the CUDA toolkit (or: pip install 'tilelang[nvcc]'), or set CUDA_HOME to the folder whose "
        "bin/nvcc it is",
        fault=Fault.MACHINE,
    ),
    Known(
        "nvcc-host-compiler",
        r"cannot execute '?cc1plus|Failed to preprocess host compiler|unsupported GNU version|\bg\+\+.*not found",
        "nvcc does not find a C++ compiler that it can work with",
        "Install one, e.g. apt install g++",
        fault=Fault.MACHINE,
    ),
    Known(
        "nvcc-arch",
        r"Unsupported gpu architecture '(?P<nvcc_arch>\w+)'",
        "This version of nvcc cannot compile for {nvcc_arch}",
        "Install a CUDA toolkit that supports this GPU",
        fault=Fault.MACHINE,
    ),
    Known(
        "nvcc-timeout",
        r"NVCC compilation timed out after (?P<limit>[\d.]+) seconds",
        "nvcc was still at work after {limit} seconds",
        "Make the kernel smaller: fewer T.unroll trips, smaller tiles for each thread, fewer stages",
    ),
    Known(
        "nvcc-static-shared",
        r"uses too much shared data \((?P<used_bytes>\w+) bytes, (?P<limit_bytes>\w+) max\)",
        "The kernel asks for {used_bytes} of shared memory of a fixed size; CUDA allows {limit_bytes} of that kind",
        "Allocate with T.alloc_shared without scope='shared': that kind has the GPU's whole limit. Printing a "
        "whole tile "
        "takes such memory too",
        Where.LARGEST_STATIC_TILE,
    ),
    Known(
        "nvcc-registers",
        r"too many resources requested|ptxas fatal.*[Rr]egister",
        "The kernel needs more registers than the GPU has",
        "Use smaller fragments or more threads",
    ),
)
