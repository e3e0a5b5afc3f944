"""Where the elements of a kernel's tiles lie, as pictures of a page."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from tlpuzzles.report.tile_pictures import described, picture, titled, width_of
from tlpuzzles.seeing.model import Tile


@dataclass(frozen=True)
class Tiles:
    """The tiles of one of a submission's kernels, compiled for one GPU."""

    tiles: Sequence[Tile]
    case: str
    """Title of the case that the kernel was made for."""
    gpu: str


@dataclass(frozen=True)
class Drawn:
    """One tile."""

    title: str
    width: int
    """In pixels; it does not shrink."""
    description: str
    source: str
    """An address that has the picture in it. As an image of its own its style holds for nothing around it."""


def drawn(tiles: Tiles) -> tuple[Drawn, ...]:
    return tuple(
        Drawn(titled(tile), width_of(tile), described(tile), "data:image/svg+xml;base64," + _encoded(picture(tile)))
        for tile in tiles.tiles
    )


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
