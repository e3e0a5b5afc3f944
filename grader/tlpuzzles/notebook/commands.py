"""Runs a command of the command line in the workspace, with what it prints below the cell."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tlpuzzles.errors import UsageError
from tlpuzzles.notebook.starting import environment, words

PATIENCE = 5.0
"""Seconds that an interrupted command has to end."""
WATCH = "watch"
"""The one command that ends only when a key is pressed."""
TAB = 16
"""Columns of what a command writes into a pipe with tabs between."""


def run(arguments: Sequence[str], root: Path) -> int:
    """Returns its exit status. A KeyboardInterrupt interrupts the command, too, and is raised again.

    Raises UsageError for a command that would wait for keys and saved files, and so keep every later cell waiting.
    """
    if next((word for word in arguments if not word.startswith("-")), None) == WATCH:
        raise UsageError(
            "A notebook grades a cell each time you run it, and so has nothing to watch: begin the cell with "
            "%%exercise N. `tlpuzzles watch` is for files that are edited elsewhere: type it in a terminal."
        )
    with subprocess.Popen(
        words("tlpuzzles.notebook.commanded", [str(os.getpid()), *arguments]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=root,
        env=environment(COLUMNS="100", FORCE_COLOR="1", TLPUZZLES_PROGRESS="lines"),
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                sys.stdout.write(line.expandtabs(TAB))
                sys.stdout.flush()
        except BaseException:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                process.kill()
            raise
    return process.returncode
