"""Sizes of buffers, and who owns their memory."""

from __future__ import annotations

from collections.abc import Iterator

from tlpuzzles.kernel import tile_ir as ir


def owners(func: ir.PrimFunc) -> Iterator[ir.Buffer]:
    """The buffers that own their memory: parameters and allocations. Every other one is a view."""
    yield from func.buffer_map.values()
    for node in ir.walk(func):
        if isinstance(node, ir.SBlock):
            yield from node.alloc_buffers
        elif isinstance(node, ir.AllocBuffer):
            yield node.buffer


def buffer_bytes(buffer: ir.Buffer) -> int:
    """Size of a buffer; 0 where its shape is open."""
    return -(-(bits(buffer) or 0) // 8)


def bits(buffer: ir.Buffer) -> int | None:
    """From a buffer's first element to its last, in bits; None if its shape or strides are open."""
    sizes = [extent.value if isinstance(extent, ir.IntImm) else None for extent in buffer.shape]
    strides = [stride.value if isinstance(stride, ir.IntImm) else None for stride in buffer.strides]
    width = dtype_bits(buffer.dtype)
    last = 0
    step = 1
    for position in reversed(range(len(sizes))):
        size, stride = sizes[position], strides[position] if strides else step
        if size is None or stride is None:
            return None
        last += max(size - 1, 0) * stride
        step *= size
    return (last + 1) * width


def dtype_bits(dtype: str) -> int:
    """Bits of one element: 16 for "float16", 128 for "float32x4"."""
    base, _, lanes = dtype.partition("x")
    if base == "bool":
        width = 8
    elif "_e" in base:
        width = int(base[len("float") : base.index("_")])
    else:
        width = int(base.lstrip("abcdefghijklmnopqrstuvwxyz") or 64)
    return width * int(lanes or 1)
