"""Colours of the picture of an error map, in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tlpuzzles.report.severity import Severity

CLASS = "error-map"
"""Begins every name in the style sheet, which holds for all of the page that a picture stands in."""


@dataclass(frozen=True)
class _Shade:
    """Of a cell, and of the mark in it."""

    light: tuple[str, str]
    dark: tuple[str, str]


_SHADES = {
    Severity.RIGHT: _Shade(("#e0eee3", "#1f2328"), ("#1c3526", "#e6edf3")),
    Severity.SLIGHT: _Shade(("#fff0c2", "#1f2328"), ("#54460f", "#ffffff")),
    Severity.SOME: _Shade(("#fbc77a", "#1f2328"), ("#7d5210", "#ffffff")),
    Severity.MUCH: _Shade(("#e9834f", "#1f2328"), ("#b04a1a", "#ffffff")),
    Severity.ALL: _Shade(("#b3261e", "#ffffff"), ("#ff6b60", "#0d1117")),
    Severity.INFINITE: _Shade(("#e3a6da", "#1f2328"), ("#8f2f7e", "#ffffff")),
    Severity.NAN: _Shade(("#7a3fb3", "#ffffff"), ("#b78af0", "#0d1117")),
    Severity.UNWRITTEN: _Shade(("#4a6f99", "#ffffff"), ("#8fb7e0", "#0d1117")),
}


def of_cell(one: Severity) -> str:
    """The class of a rectangle."""
    return f"{CLASS}-{one.name.lower()}"


def on_cell(one: Severity) -> str:
    """The class of the mark in it."""
    return f"{CLASS}-on-{one.name.lower()}"


def style_sheet() -> str:
    """For all cells and words, by the reader's preference."""
    dark = "\n".join(f"  {rule}" for rule in _rules("#e6edf3", {one: shade.dark for one, shade in _SHADES.items()}))
    light = "\n".join(_rules("#1f2328", {one: shade.light for one, shade in _SHADES.items()}))
    font = f".{CLASS} text {{ font: 12px ui-monospace, monospace; }}\n.{CLASS} .{CLASS}-head {{ font-weight: bold; }}"
    return f"\n{font}\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def _rules(words: str, shades: dict[Severity, tuple[str, str]]) -> Iterator[str]:
    yield f".{CLASS}-word {{ fill: {words}; }}"
    for one, (cell, mark) in shades.items():
        yield f".{of_cell(one)} {{ fill: {cell}; }} .{on_cell(one)} {{ fill: {mark}; }}"
