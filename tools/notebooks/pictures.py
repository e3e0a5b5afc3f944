"""The pictures of lessons as notebooks can show them everywhere.

Colab shows no SVG in text, and no attachments, but PNG that is written into it. So each picture is kept as PNG too, in
notebooks/pictures, and has the hash of the SVG that it was made from in it: fonts differ from machine to machine, and
so the two can only be compared by that.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import subprocess
import zlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "docs" / "pictures"
FOLDER = ROOT / "notebooks" / "pictures"
WIDTH = 1140
"""Pixels: one and a half of the picture's own, for it is shown as wide as the text."""

_KEY = b"made-from-sha256"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = 25
"""Bytes of a PNG's first chunk."""


def as_uri(stem: str) -> str:
    """The PNG of docs/pictures/STEM.svg as the address of a picture. Raises FileNotFoundError if it was not made."""
    return f"data:image/png;base64,{base64.b64encode(_file(stem).read_bytes()).decode('ascii')}"


def is_current(stem: str) -> bool:
    """Whether the PNG is there, and was made from the SVG as it is now."""
    return _file(stem).is_file() and _text_chunk(stem) in _file(stem).read_bytes()


def make(stem: str) -> None:
    """Makes the PNG. Raises FileNotFoundError where rsvg-convert or pngquant is missing."""
    drawn = subprocess.run(
        ["rsvg-convert", "--width", str(WIDTH), SOURCES / f"{stem}.svg"], capture_output=True, check=True
    ).stdout
    small = subprocess.run(["pngquant", "--strip", "64", "-"], input=drawn, capture_output=True, check=True).stdout
    after_header = len(_SIGNATURE) + _HEADER
    FOLDER.mkdir(parents=True, exist_ok=True)
    _file(stem).write_bytes(small[:after_header] + _text_chunk(stem) + small[after_header:])


def _file(stem: str) -> Path:
    return FOLDER / f"{stem}.png"


def _text_chunk(stem: str) -> bytes:
    """A PNG's chunk with the hash of the SVG."""
    source = (SOURCES / f"{stem}.svg").read_bytes()
    body = b"tEXt" + _KEY + b"\0" + hashlib.sha256(source).hexdigest().encode("ascii")
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
