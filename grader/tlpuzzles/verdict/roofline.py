"""The roofline: what memory and tensor cores allow, where a kernel is below that, and what cannot be.

S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore architectures",
Communications of the ACM 52(4), 2009. A problem takes at least the time in which its bytes can be moved, and at least
that in which its operations can be done.
"""

from __future__ import annotations

from tlpuzzles.verdict.measured import Limits
from tlpuzzles.verdict.model import Roofline

_FLOPS_PER_CLOCK = {"sm_75": 1024, "sm_80": 2048, "sm_86": 1024, "sm_89": 1024, "sm_90": 4096}
"""Operations (a multiply-add is two) of the tensor cores of one multiprocessor in a clock: float16, dense, the most
that any GPU of the architecture does. Those with sums in float32 are half as many on a GeForce.

With multiprocessors and boost clock these give what the data sheets say: T4 40 x 1.59 GHz 65 TFLOP/s, A100 108 x 1.41
312, A10 72 x 1.695 125, L4 58 x 2.04 121, H100 SXM 132 x 1.83 989.
"""

SLACK = 0.95
"""Of the shortest time that the peaks allow, what a time must at least be. Clocks are told in whole MHz and move while
they are read, and the end of an output may still be in the L2 cache when a call ends."""
EVENTS_MS = 0.001
"""Milliseconds by which a time may be too short: it lies between two events, each good to about 0.5 us
(CUDA's documentation of cudaEventElapsedTime)."""
UNKNOWN_PEAK = 1.3
"""How far a peak that is unknown may lie above what was measured. Copies reach 0.75 to 0.92 of the peak of the memory,
and cuBLAS about 0.75 of that of the tensor cores (an H200: 0.88 and 0.74): 1.3 is about the inverse of the lowest."""


def peak_tflops(arch: str, sms: int, max_sm_clock_mhz: int) -> float | None:
    """TFLOP/s of the tensor cores in float16, dense, at the highest clock; None for an architecture not known here."""
    per_clock = _FLOPS_PER_CLOCK.get(arch.removesuffix("a"))
    return None if per_clock is None else per_clock * sms * max_sm_clock_mhz / 1e6


def peak_gbps(memory_clock_mhz: int, bus_width_bits: int) -> float:
    """GB/s of device memory, which moves data twice a clock: an A100's 1215 MHz and 5120 bits are 1555 GB/s."""
    return 2 * memory_clock_mhz * bus_width_bits / 8 / 1000


def place(flops: int, bytes_: int, limits: Limits, baseline_milliseconds: float | None = None) -> Roofline:
    """Where a problem is on this GPU's measured roofline. See `fraction` for a kernel's place below it.

    `baseline_milliseconds` is the time of a baseline that solves the same problem; None for one that is a copy.
    """
    memory, arithmetic = _milliseconds(flops, bytes_, limits.copy_gbps, limits.matrix_tflops)
    limit = max(memory, arithmetic)
    return Roofline(
        flops=flops,
        bytes=bytes_,
        copy_gbps=limits.copy_gbps,
        matrix_tflops=limits.matrix_tflops,
        bound="memory" if memory >= arithmetic else "arithmetic",
        limit_milliseconds=limit,
        baseline_fraction=None if baseline_milliseconds is None else limit / baseline_milliseconds,
    )


def fraction(roofline: Roofline, milliseconds: float) -> float:
    """Time at the limit over this time: 1 is all that the GPU was seen to do, and some kernels do a little more."""
    return roofline.limit_milliseconds / milliseconds


def beyond_physics(flops: int, bytes_: int, milliseconds: float, limits: Limits) -> str | None:
    """Why a call cannot have solved the problem in this time, in a sentence; None if it can."""
    gbps = limits.peak_gbps or UNKNOWN_PEAK * limits.copy_gbps
    tflops = limits.peak_tflops or UNKNOWN_PEAK * limits.matrix_tflops
    memory, arithmetic = _milliseconds(flops, bytes_, gbps, tflops)
    least = max(memory, arithmetic)
    if milliseconds + EVENTS_MS >= SLACK * least:
        return None
    work = f"to move {bytes_ / 1e6:,.0f} MB" if memory >= arithmetic else f"for {flops / 1e9:,.0f} GFLOP"
    known = limits.peak_gbps if memory >= arithmetic else limits.peak_tflops
    rate = f"{gbps:,.0f} GB/s" if memory >= arithmetic else f"{tflops:,.0f} TFLOP/s"
    whence = "the GPU's peak" if known else f"{UNKNOWN_PEAK} times what was measured here"
    return f"{milliseconds:.4g} ms {work} is less than the {least:.4g} ms that {rate}, {whence}, would take."


def _milliseconds(flops: int, bytes_: int, gbps: float, tflops: float) -> tuple[float, float]:
    """That the bytes take, and that the operations take."""
    return bytes_ / gbps / 1e6, flops / tflops / 1e9
