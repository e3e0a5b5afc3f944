"""How many points there are."""

from __future__ import annotations

CORRECTNESS = 60
SPEED = 40


def worth(*, timed: bool) -> int:
    """The points of an exercise; `timed`: whether it has a speed part."""
    return CORRECTNESS + (SPEED if timed else 0)
