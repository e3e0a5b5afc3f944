"""How processes of ours are started from a notebook, whose folder and import path are the learner's."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from tlpuzzles.border.children import import_path
from tlpuzzles.wording import NOTEBOOK

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "from importlib import import_module; import_module(sys.argv.pop(1)).main()"
)


def words(module: str, arguments: Sequence[str] = ()) -> list[str]:
    """The command that runs `main` of a module with the notebook's Python: nothing in the current folder can stand in
    for it."""
    return [sys.executable, "-I", "-c", _BOOT, json.dumps(import_path()), module, *arguments]


_COLOURING = ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "PYTHON_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""Variables that make programs write for a terminal where there is none. Jupyter sets some of them."""


def environment(**more: str) -> dict[str, str]:
    """The notebook's own, without what makes programs write for the notebook's terminal, which is none; and with what
    makes ours write for a notebook."""
    own = {name: value for name, value in os.environ.items() if name not in _COLOURING}
    return {**own, NOTEBOOK: "1", "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8", **more}
