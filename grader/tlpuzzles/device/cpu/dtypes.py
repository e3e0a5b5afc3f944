"""Dtypes of the IR as C++ types."""

from __future__ import annotations

import math
import re

from tlpuzzles.device.cpu.unsupported import Unsupported

_CPP = {
    "bool": "bool",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float16": "tile::half",
    "bfloat16": "tile::bfloat",
    "float32": "float",
    "float64": "double",
}
ITEM_SIZE = {name: 1 if name == "bool" else int(re.sub(r"\D", "", name)) // 8 for name in _CPP}
"""Bytes of an element, by dtype."""

_LANES = re.compile(r"(.*?)x(\d+)$")


def scalar(dtype: str) -> str:
    """The dtype of one element: "float32" of "float32x4"."""
    match = _LANES.match(dtype)
    return match.group(1) if match else dtype


def lanes(dtype: str) -> int:
    """How many elements a value of the dtype holds: 4 for "float32x4"."""
    match = _LANES.match(dtype)
    return int(match.group(2)) if match else 1


def cpp(dtype: str, line: int | None = None) -> str:
    """The C++ type of one element. Raises Unsupported for formats without one (8-bit floats, 4-bit integers, ...)."""
    name = scalar(dtype)
    if name not in _CPP:
        raise Unsupported(
            f'dtype "{name}"',
            line,
            "the CPU device knows bool, integers of 8 to 64 bits, float16, bfloat16, float32 and float64",
        )
    return _CPP[name]


def is_float(dtype: str) -> bool:
    return scalar(dtype).startswith(("float", "bfloat"))


def is_integer(dtype: str) -> bool:
    return scalar(dtype).startswith(("int", "uint"))


def is_index(dtype: str) -> bool:
    """Whether values of the dtype may be computed in 64 bits instead: signed integers as indices use them."""
    return dtype in ("int32", "int64")


def wide(dtype: str) -> str:
    """The C++ type that chains of operations are carried in: float32 for 16-bit floats, else the type itself."""
    return "float" if scalar(dtype) in ("float16", "bfloat16") else cpp(dtype)


def integer_literal(value: int, dtype: str) -> str:
    """A C++ expression of exactly the dtype's type."""
    if scalar(dtype) == "bool":
        return "true" if value else "false"
    if value == -(2**63):
        return f"{cpp(dtype)}(INT64_MIN)"
    text = f"{value}u" if scalar(dtype).startswith("uint") and value > 2**31 - 1 else str(value)
    return f"{cpp(dtype)}({text})"


def index_literal(value: int) -> str:
    """A C++ expression of an index."""
    if value == -(2**63):
        return "INT64_MIN"
    return f"int64_t({value})" if value >= 0 else f"(int64_t({value}))"


def float_literal(value: float, dtype: str) -> str:
    """A C++ expression of exactly the dtype's type; infinities and NaN included."""
    if math.isnan(value):
        text = '__builtin_nan("")'
    elif math.isinf(value):
        text = "__builtin_inf()" if value > 0 else "-__builtin_inf()"
    else:
        text = value.hex()
    number = f"float({text})" if scalar(dtype) != "float64" else f"double({text})"
    return number if scalar(dtype) in ("float32", "float64") else f"{cpp(dtype)}({number})"


def text_literal(text: str) -> str:
    """A C++ string literal; anything but plain ASCII is written as octal bytes."""
    plain = set(range(32, 127)) - set(b'"\\?%')
    return '"' + "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode()) + '"'


def identifier(name: str) -> str:
    """The part of a name that C++ allows in one; the caller makes it unique."""
    return re.sub(r"[^A-Za-z0-9]", "_", name.encode("ascii", "replace").decode())[:40] or "_"
