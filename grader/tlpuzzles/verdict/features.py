"""What a generated CUDA source may contain that bears on its speed: the words of `Compiled.instructions`."""

from __future__ import annotations

from enum import Enum


class Feature(str, Enum):
    """Instructions, and ways to use them."""

    WGMMA = "wgmma"
    """Products of a warp group (sm_90a)."""
    MMA = "mma.sync"
    """Products of a warp."""
    LDMATRIX = "ldmatrix"
    TMA_LOADS = "TMA loads"
    """Whole tiles, copied by the copy engine into shared memory (sm_90a)."""
    TMA_STORES = "TMA stores"
    CP_ASYNC = "cp.async"
    MBARRIERS = "mbarriers"
    """Waits for bytes to arrive."""
    PRODUCERS = "producer warps"
    """Warps that only copy, 128 threads of them, which TileLang adds (sm_90a)."""
    VECTOR_LOADS = "vector loads"
    """A thread reads 8 bytes or more of a tensor at once."""
    VECTOR_STORES = "vector stores"
    SWIZZLE = "L2 swizzle"
    """Blocks are renumbered by T.use_swizzle."""
    PRECISE = "precise exp or tanh"
    """Functions of several instructions, where fast math has one."""
