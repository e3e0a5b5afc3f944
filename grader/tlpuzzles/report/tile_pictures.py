"""Tiles as SVG files: a corner of each, element by element, and which warps hold the rest. Light and dark."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from tlpuzzles.errors import NotWritten
from tlpuzzles.plain import one_line
from tlpuzzles.report.tile_grids import after_producers
from tlpuzzles.seeing.model import Band, Fragment, Shared, Tile, WarpMap
from tlpuzzles.workspace.replacing import write_whole

ROWS, COLUMNS = 16, 16
"""Of the corner that is drawn."""
_WIDE, _HIGH = 72, 22
"""Of a cell."""
_LEFT, _TOP = 56, 62
"""Of the grid; below the lines that come before it."""
_LINE = 17
_LETTER = 7.3
"""Width of a letter of those lines, in the widest of the fonts."""
_EDGE = 20
_NARROWEST = 560

_STYLE = """
  text { font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #24292f; text-anchor: middle; }
  .head { font: 600 16px -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; text-anchor: start; }
  .says { font: 12.5px -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; text-anchor: start; }
  .quiet { fill: #57606a; } .panel { fill: #fbfbf8; stroke: #d0d7de; } rect.cell { stroke: #fbfbf8; }
  .c0 { fill: #cfe2ff; } .c1 { fill: #ffe0bd; } .c2 { fill: #c9efd6; } .c3 { fill: #e6dafa; }
  .c4 { fill: #ffd9d6; } .c5 { fill: #c8ecf0; } .c6 { fill: #f3e3a2; } .c7 { fill: #dfe3e8; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .quiet { fill: #9198a1; } .panel { fill: #14181e; stroke: #3d444d; }
    rect.cell { stroke: #14181e; }
    .c0 { fill: #1d4480; } .c1 { fill: #7a4310; } .c2 { fill: #1a5c38; } .c3 { fill: #54318a; }
    .c4 { fill: #83302c; } .c5 { fill: #14575f; } .c6 { fill: #655509; } .c7 { fill: #444c56; }
  }
"""


def draw(tiles: Sequence[Tile], folder: Path) -> list[str]:
    """Writes one file for each tile, and says their names. Raises NotWritten where the folder cannot be written.

    What lies there under such a name is replaced, and not followed if it is a link.
    """
    written: list[str] = []
    for tile in tiles:
        stem = re.sub(r"\W", "_", tile.name, flags=re.ASCII) or "tile"
        name = f"{stem}.svg"
        if name in written:
            name = f"{stem}-{len(written)}.svg"
        try:
            write_whole(folder / name, picture(tile).encode())
        except OSError as error:
            raise NotWritten(f"--svg: {one_line(folder / name)} cannot be written: {error.strerror}.") from None
        written.append(name)
    return written


def picture(tile: Tile) -> str:
    """The SVG document of a tile."""
    held = tile.held
    told, cells, step = _told(tile), _cells(tile), _step(tile)
    warps = held.warps if isinstance(held, Fragment) else None
    room, width = _room(cells), width_of(tile)
    rows = [row for line in told for row in _balanced(line, int((room - 2 * _EDGE) / _LETTER))]
    top = _TOP + len(rows) * _LINE
    body, height = _grid(cells, step, top), top + len(cells) * _HIGH
    if warps is not None and len(warps.rows) * len(warps.columns) > 1:
        body += _warp_map(warps, height + 44)
        height += 44 + len(warps.rows) * _HIGH
    height += _EDGE
    lines = "".join(
        f'<text class="says quiet" x="{_EDGE}" y="{50 + _LINE * number}">{escape(row)}</text>\n'
        for number, row in enumerate(rows)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-labelledby="t d">\n<title id="t">{escape(f"{titled(tile)}: where each element is")}</title>\n'
        f'<desc id="d">{escape(described(tile))}</desc>\n<style>{_STYLE}</style>\n'
        f'<rect class="panel" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
        f'<text class="head" x="{_EDGE}" y="30">{escape(titled(tile))}</text>\n'
        f"{lines}{body}</svg>\n"
    )


def width_of(tile: Tile) -> int:
    """How wide the picture is, in pixels."""
    warps = tile.held.warps if isinstance(tile.held, Fragment) else None
    of_warps = 0 if warps is None else 2 * _LEFT + len(warps.columns) * _WIDE + _EDGE
    return max(_room(_cells(tile)), of_warps)


def titled(tile: Tile) -> str:
    """Name, shape and dtype."""
    return f"{tile.name}, {' x '.join(map(str, tile.shape))} {tile.dtype}"


def described(tile: Tile) -> str:
    """In words, what the picture says of all elements."""
    cells = _cells(tile)
    return " ".join([*_told(tile), f"Drawn are the first {len(cells)} rows and {len(cells[0]) * _step(tile)} columns."])


def _room(cells: list[list[tuple[str, int]]]) -> int:
    """The width that lines of text have."""
    return max(_LEFT + len(cells[0]) * _WIDE + _EDGE, _NARROWEST)


def _balanced(line: str, letters: int) -> list[str]:
    """In as few lines as so many letters to a line allow, of like lengths: no number stands alone in the last one. The
    terms of a formula stay whole."""
    whole = re.sub(r" ([*/%]+) ", "\u00a0\\1\u00a0", line)
    rows = textwrap.wrap(whole, letters)
    shorter = (textwrap.wrap(whole, fewer) for fewer in range(len(whole) // len(rows), letters))
    return next((balanced for balanced in shorter if len(balanced) == len(rows)), rows)


def _told(tile: Tile) -> list[str]:
    return _fragment_says(tile.held) if isinstance(tile.held, Fragment) else _shared_says(tile.held)


def _cells(tile: Tile) -> list[list[tuple[str, int]]]:
    return _fragment_cells(tile.held) if isinstance(tile.held, Fragment) else _shared_cells(tile.held)


def _step(tile: Tile) -> int:
    """Elements of a cell."""
    return 1 if isinstance(tile.held, Fragment) else tile.held.chunk


def _fragment_says(held: Fragment) -> list[str]:
    copies = f", each element by {held.copies}" if held.copies > 1 else ""
    what = "T5/r2 is element 2 of those that thread 5 holds."
    return [
        f"Held by {held.threads} threads{copies}; {what}{after_producers(held)}",
        f"thread = {held.thread_formula};  place = {held.place_formula}",
    ]


def _shared_says(held: Shared) -> list[str]:
    how = "swizzled" if held.swizzled else "row by row"
    return [
        f"In shared memory, {how}; @64/b16 begins at byte 64 of the tile, in bank 16 of 32.",
        f"element = {held.offset_formula}",
    ]


def _fragment_cells(held: Fragment) -> list[list[tuple[str, int]]]:
    return [
        [(f"T{thread}/r{place}", thread % 8) for thread, place in zip(threads, places, strict=True)][:COLUMNS]
        for threads, places in zip(held.thread_grid[:ROWS], held.place_grid[:ROWS], strict=True)
    ]


def _shared_cells(held: Shared) -> list[list[tuple[str, int]]]:
    return [
        [(f"@{offset}/b{held.bank(offset)}", held.bank(offset) // 4) for offset in row[:COLUMNS]]
        for row in held.offset_grid[:ROWS]
    ]


def _grid(cells: list[list[tuple[str, int]]], step: int, start: int) -> str:
    parts = [_label(_LEFT + _WIDE * (at + 0.5), start - 6, str(at * step)) for at in range(len(cells[0]))]
    for number, row in enumerate(cells):
        top = start + number * _HIGH
        parts.append(_label(_LEFT - 14, top + 15, str(number)))
        parts += [_cell(_LEFT + at * _WIDE, top, text, colour) for at, (text, colour) in enumerate(row)]
    return "".join(parts)


def _warp_map(warps: WarpMap, top: int) -> str:
    left = 2 * _LEFT
    parts = [
        f'<text class="says quiet" x="{_EDGE}" y="{top - 22}">Warps, by rows and columns of the whole tile:</text>\n'
    ]
    parts += [_label(left + _WIDE * (at + 0.5), top - 6, _band(band)) for at, band in enumerate(warps.columns)]
    for number, (band, owners) in enumerate(zip(warps.rows, warps.warps, strict=True)):
        place = top + number * _HIGH
        parts.append(_label(left - 40, place + 15, _band(band)))
        parts += [_cell(left + at * _WIDE, place, f"warp {warp}", warp % 8) for at, warp in enumerate(owners)]
    return "".join(parts)


def _label(x: float, y: float, text: str) -> str:
    return f'<text class="quiet" x="{x:g}" y="{y:g}">{text}</text>\n'


def _cell(x: int, y: int, text: str, colour: int) -> str:
    return (
        f'<rect class="cell c{colour}" x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}"/>'
        f'<text x="{x + _WIDE / 2:g}" y="{y + 15}">{text}</text>\n'
    )


def _band(band: Band) -> str:
    return str(band.first) if band.first == band.last else f"{band.first}-{band.last}"
