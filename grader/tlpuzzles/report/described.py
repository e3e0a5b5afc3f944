"""The map of a wrong output in sentences, for those who cannot see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tlpuzzles.report.severity import MOSTLY, Severity, others, severity
from tlpuzzles.verdict.error_map import Cell, ErrorMap, MapAxis

RUNS = 4
"""Stretches of a row that are told one by one."""
PARTS = 8
"""Rows, or stretches of a vector, that are: more would be read to nobody's use."""


def describe(shown: ErrorMap) -> str:
    """What is where, from the first row to the last; rows that are alike are told together."""
    if len(shown.axes) == 1:
        return f"{_along(shown.axes[0], [cell for row in shown.cells for cell in row], PARTS)}."
    told, start = [], 0
    for words, same in groupby(_along(shown.axes[1], row, RUNS) for row in shown.cells):
        count = len(list(same))
        first, last = shown.axes[0].span(start, count)
        told.append(f"{shown.axes[0].name} {first} to {last}: {words}")
        start += count
    return f"{'; '.join(told)}."


def tell(cell: Cell) -> str:
    """A cell in a few words: "never written, also NaN, in 40 % of it"."""
    words = [severity(cell).value, *(f"also {one.value}" for one in others(cell))]
    if 0 < cell.part < MOSTLY:
        words.append(f"in {100 * cell.part:.2g} % of it")
    return ", ".join(words)


def _along(axis: MapAxis, cells: Sequence[Cell], most: int) -> str:
    """One row, or all of a vector."""
    runs = [(words, len(list(same))) for words, same in groupby(map(tell, cells))]
    if len(runs) == 1:
        return f"{runs[0][0]}, all along {axis.name}"
    if len(runs) > most:
        wrong = sum(severity(cell) is not Severity.RIGHT for cell in cells)
        worst = max(map(severity, cells), key=list(Severity).index).value
        return f"something wrong in {wrong} of {len(cells)} cells along {axis.name}, up to {worst}"
    return ", ".join(_stretches(axis, runs))


def _stretches(axis: MapAxis, runs: Sequence[tuple[str, int]]) -> Iterator[str]:
    start = 0
    for words, count in runs:
        first, last = axis.span(start, count)
        yield f"{axis.name} {first} to {last} {words}"
        start += count
