"""The process of a command that a notebook runs: the command line, which ends with the notebook."""

from __future__ import annotations

import os
import signal
import sys

from tlpuzzles import cli
from tlpuzzles.border.limits import die_with_parent


def main() -> None:
    """Arguments: the notebook's process id, then those of the command line."""
    # By the signal that lets a command put away what it has made.
    die_with_parent(signal.SIGTERM)
    if os.getppid() == int(sys.argv.pop(1)):
        cli.main()
