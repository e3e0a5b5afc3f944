"""What TileLang 0.1.15 calls things in the CUDA source that it writes: regular expressions, each in this one place.

What only prepares or awaits a copy or a product has other names. Exercise 8's `landmarks`, the instructions that a
report on speed lists, and `tlpuzzles inspect` all read a source by these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MMA = r"\btl::mma_sync\b"
WGMMA = r"\btl::wgmma_(?:ss|rs)\b"
LDMATRIX = r"\btl::ptx_ldmatrix_"
CP_ASYNC = r"\btl::cp_async_gs"
TMA_LOAD = r"\btl::tma_load"
TMA_STORE = r"\btl::tma_store(?!_arrive|_wait)"
MBARRIER_WAIT = r"\.wait\("
BARRIER = r"\b__syncthreads\b"
PARTIAL_BARRIER = r"\b__sync_thread_partial\b"
PRODUCERS = r"\btl::warpgroup_reg_dealloc\b"
SWIZZLE = r"\btl::rasterization2D(?P<along>Row|Column)\b"
VECTOR_LOAD = r"\btl::load_global_(?:64|128|256)\b"
VECTOR_STORE = r"\btl::store_global_(?:64|128|256)\b"
PRECISE = r"\b(?:expf|tanhf)\("

KERNEL = re.compile(r"__global__\s+void\s+__launch_bounds__\((?P<threads>\d+)\b[^)]*\)\s+(?P<name>\w+)\(")
"""Where a kernel is defined."""

_TENSORS = re.compile(r"\*\s*__restrict__\s+(\w+)")
"""Parameters that point into device memory."""
VECTOR_BYTES = {
    **dict.fromkeys(("uint2", "float2"), 8),
    **dict.fromkeys(("uint4", "float4", "double2", "longlong2", "ulonglong2"), 16),
    **dict.fromkeys(("longlong4", "ulonglong4"), 32),
}
"""Types as which a thread reads or writes several elements, and how many bytes they have."""


def tensors(source: str) -> tuple[str, ...]:
    """Names of the tensors that a source's kernels point to."""
    return tuple(dict.fromkeys(_TENSORS.findall(source)))


def vector_accesses(source: str, names: tuple[str, ...]) -> Iterator[re.Match[str]]:
    """Where a thread reads or writes several elements of one of these tensors at once; groups `vector`, `tensor` and,
    if it is a store, `store`."""
    if not names:
        return iter(())
    # A store begins a statement; everywhere else an access is a load.
    vectors, tensor = "|".join(VECTOR_BYTES), "|".join(names)
    pattern = rf"(?P<store>(?:^|[;{{}}])\s*)?\*\((?P<vector>{vectors})\s*\*\)\((?P<tensor>{tensor})\b"
    return re.finditer(pattern, source, re.MULTILINE)
