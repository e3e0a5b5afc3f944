"""Tiles in a terminal: for a corner of each, which thread holds an element, or where in shared memory it is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks
from tlpuzzles.seeing.model import Band, Fragment, Shared, Tile, WarpMap

ROWS = 8
"""Of a grid: what one mma.sync and one ldmatrix see of a column of small matrices."""
COLUMNS = 16
COLOURS = ("red", "green", "yellow", "blue", "magenta", "cyan")
INDENT = 2


def tile_grids(tiles: Sequence[Tile], page: Page, marks: Marks) -> None:
    """Each tile with its grid; tiles that are laid out alike share one."""
    if not tiles:
        page.paragraph("None: every thread works on values of its own.", lead="  ")
        return
    for number, alike in enumerate(_alike(tiles)):
        if number:
            page.blank()
        first = alike[0]
        shape = " x ".join(map(str, first.shape))
        names = marks.one_line(", ".join(tile.name for tile in alike))
        page.paragraph(Text.assemble((names, "bold"), f"  {shape} {first.dtype}"), lead="  ")
        if isinstance(first.held, Fragment):
            _fragment(first.held, first.shape, page, marks)
        else:
            _shared(first.held, first, page)


def _alike(tiles: Sequence[Tile]) -> list[list[Tile]]:
    groups: list[list[Tile]] = []
    for tile in tiles:
        same = (group for group in groups if _drawn(group[0]) == _drawn(tile))
        found = next(same, None)
        if found is None:
            groups.append([tile])
        else:
            found.append(tile)
    return groups


def _drawn(tile: Tile) -> tuple[object, ...]:
    held = tile.held
    return (tile.dtype, tile.shape, held.model_copy(update={"base": 0}) if isinstance(held, Shared) else held)


def _fragment(held: Fragment, shape: Sequence[int], page: Page, marks: Marks) -> None:
    copies = f", each element by {held.copies} of them" if held.copies > 1 else ""
    told = (
        f"In the registers of {held.threads} threads{copies}: {held.places:,} elements in {held.registers:,} registers "
        f"a thread. T5/r2 is element 2 of thread 5's.{after_producers(held)}"
    )
    page.paragraph(told, lead="  ", style="dim")
    cells = [
        [(f"T{thread}/r{place}", thread) for thread, place in zip(threads, places, strict=True)]
        for threads, places in zip(held.thread_grid[:ROWS], held.place_grid[:ROWS], strict=True)
    ]
    _grid(cells, page, step=1, shape=shape)
    if held.warps is not None and len(held.warps.rows) * len(held.warps.columns) > 1:
        _warps(held.warps, page, marks)


def after_producers(held: Fragment) -> str:
    """Why the first of its threads has another number than 0; nothing where it has not."""
    if not held.first_thread:
        return ""
    last = held.first_thread + held.threads - 1
    return (
        f" These threads are T{held.first_thread} to T{last}: before them TileLang has put "
        f"{held.first_thread} more, which only copy."
    )


def _shared(held: Shared, tile: Tile, page: Page) -> None:
    first = f"In shared memory, {tile.bytes:,} bytes" + (f" and {held.stages} copies" if held.stages > 1 else "")
    first += ", swizzled" if held.swizzled else ", row by row"
    told = [f"{first}. A cell is {_pieces(held, tile)}: its byte, and the bank where it begins."]
    if held.conflict is not None:
        told.append(_conflict(held))
    page.paragraph(" ".join(told), lead="  ", style="dim")
    cells = [
        [(f"@{offset}/b{held.bank(offset)}", held.bank(offset) // 4) for offset in row]
        for row in held.offset_grid[:ROWS]
    ]
    _grid(cells, page, step=held.chunk, shape=tile.shape)


def _pieces(held: Shared, tile: Tile) -> str:
    if held.chunk == 1:
        return "an element"
    count = 1
    for extent in tile.shape:
        count *= extent
    return f"{held.chunk} neighbours of a row ({held.chunk * tile.bytes // count} bytes)"


def _conflict(held: Shared) -> str:
    other = f", row by row they would take {held.plain_conflict}" if held.swizzled else ""
    turns = "one turn" if held.conflict == 1 else f"{held.conflict} turns"
    return f"Eight rows' 16 bytes below each other, as ldmatrix would read them, take {turns} of the banks{other}."


def _grid(cells: list[list[tuple[str, int]]], page: Page, *, step: int, shape: Sequence[int]) -> None:
    """`cells`: what stands there, and a number for its colour. `step`: elements from one column to the next."""
    wide = max(len(text) for row in cells for text, _ in row)
    label = len(str(len(cells) - 1))
    room = (page.width - INDENT - label) // (wide + 1)
    columns = min(COLUMNS, len(cells[0]), room if room < 4 else room // 2 * 2)
    head = " ".join(str(column * step).ljust(wide) for column in range(columns)).rstrip()
    page.line((f"{' ' * (INDENT + label)} {head}", "dim"))
    for number, row in enumerate(cells):
        line = Text.assemble(" " * INDENT, (f"{number:>{label}}", "dim"))
        for text, colour in row[:columns]:
            line.append(" ")
            line.append(text.ljust(wide), style=COLOURS[colour % len(COLOURS)])
        line.rstrip()
        page.line(line)
    rows, across = math.prod(shape[:-1]), min(columns * step, shape[-1])
    if (len(cells), across) != (rows, shape[-1]):
        told = f"The first {len(cells)} of {rows} rows, and {across} of {shape[-1]} columns."
        page.paragraph(told, lead="  ", style="dim")


def _warps(warps: WarpMap, page: Page, marks: Marks) -> None:
    """Which warp holds which part."""
    page.paragraph("Its warps, by rows and columns:", lead="  ", style="dim")
    rows = [_band(band) for band in warps.rows]
    columns = [_band(band) for band in warps.columns]
    wide, label = max(6, *map(len, columns)), max(map(len, rows))
    most = max((page.width - INDENT - label - 1 - len(marks.ellipsis)) // (wide + 1), 1)
    left_out = f" {marks.ellipsis}" if len(columns) > most else ""
    page.line(
        (
            " " * (INDENT + label + 1) + " ".join(column.ljust(wide) for column in columns[:most]).rstrip() + left_out,
            "dim",
        )
    )
    for name, owners in zip(rows, warps.warps, strict=True):
        line = Text.assemble(" " * INDENT, (name.ljust(label), "dim"))
        for warp in owners[:most]:
            line.append(" ")
            line.append(f"w{warp}".ljust(wide), style=COLOURS[warp % len(COLOURS)])
        line.rstrip()
        page.line(line)


def _band(band: Band) -> str:
    return str(band.first) if band.first == band.last else f"{band.first}-{band.last}"
