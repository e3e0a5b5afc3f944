"""Tensors on the GPU that tell what a kernel did to them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch

BAND = 32 << 10
"""Bytes of guard on each side of an output. A multiple of 16: to so many bytes TileLang's kernels want it aligned."""

_FILL = 0xA5
_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def dtype_of(name: str) -> torch.dtype:
    """torch.float16 of "float16"."""
    dtype = getattr(torch, name)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"{name} is no dtype")
    return dtype


def read(path: str, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    """The tensor in a raw file, on the host, not copied. Raises OSError if the file is missing or of another size."""
    data = np.memmap(path, np.uint8, mode="c")
    expected = math.prod(shape) * dtype.itemsize
    if data.nbytes != expected:
        raise OSError(f"{path} holds {data.nbytes} bytes; {dtype} {list(shape)} has {expected}")
    return torch.from_numpy(data).view(dtype).view(shape)


def write(tensor: torch.Tensor, path: str) -> None:
    """The elements of a contiguous tensor, in row-major order, as a raw file."""
    Path(path).write_bytes(bits(tensor).view(torch.uint8).flatten().cpu().numpy().tobytes())


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements as integers: NaN then equals itself, and -0.0 differs from 0.0."""
    return tensor.view(_BITS[tensor.element_size()])


def first_difference(found: torch.Tensor, original: torch.Tensor) -> tuple[int, tuple[int, ...]] | None:
    """(how many elements differ, index of the first) of two tensors on the host; None if they are equal bit for bit."""
    different = bits(found) != bits(original)
    count = int(different.sum())
    if count == 0:
        return None
    flat = int(different.flatten().to(torch.uint8).argmax())
    index: list[int] = []
    for extent in reversed(found.shape):
        flat, position = divmod(flat, extent)
        index.insert(0, position)
    return count, tuple(index)


class Guarded:
    """An output between two guard bands."""

    def __init__(self, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> None:
        size = math.prod(shape) * dtype.itemsize
        self._memory = torch.empty(size + 2 * BAND, dtype=torch.uint8, device=device)
        self.tensor = self._memory[BAND : BAND + size].view(dtype).view(shape)
        self.bits = bits(self.tensor)
        self._before, self._after = self._memory[:BAND], self._memory[BAND + size :]

    def poison(self, pattern: int) -> None:
        """Sets every element to a bit pattern, and the guard bands anew."""
        self.bits.fill_(as_signed(pattern, self.bits.dtype))
        self._before.fill_(_FILL)
        self._after.fill_(_FILL)

    def overrun(self) -> str | None:
        """ "before" or "after", where memory outside the output was written."""
        for name, band in (("before", self._before), ("after", self._after)):
            if bool((band != _FILL).any()):
                return name
        return None


def as_signed(pattern: int, dtype: torch.dtype) -> int:
    """The bit pattern as the number that torch's signed integer of that width has."""
    width = 8 * dtype.itemsize
    return pattern - (1 << width) if pattern >> (width - 1) & 1 else pattern
