"""Long texts on a terminal: from their beginning, in a program to scroll with."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tlpuzzles.commands.output import console, on_terminal

if TYPE_CHECKING:
    from rich.console import Console

HABITS = "RFX"
"""What `less` is told where its user has told it nothing: colours, no waiting at a short text, and the text stays."""


@contextmanager
def paged() -> Iterator[Console]:
    """A console. What is printed there goes through $PAGER (`less` where that is not set) if it is longer than the
    terminal; it is printed as ever where nobody is there to scroll, or there is no such program."""
    out = console()
    pager = _pager()
    if not pager:
        yield out
        return
    with out.capture() as captured:
        yield out
    text = captured.get()
    if text.count("\n") < out.height:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        _scroll(text, pager)


def _pager() -> Sequence[str]:
    """The command; empty if there is none to be used."""
    if not on_terminal() or sys.stdin is None or not sys.stdin.isatty():
        return ()
    try:
        words = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:
        return ()
    return words if words and words[0] != "cat" and shutil.which(words[0]) is not None else ()


def _scroll(text: str, pager: Sequence[str]) -> None:
    # Ctrl-C is for the pager, which ends a search at it; we wait.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        subprocess.run(pager, input=text.encode("utf-8", "replace"), env={"LESS": HABITS, **os.environ}, check=False)
    finally:
        signal.signal(signal.SIGINT, before)
