"""The loops of a generated CUDA source, found by its indentation, which is even and never broken."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LOOP = re.compile(r"(?P<indent> *)for \(int (?P<var>\w+) = 0; (?P=var) < (?P<end>.+); \+\+(?P=var)\) \{$")


@dataclass(frozen=True)
class Loop:
    """One `for`, with lines from 1 on."""

    var: str
    """As the source has it: a name that occurs twice in a kernel has a number the second time, `k_1`."""
    trips: int | None
    """None where their number depends on the block."""
    first: int
    last: int
    unrolled: bool

    def has(self, line: int) -> bool:
        return self.first <= line <= self.last

    def is_over(self, name: str) -> bool:
        """Whether it came from the learner's loop over `name`."""
        return re.fullmatch(rf"{re.escape(name)}(?:_\d+)?", self.var) is not None


def loops(source: str) -> tuple[Loop, ...]:
    """All of them, in the order of their first lines."""
    lines = source.splitlines()
    found: list[Loop] = []
    for number, line in enumerate(lines):
        match = _LOOP.match(line)
        if match is None:
            continue
        closing = f"{match['indent']}}}"
        last = next((end for end in range(number + 1, len(lines)) if lines[end].startswith(closing)), number)
        trips = int(match["end"]) if match["end"].isdigit() else None
        unrolled = number > 0 and lines[number - 1].strip() == "#pragma unroll"
        found.append(Loop(match["var"], trips, number + 1, last + 1, unrolled))
    return tuple(found)
