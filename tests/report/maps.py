"""Error maps as judgings give them."""

from __future__ import annotations

from tlpuzzles.verdict.error_map import BrokenRow, Cell, CellState, ErrorMap, MapAxis

STATES = {
    ".": Cell(state=CellState.RIGHT),
    "s": Cell(state=CellState.WRONG, part=1.0, error=0.004),
    "o": Cell(state=CellState.WRONG, part=1.0, error=0.05),
    "m": Cell(state=CellState.WRONG, part=1.0, error=0.5),
    "w": Cell(state=CellState.WRONG, part=1.0, error=2.0),
    "h": Cell(state=CellState.WRONG, part=0.5, error=2.0),
    "f": Cell(state=CellState.WRONG, part=0.01, error=2.0),
    "x": Cell(state=CellState.WRONG, part=1.0, error=2.0, also=(CellState.NAN,)),
    "?": Cell(state=CellState.WRONG, part=1.0),
    "N": Cell(state=CellState.NAN, part=1.0),
    "I": Cell(state=CellState.INFINITE, part=1.0),
    "U": Cell(state=CellState.UNWRITTEN, part=1.0),
}


def cells(rows: str) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(STATES[letter] for letter in row) for row in rows.split())


def matrix(rows: str, *, cell: int = 32, block: int | None = 128, short: int = 0) -> ErrorMap:
    """A matrix whose last row and column lack `short` elements of a cell."""
    grid = cells(rows)
    axes = (
        MapAxis(name="M", size=len(grid) * cell - short, cell=cell, block=block),
        MapAxis(name="N", size=len(grid[0]) * cell - short, cell=cell, block=block),
    )
    return ErrorMap(tensor="C", axes=axes, cells=grid, first=_first(grid))


def vector(rows: str, *, cell: int = 128, block: int | None = 1024, short: int = 0) -> ErrorMap:
    grid = cells(rows)
    axis = MapAxis(name="N", size=sum(map(len, grid)) * cell - short, cell=cell, block=block)
    return ErrorMap(tensor="C", axes=(axis,), cells=grid, first=_first(grid))


def attention(rows: str, *, wrong_slices: int = 4, first_row: int = 64, wrong: int = 64) -> ErrorMap:
    grid = cells(rows)
    return ErrorMap(
        tensor="O",
        axes=(
            MapAxis(name="seq_len", size=32 * len(grid), cell=32, block=64),
            MapAxis(name="dim", size=4 * len(grid[0]), cell=4),
        ),
        cells=grid,
        first=_first(grid),
        fixed={"batch": 0, "heads": 2},
        slices=6,
        wrong_slices=wrong_slices,
        first_row=BrokenRow(name="query", index=first_row, wrong=wrong, length=64),
    )


def _first(grid: tuple[tuple[Cell, ...], ...]) -> CellState:
    return next(cell.state for row in grid for cell in row if cell.state is not CellState.RIGHT)
