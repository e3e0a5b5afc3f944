"""What CUDA says when a kernel is launched, or stopped."""

from __future__ import annotations

from tlpuzzles.catalogue.entry import Known, Where
from tlpuzzles.catalogue.explanation import Fault

LAUNCHING: tuple[Known, ...] = (
    Known(
        "shared-memory",
        r"Failed to set the allowed dynamic shared memory size to (?P<used_bytes>\d+)",
        "The kernel asks for {used_bytes} of shared memory in each block, more than there is on {gpu}",
        "Use smaller tiles or fewer stages: every stage of a T.Pipelined holds its own copy of the tiles",
        Where.LARGEST_TILE,
    ),
    Known(
        "illegal-access",
        r"illegal memory access|CUDA_ERROR_ILLEGAL_ADDRESS|operation not supported on global/shared address space"
        r"|CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "The kernel read or wrote memory that does not belong to it, and the GPU stopped it",
        "Check every index against the shape of its tensor, above all in the last block, and leave TileLang's "
        "safe memory access on",
    ),
    Known(
        "misaligned",
        r"misaligned address|CUDA_ERROR_MISALIGNED_ADDRESS",
        "The kernel read several elements at once from an address that does not allow it",
        "Start vector accesses and T.copy regions at multiples of 16 bytes",
    ),
    Known(
        "device-assert",
        r"device-side assert triggered|CUDA_ERROR_ASSERT",
        "A T.device_assert in the kernel did not hold",
        "Its message is in the kernel's output",
    ),
    Known(
        "launch-failed",
        r"unspecified launch failure|CUDA_ERROR_LAUNCH_FAILED",
        "The GPU stopped the kernel, most often because it used memory that does not belong to it",
        "Check every index against the shape of its tensor or tile, above all in the last block",
    ),
    Known(
        "illegal-instruction",
        r"illegal instruction|CUDA_ERROR_ILLEGAL_INSTRUCTION|illegal address space|CUDA_ERROR_INVALID_PC"
        r"|hardware stack error",
        "The GPU stopped the kernel because of an error in it",
        "The usual causes are an index outside a tile, or a barrier that is used before it is set up",
    ),
    Known(
        "watchdog",
        r"launch timed out|CUDA_ERROR_LAUNCH_TIMEOUT",
        "The kernel ran so long that the driver stopped it; this GPU also drives a display",
        "Look for a loop that does not end",
    ),
    Known(
        "registers",
        r"too many resources requested for launch|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        "A block of the kernel needs more registers than there are on {gpu}",
        "Use fewer threads or smaller fragments",
    ),
    Known(
        "gpu-memory",
        r"out of memory|CUDA_ERROR_OUT_OF_MEMORY",
        "The GPU has too little free memory for this case",
        "Close other programs that use the GPU (nvidia-smi lists them) and grade again",
        fault=Fault.MACHINE,
    ),
    Known(
        "driver-too-old",
        r"no kernel image is available|unsupported toolchain|CUDA_ERROR_NO_BINARY_FOR_GPU"
        r"|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|driver version is insufficient",
        "What nvcc compiled does not run with this driver or on this GPU",
        "Run tlpuzzles doctor: the driver, torch and nvcc must fit together",
        fault=Fault.MACHINE,
    ),
    Known(
        "launch-configuration",
        r"invalid configuration argument|CUDA_ERROR_INVALID_VALUE|CUDALaunch Error|invalid argument",
        "Blocks of this size, or so many of them, cannot be started on {gpu}",
        "A block has at most 1024 threads, and on Hopper TileLang adds 128 for the copies of a pipeline; "
        "the grid has at most 65535 blocks along its second and third axis",
    ),
)
