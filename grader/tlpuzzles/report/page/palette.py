"""Colours of a page, in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    light: str
    dark: str


SURFACES = {
    "ground": Colour("#f4f3ee", "#0d1117"),
    "panel": Colour("#ffffff", "#161b22"),
    "sunk": Colour("#f1efe8", "#1d232c"),
}
"""What ordinary text stands on: the page, a section of it, and what is quoted there."""

TEXTS = {
    "ink": Colour("#1f2328", "#e6edf3"),
    "quiet": Colour("#555d66", "#a3abb5"),
    "accent": Colour("#0b57a4", "#7ab7ff"),
    "passed": Colour("#12602b", "#5fd47a"),
    "failed": Colour("#a5122a", "#ff938b"),
    "warning": Colour("#774700", "#e8ba4c"),
    "error": Colour("#85228a", "#eaa2ec"),
    "news": Colour("#0a5872", "#82d3eb"),
}
"""Ordinary text, and text that tells how something ended. Each can be read on every surface."""

TINTS = {
    "passed-tint": Colour("#ddf2e2", "#12301d"),
    "failed-tint": Colour("#fde6e8", "#3e161a"),
    "warning-tint": Colour("#fdf0cb", "#352a0b"),
    "error-tint": Colour("#f6e3f7", "#361b39"),
    "news-tint": Colour("#dff0f6", "#0e2d38"),
}
"""Behind the text of the same name."""

EDGES = {"line": Colour("#d5d3ca", "#343c46")}
"""Between parts; nothing is told by them alone."""

OF_STATE = {
    "passed": "passed",
    "warning": "warning",
    "failed": "failed",
    "inconclusive": "warning",
    "skipped": "quiet",
    "error": "error",
    "not_started": "news",
}
"""The colour of each way to end: a verdict's value, or a warning."""


def variables() -> str:
    """The declarations of all colours: of the light scheme, then those of the dark one, to be put into rules."""
    return "\n".join(_declared(dark=False))


def dark_variables() -> str:
    return "\n".join(_declared(dark=True))


def _declared(*, dark: bool) -> Iterator[str]:
    for name, colour in {**SURFACES, **TEXTS, **TINTS, **EDGES}.items():
        yield f"  --tlp-{name}: {colour.dark if dark else colour.light};"
