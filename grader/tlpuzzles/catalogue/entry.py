"""How a known message is described.

A new entry is a pattern found in a real message, what it says and the fix for a learner (without a period at the end),
the hint to read where one helps, and a kernel in the tests that provokes it. In `says` and `fix`, {name} is a group of
the pattern; see `matching` for groups that are shown in other words. Messages of a compiler also know {gpu}, the GPUs
as people call them ("H100 and H200", so write "on {gpu}"); messages that Python raised know {near}, names close to the
one that was not found.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tlpuzzles.catalogue.explanation import Fault, Hint


class Where(Enum):
    """How the line in the learner's file is found when the message does not end in one."""

    NOWHERE = "nowhere"
    USES = "the first statement that uses every buffer named by a group"
    CALL = "the first call of the tile operation in the group op, whatever the message ends in"
    MIXED_GEMM = "the first T.gemm whose two operands differ in dtype"
    GEMM = "the T.gemm with the tile in the groups m and n, else the first"
    PIPELINE = "the T.Pipelined with stages and a number of trips that is not constant, else the first with stages"
    REDUCE = "where the tile of a reduction is allocated"
    LARGEST_STATIC_TILE = "where the largest tile of scope 'shared' is allocated"
    LARGEST_TILE = "where the largest shared tile is allocated"


@dataclass(frozen=True)
class Known:
    """One known message."""

    id: str
    pattern: str
    says: str
    fix: str
    where: Where = Where.NOWHERE
    fault: Fault = Fault.KERNEL
    hint: Hint | None = None
    """Where the hints of the exercises speak of it, on that level."""
    cheatsheet: bool = False
    """Whether the cheat sheet helps, as it does with errors of the language itself, of which no hint speaks."""
