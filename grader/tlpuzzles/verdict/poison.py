"""The bits that outputs are filled with before a kernel runs: what still holds them afterwards was never written.

Before a second run they are leftovers instead: large finite numbers. A maximum or minimum of NaN and a number is the
number, which hides that the output was read.

Quiet NaNs with a payload that no arithmetic makes up: hardware and compilers give 0x7FC00000, 0x7FFFFFFF and the like.
A kernel that reads its own unset output may hand the payload on; that, too, is an element without a value of its own.
"""

from __future__ import annotations

POISON_BITS = {"float16": 0x7F5A, "bfloat16": 0x7FEB, "float32": 0x7FEBF5A7}
"""By dtype, as an unsigned integer of the dtype's width."""

LEFTOVER_BITS = {"float16": (0x7A5A, 0xFA5A), "bfloat16": (0x7A5A, 0xFA5A), "float32": (0x7A5A5A5A, 0xFA5A5A5A)}
"""By dtype, a large number and its negative: elements hold them in turns."""

WIDTH = {"float16": 2, "bfloat16": 2, "float32": 4}
"""Bytes of an element, by dtype."""


def poisoned(dtype: str, count: int) -> bytes:
    """The raw bytes (little-endian) of `count` unwritten elements. Raises KeyError for a dtype without a poison."""
    return POISON_BITS[dtype].to_bytes(WIDTH[dtype], "little") * count


def leftovers(dtype: str, count: int) -> bytes:
    """The raw bytes of `count` elements that seem to hold something. Raises KeyError for a dtype without a poison."""
    pair = b"".join(bits.to_bytes(WIDTH[dtype], "little") for bits in LEFTOVER_BITS[dtype])
    return (pair * (count // 2 + 1))[: count * WIDTH[dtype]]
