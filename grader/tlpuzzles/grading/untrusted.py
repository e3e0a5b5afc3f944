"""Values in messages of a learner's process, which may hold anything that JSON can."""

from __future__ import annotations

from typing import Any

MAX_DEPTH = 20
MAX_VALUES = 100_000
MAX_TEXT = 100_000
MAX_INT = 2**63


def text(value: Any) -> str:
    """The text, without what cannot be encoded (a lone surrogate); "" for what is none."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def is_plain(value: Any) -> bool:
    """Whether the value is of a size and depth that a check can look through, and has no number or text that cannot be
    printed."""
    waiting = [(value, 0)]
    seen = 0
    while waiting:
        item, depth = waiting.pop()
        seen += 1
        if depth > MAX_DEPTH or seen > MAX_VALUES:
            return False
        if isinstance(item, str) and (len(item) > MAX_TEXT or text(item) != item):
            return False
        if isinstance(item, int) and not -MAX_INT <= item < MAX_INT:
            return False
        if isinstance(item, list):
            waiting.extend((part, depth + 1) for part in item)
        elif isinstance(item, dict):
            waiting.extend((part, depth + 1) for pair in item.items() for part in pair)
    return True
