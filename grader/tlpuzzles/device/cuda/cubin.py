"""Registers and local memory of kernels that nvcc has compiled, read from the cubin: no GPU and no further tool.

A cubin is an ELF file. Its section `.nv.info` has, for each kernel by its number among the symbols, what `cuobjdump
--dump-resource-usage` prints: attribute 0x2f is the registers of a thread, 0x11 the bytes of its frame in local memory,
which is what ptxas calls "stack frame". A test compares both with what ptxas says.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tlpuzzles.seeing.model import Compilation

_REGISTERS, _FRAME = 0x2F, 0x11
_SIZED = 4
"""Format of an attribute that brings its length; all others have two bytes of value."""


@dataclass(frozen=True)
class _Section:
    name: int
    data: bytes


def usage(cubin: bytes) -> Mapping[str, Compilation]:
    """By kernel. Raises ValueError for what is no cubin."""
    try:
        sections = list(_sections(cubin))
        symbols, strings = sections[_named(sections, ".symtab")].data, sections[_named(sections, ".strtab")].data
        found: dict[int, dict[int, int]] = {}
        for attribute, symbol, value in _attributes(sections[_named(sections, ".nv.info")].data):
            found.setdefault(symbol, {})[attribute] = value
        return {
            _text(strings, struct.unpack_from("<I", symbols, 24 * symbol)[0]): Compilation(
                registers=values[_REGISTERS], local_bytes=values.get(_FRAME, 0)
            )
            for symbol, values in found.items()
            if _REGISTERS in values
        }
    except (struct.error, IndexError, StopIteration) as error:
        raise ValueError("not a cubin as nvcc writes it") from error


def _sections(elf: bytes) -> Iterator[_Section]:
    if elf[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + number * size) for number in range(count)]
    yield _Section(0, elf[headers[names][4] :][: headers[names][5]])
    yield from (_Section(header[0], elf[header[4] : header[4] + header[5]]) for header in headers)


def _named(sections: list[_Section], name: str) -> int:
    """Its place; the section of names is put before all others."""
    return next(at for at, one in enumerate(sections[1:], 1) if _text(sections[0].data, one.name) == name)


def _text(strings: bytes, at: int) -> str:
    return strings[at:].partition(b"\0")[0].decode("utf-8", "replace")


def _attributes(info: bytes) -> Iterator[tuple[int, int, int]]:
    at = 0
    while at + 4 <= len(info):
        kind, attribute, size = struct.unpack_from("<BBH", info, at)
        if kind == _SIZED and size == 8 and attribute in (_REGISTERS, _FRAME):
            symbol, value = struct.unpack_from("<II", info, at + 4)
            yield attribute, symbol, value
        at += 4 + (size if kind == _SIZED else 0)
