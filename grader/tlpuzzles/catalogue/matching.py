"""Finding the entry that a message matches, and filling in its words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tlpuzzles.catalogue.entry import Known

KINDS = {
    "tirx.Buffer": "a whole tile or tensor",
    "tirx.BufferRegion": "a piece of a tile or tensor",
    "tirx.BufferLoad": "an element of a tile or tensor",
    "ir.PrimExpr": "a number",
    "Array<ir.PrimExpr>": "a list of numbers",
    "DataType": "a dtype such as 'float16'",
    "ffi.Array": "several values (a tuple or list)",
    "ffi.SmallStr": "a text",
    "ffi.Str": "a text",
    "ffi.Function": "a Python type or function",
    "int": "a whole number",
    "float": "a number with a fraction",
    "bool": "True or False",
    "None": "None",
}
"""What TVM calls the kinds of values, and what a learner calls them."""

_SHEET = "`tlpuzzles cheatsheet` shows how TileLang's functions are called"


@dataclass(frozen=True)
class Match:
    """An entry with the words that its texts need."""

    known: Known
    match: re.Match[str]
    words: Mapping[str, str]

    @property
    def message(self) -> str:
        return self.known.says.format(**self.words)

    @property
    def fix(self) -> str:
        fix = self.known.fix.format(**self.words)
        return f"{fix}. {_SHEET}" if self.known.cheatsheet else fix


def find(text: str, table: Sequence[Known], words: Mapping[str, str]) -> Match | None:
    """The first entry whose pattern is in the text.

    `words` are what every entry may use. A group `..._bytes` is shown as KiB, a group `..._kind` in the words of
    `KINDS`.
    """
    for known in table:
        match = re.search(known.pattern, text)
        if match is not None:
            groups = {name: _shown(name, value) for name, value in match.groupdict().items()}
            return Match(known, match, {**words, **groups})
    return None


def _shown(name: str, value: str | None) -> str:
    if value is None:
        return ""
    if name.endswith("_bytes"):
        count = int(value, 0)
        return f"{count >> 10} KiB" if count >= 1024 else f"{count} bytes"
    if name.endswith("_kind"):
        return KINDS.get(value, f"a {value}")
    return value
