"""One sentence on what to try next with a kernel that is right, and slower than the GPU allows. Pure.

Each rule rests on something that was measured on an H200, on what a GPU cannot do, or on judgement; its comment says
which. They are asked in the order of what they may cost, and the first that applies speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import Literal

from tlpuzzles.device.limits import ARCHITECTURES, SM_REGISTERS
from tlpuzzles.verdict.features import Feature
from tlpuzzles.verdict.measured import Compiled

FINISHED = 0.95
"""Of the limit. The limit is measured, too, and not better known than to a few percent."""
IDLE = 0.25
"""Share of the multiprocessors' time in which they wait for the last wave, from which it is worth a sentence."""
FEW_WARPS = 16
"""On a multiprocessor, of 32 to 64. The reference softmax, at 0.9 of the copy bandwidth of an H200, should
have 24 by its 80 registers; the number here is a judgement."""
DETOUR = 8 << 10
"""Bytes of shared memory from which tiles lie there, and not only what a reduction exchanges (512 bytes)."""
SMALL = 0.7
"""Of the limit, below which tiles that use few registers are the likely cause."""

_GROUP = 128
"""Threads of a warp group, and of the producer warps that TileLang adds."""
_THREADS_OF_SM = min(architecture.sm_threads for architecture in ARCHITECTURES)


@dataclass(frozen=True)
class _Kernel:
    """What the rules are asked about."""

    compiled: Compiled
    limit_fraction: float | None
    arch: str
    grid: tuple[int, ...]
    multiprocessors: int | None

    def uses(self, *features: Feature) -> bool:
        """Whether it uses one of them."""
        return any(feature.value in self.compiled.instructions for feature in features)

    @property
    def hopper(self) -> bool:
        return self.arch.startswith("sm_90")

    @property
    def threads(self) -> int:
        return self.compiled.threads or 0


Rule = Callable[[_Kernel], "str | None"]


def advise(
    compiled: Compiled,
    *,
    bound: Literal["memory", "arithmetic"],
    limit_fraction: float | None,
    arch: str,
    grid: Sequence[int] = (),
    multiprocessors: int | None = None,
) -> str | None:
    """What to try next, the most likely first; None if nothing that is known to cost time was found.

    `bound`: what the problem's limit is; one by arithmetic is taken to be made of products on tensor cores.
    `limit_fraction`: time at the limit over the kernel's. `grid`: blocks along each axis, empty if unknown.
    `multiprocessors`: of the GPU.
    """
    if limit_fraction is not None and limit_fraction >= 1:
        return "This is what the GPU can do: nothing is left to gain."
    if limit_fraction is not None and limit_fraction >= FINISHED:
        return f"At {limit_fraction:.0%} of what this GPU can do there is little left to gain.".replace("%", " %")
    if compiled.threads is None:
        return None  # the source of a single kernel was not found: what it does not use is unknown, too
    kernel = _Kernel(compiled, limit_fraction, arch, tuple(grid), multiprocessors)
    rules = _ARITHMETIC if bound == "arithmetic" else _MEMORY
    return next((sentence for rule in rules if (sentence := rule(kernel)) is not None), None)


def _no_tensor_cores(kernel: _Kernel) -> str | None:
    # The data sheets' rates with and without them are 15 apart on an H100.
    if kernel.uses(Feature.WGMMA, Feature.MMA):
        return None
    return "The products do not run on tensor cores: give T.gemm tiles of float16, and keep only the sums in float32."


def _spills(kernel: _Kernel) -> str | None:
    # A GEMM with 256 sums for each thread, which has 255 registers, is compiled with 700 to 1,850 bytes of spills.
    spilled = kernel.compiled.spill_bytes
    if not spilled:
        return None
    return (
        f"The kernel spills {spilled:,} bytes of registers a thread to device memory: try a smaller tile, or more "
        "threads for it."
    )


def _few_blocks(kernel: _Kernel) -> str | None:
    blocks, most = prod(kernel.grid), kernel.multiprocessors
    if not kernel.grid or most is None or blocks >= most:
        return None
    return (
        f"{most - blocks} of the GPU's {most} multiprocessors have no block to work on: smaller tiles make more blocks."
    )


def _no_wgmma(kernel: _Kernel) -> str | None:
    # TileLang 0.1.15 takes mma.sync for tiles under 64 rows, for fewer than 128 threads, and for some float32 tiles.
    if not kernel.hopper or kernel.uses(Feature.WGMMA):
        return None
    return (
        "The products run as mma.sync and not as this GPU's own wgmma: that wants tiles of float16, block_M a multiple "
        "of 64 and threads a multiple of 128."
    )


def _no_pipeline(kernel: _Kernel) -> str | None:
    # A T4 has no copies that run by themselves.
    if kernel.arch == "sm_75" or kernel.uses(Feature.TMA_LOADS, Feature.CP_ASYNC):
        return None
    return "No copy runs ahead of the products: give the T.Pipelined loop stages, by num_stages."


def _no_tma(kernel: _Kernel) -> str | None:
    # Attention with D=128 on an H200: 0.64 of its speed without TMA, 0.65 without warp specialisation.
    if not kernel.hopper:
        return None
    if not kernel.uses(Feature.TMA_LOADS):
        return (
            "The tiles are copied by cp.async and not by TMA, without which attention on an H200 had 0.64 of its "
            "speed: copy whole tiles by T.copy, and leave TMA and warp specialisation switched on."
        )
    if not kernel.uses(Feature.PRODUCERS):
        return (
            "No warps are there to copy alone (warp specialisation), without which attention on an H200 had 0.65 of "
            "its speed: copy and multiply in one T.Pipelined loop that has stages."
        )
    return None


def _one_warp_group(kernel: _Kernel) -> str | None:
    # GEMM on an H200: 128 x 128 with 128 threads reached 0.7 of cuBLAS, 128 x 256 with 256 threads 0.83 to 1.00;
    # attention with 64 x 64 and 128 threads 0.49 of cuDNN, 192 x 128 with 384 threads 0.93.
    if not kernel.hopper or kernel.threads - _GROUP * kernel.uses(Feature.PRODUCERS) > _GROUP:
        return None
    return (
        "A single warp group multiplies in each block: larger tiles with 256 threads or more were faster on an H200, "
        "128 x 256 in a GEMM and 128 x 128 in attention."
    )


def _last_wave(kernel: _Kernel) -> str | None:
    together = (kernel.multiprocessors or 0) * (kernel.compiled.blocks_per_sm or 0)
    if not kernel.grid or not together:
        return None
    waves = prod(kernel.grid) / together
    if 1 - waves / ceil(waves) < IDLE:
        return None
    return (
        f"{prod(kernel.grid):,} blocks are {waves:.1f} waves of {together}, and in the last wave part of the GPU is "
        "idle: try a tile of another size."
    )


def _scraps(kernel: _Kernel) -> str | None:
    # GEMM with 128 x 256 x 64 on an H200: from 0.88 to 0.97 of cuBLAS at 4096, with one more stage.
    if kernel.uses(Feature.TMA_STORES, Feature.VECTOR_STORES):
        return None
    return (
        "The result leaves the registers in scraps of a few bytes: copy it into a shared tile first, and from there to "
        "device memory in whole rows."
    )


def _precise(kernel: _Kernel) -> str | None:
    # Softmax of 16384 x 4096 on an H200: from 3149 to 3827 GB/s.
    if not kernel.uses(Feature.PRECISE):
        return None
    return (
        "Each exp or tanh is several instructions: fast math makes it one, by "
        "pass_configs={tilelang.PassConfigKey.TL_ENABLE_FAST_MATH: True}."
    )


def _no_swizzle(kernel: _Kernel) -> str | None:
    # Of a product's grid; attention's has heads and batch entries as further axes.
    if kernel.uses(Feature.SWIZZLE) or len(kernel.grid) != 2 or 1 in kernel.grid:
        return None
    return (
        "Try T.use_swizzle(panel_size=10): blocks that run together then need the same rows and columns, which they "
        "find in the L2 cache."
    )


def _alone(kernel: _Kernel) -> str | None:
    # On an H100 the fastest GEMM has one block for each multiprocessor: its producer warps wait for it.
    compiled = kernel.compiled
    if kernel.hopper or compiled.blocks_per_sm != 1 or compiled.registers is None or compiled.shared_bytes is None:
        return None
    if 2 * kernel.threads > _THREADS_OF_SM or 2 * kernel.threads * compiled.registers > SM_REGISTERS:
        return None
    full = f"A block's {compiled.shared_bytes / 1024:.0f} KiB of shared memory leave no room for a second one beside it"
    if kernel.arch == "sm_75":
        return f"{full}: a T4 gains nothing by stages, and with fewer of them another block can work while one waits."
    return f"{full}: try fewer stages or smaller tiles, so that another block can work while one waits."


def _small_tile(kernel: _Kernel) -> str | None:
    # GEMM on an H200, from 128 x 128 to 128 x 256: from 0.7 to 0.88 of cuBLAS. Registers of a kernel with producer
    # warps are shared out anew when it runs, and tell nothing.
    registers = kernel.compiled.registers
    if kernel.hopper or registers is None or registers >= 128 or (kernel.limit_fraction or 0) >= SMALL:
        return None
    return (
        f"A thread uses {registers} of its 255 registers: with a larger tile each number that is read serves more "
        "products."
    )


def _no_vector_loads(kernel: _Kernel) -> str | None:
    # Vector add of 2^26 float32 on an H200: 0.81 of torch with one element a thread, 0.79 with a bounds check.
    if kernel.uses(Feature.VECTOR_LOADS, Feature.TMA_LOADS, Feature.CP_ASYNC):
        return None
    return (
        "The threads read element by element, with no vector loads: give each thread 16 bytes of neighbours (four "
        "float32), and blocks that divide the size, for a bounds check prevents them."
    )


def _detour(kernel: _Kernel) -> str | None:
    # Softmax of 16384 x 4096 on an H200: 1847 GB/s with four rows through shared memory, 3149 with two straight to a
    # fragment.
    shared = kernel.compiled.shared_bytes
    if shared is None or shared < DETOUR:
        return None
    return (
        f"The tiles take a detour through {shared / 1024:.0f} KiB of shared memory: copy them straight into a "
        "fragment, which was faster for softmax on an H200."
    )


def _few_warps(kernel: _Kernel) -> str | None:
    blocks = kernel.compiled.blocks_per_sm
    if blocks is None or blocks * kernel.threads >= 32 * FEW_WARPS:
        return None
    return (
        f"Only {blocks * kernel.threads // 32} warps fit on a multiprocessor at a time, too few to keep the memory "
        "busy: smaller tiles leave room for more blocks."
    )


_ARITHMETIC: tuple[Rule, ...] = (
    _no_tensor_cores,
    _spills,
    _few_blocks,
    _no_wgmma,
    _no_pipeline,
    _no_tma,
    _one_warp_group,
    _last_wave,
    _scraps,
    _precise,
    _no_swizzle,
    _alone,
    _small_tile,
)
_MEMORY: tuple[Rule, ...] = (_spills, _few_blocks, _no_vector_loads, _detour, _few_warps, _precise)
