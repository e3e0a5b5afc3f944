"""The bits that outputs are filled with before a kernel runs: what still holds them afterwards was never written.

Quiet NaNs with a payload that no arithmetic makes up: hardware and compilers give 0x7FC00000, 0x7FFFFFFF and the like.
A kernel that reads its own unset output may hand the payload on; that, too, is an element without a value of its own.
"""

from __future__ import annotations

POISON_BITS = {"float16": 0x7F5A, "bfloat16": 0x7FEB, "float32": 0x7FEBF5A7}
"""By dtype, as an unsigned integer of the dtype's width."""

WIDTH = {"float16": 2, "bfloat16": 2, "float32": 4}
"""Bytes of an element, by dtype."""


def poisoned(dtype: str, count: int) -> bytes:
    """The raw bytes (little-endian) of `count` unwritten elements. Raises KeyError for a dtype without a poison."""
    return POISON_BITS[dtype].to_bytes(WIDTH[dtype], "little") * count
