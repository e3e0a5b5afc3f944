"""How many blocks of a kernel a multiprocessor holds at once, and what allows no more. Pure.

The limits are those of `device.limits` (CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute
Capability"). How registers and shared memory are dealt out is in NVIDIA's occupancy calculator, cuda_occupancy.h of the
CUDA toolkit 13.0: registers go to whole warps, 256 at a time, out of those of one quarter of the multiprocessor; shared
memory goes to whole blocks, 256 bytes at a time on compute capability 7.x and 128 bytes from 8.0 on, with what the
system keeps for itself in every block.
"""

from __future__ import annotations

from tlpuzzles.device.limits import MAX_THREADS, SM_REGISTERS, WARP, Architecture
from tlpuzzles.seeing.model import Bound, Occupancy

_REGISTERS_AT_ONCE = 256
_QUARTERS = 4
"""Parts of a multiprocessor, each with a scheduler and registers of its own."""


def occupancy(gpu: Architecture, threads: int, shared_bytes: int, registers: int | None) -> Occupancy | None:
    """Of blocks of that many threads; None where not even one fits. `registers`: of a thread; None leaves them out."""
    if not 0 < threads <= MAX_THREADS or shared_bytes > gpu.shared_bytes:
        return None
    warps = -(-threads // WARP)
    most = {
        Bound.SHARED: gpu.sm_shared_bytes // max(_shared(gpu, shared_bytes), 1),
        Bound.THREADS: gpu.sm_threads // (warps * WARP),
        Bound.BLOCKS: gpu.sm_blocks,
    }
    if registers is not None:
        most[Bound.REGISTERS] = _by_registers(warps, registers)
    blocks = min(most.values())
    if blocks == 0:
        return None
    bounds = tuple(bound for bound in Bound if most.get(bound) == blocks)
    return Occupancy(blocks=blocks, warps=blocks * warps, most_warps=gpu.sm_threads // WARP, bounds=bounds)


def _shared(gpu: Architecture, shared_bytes: int) -> int:
    at_once = 256 if gpu.name.startswith("sm_7") else 128
    return _rounded_up(shared_bytes + gpu.reserved_bytes, at_once)


def _by_registers(warps: int, registers: int) -> int:
    of_warp = max(_rounded_up(registers * WARP, _REGISTERS_AT_ONCE), _REGISTERS_AT_ONCE)
    if of_warp * _rounded_up(warps, _QUARTERS) > SM_REGISTERS:
        return 0
    return SM_REGISTERS // _QUARTERS // of_warp * _QUARTERS // warps


def _rounded_up(number: int, step: int) -> int:
    return -(-number // step) * step
