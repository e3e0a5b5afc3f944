"""What the grader's own check says of a traced kernel that TileLang should not have let through."""

from __future__ import annotations

from tlpuzzles.catalogue.entry import Known
from tlpuzzles.catalogue.explanation import UNKNOWN, Explanation
from tlpuzzles.catalogue.matching import find

READING: tuple[Known, ...] = (
    Known(
        "number-as-condition",
        r"has a condition of dtype (?P<dtype>\w+)",
        "An `if` or `while` of the kernel asks whether a number is true",
        "Compare it with something, as in `if A[i] > 0:`",
    ),
    Known(
        "fraction-as-index",
        r"has an index of dtype (?:b?float\w*)",
        "An index is a number with a fraction",
        "Divide indices with //, and use an element of a tensor as an index only if its dtype is an integer",
    ),
    Known(
        "text-as-index",
        r"has an index of dtype handle",
        "An index is a text",
        "Indices are numbers: the place along each axis, counted from 0",
    ),
    Known(
        "fraction-as-size",
        r"has a size of dtype (?:b?float\w*)",
        "A size of a tile or tensor is a number with a fraction",
        "Divide sizes with // (rounds down) or T.ceildiv (rounds up), not with /",
    ),
)


def explain(raw: str, line: int | None) -> Explanation:
    """What a `CapsuleError` with this message means; `line` is where it points."""
    found = find(raw, READING, {})
    if found is None:
        return Explanation(UNKNOWN, f"The kernel cannot be read: {raw}", "", raw, line)
    return Explanation(found.known.id, found.message, found.fix, raw, line, found.known.fault, found.known.hint)
