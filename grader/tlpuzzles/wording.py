"""How a command of ours is typed: in a terminal as it is written here, in a notebook as a magic.

What we say of commands is put into these words where we say it, and never what a file, a compiler or a learner says.
"""

from __future__ import annotations

import os
import re

NOTEBOOK = "TLPUZZLES_NOTEBOOK"
"""In the environment, and not empty: what this process says is read in a notebook."""

_MAGICS = {"grade": "%%exercise", "hint": "%hint", "progress": "%progress", "solution": "%solution"}
_COMMAND = re.compile(
    r"(?<![\w%!/.-])tlpuzzles "
    r"(?P<name>(?:grade|hint|solution)(?= \w)|progress\b"
    r"|(?:calibrate|cheatsheet|diff|doctor|glossary|init|inspect|list|reset|restore|show)\b)"
)


def in_notebook() -> bool:
    return bool(os.environ.get(NOTEBOOK))


def here(text: str, theirs: str = "") -> str:
    """Words of ours with commands as they are typed where they are read. `theirs`: as in `for_notebook`."""
    return for_notebook(text, theirs) if in_notebook() else text


def for_notebook(text: str, theirs: str = "") -> str:
    """Names the magics instead of the commands. `theirs` is what somebody else says that may be quoted in the text: a
    command that is in there, too, stays as it is."""
    return _COMMAND.sub(
        lambda found: found[0] if found[0] in theirs else _MAGICS.get(found["name"], f"%tlpuzzles {found['name']}"),
        text,
    )
