"""A console for sentences of ours."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from tlpuzzles.wording import here


class Telling(Console):
    """Prints strings, which are ours, with commands as they are typed where they are read. Files, diffs and reports
    come as rich's own objects, and stay as they are."""

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*(here(one) if isinstance(one, str) else one for one in objects), **how)
