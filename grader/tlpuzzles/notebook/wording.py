"""What a report tells to type in a terminal, as it is typed in a notebook."""

from __future__ import annotations

import re

_GRADE = re.compile(r"(?<![\w%!/.-])tlpuzzles grade (?=\w)")
_HINT = re.compile(r"(?<![\w%!/.-])tlpuzzles (?=hint \w|progress\b|solution \w)")
_OTHER = re.compile(
    r"(?<![\w%!/.-])tlpuzzles (?=(?:calibrate|cheatsheet|diff|doctor|glossary|init|inspect|list|reset|restore|show)\b)"
)


def for_notebook(text: str) -> str:
    """Names the magics instead of the commands."""
    return _OTHER.sub("%tlpuzzles ", _HINT.sub("%", _GRADE.sub("%%exercise ", text)))
