"""What an exception of a learner's file means."""

from __future__ import annotations

from collections.abc import Sequence

from tlpuzzles.catalogue.entry import Known
from tlpuzzles.catalogue.explanation import Explanation
from tlpuzzles.catalogue.matching import find
from tlpuzzles.catalogue.names import NAMES
from tlpuzzles.catalogue.statements import factors, whole_tiles
from tlpuzzles.catalogue.structure import STRUCTURE
from tlpuzzles.catalogue.tiles import TILES
from tlpuzzles.catalogue.values import VALUES

RAISED: tuple[Known, ...] = STRUCTURE + VALUES + NAMES + TILES
"""Matched on "Type: message", a new line, ">>> " and the statement of the learner's file, as far as it is known."""


def explain(
    kind: str,
    message: str,
    *,
    line: int | None = None,
    statement: str = "",
    near: Sequence[str] = (),
    takes: Sequence[str] = (),
    raw: str = "",
) -> Explanation | None:
    """What an exception of type `kind` means that was raised while a file was loaded, traced or called; None if it is
    not a known one.

    `statement` is the learner's statement that raised it; `near` holds names like the one that was not found, `takes`
    the names of the parameters that there are; `raw` is the exception as Python prints it.
    """
    near_words = f"Did you mean {' or '.join(near[:3])}? " if near else ""
    if takes and not near:
        near_words = f"It takes {', '.join(takes[:10])}. "
    words = {"near": near_words, **whole_tiles(statement), **factors(statement)}
    found = find(f"{kind}: {message}\n>>> {statement.strip()}", RAISED, words)
    if found is None:
        return None
    raw = raw or f"{kind}: {message}"
    return Explanation(found.known.id, found.message, found.fix, raw, line, found.known.fault, found.known.hint)
