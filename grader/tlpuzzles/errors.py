"""The one error that ends a command with a sentence instead of a traceback."""

from __future__ import annotations


class UsageError(Exception):
    """What was asked for cannot be done as it was asked: no workspace, an unknown exercise, a file that cannot be read.

    The message is written for the person at the keyboard: what was tried, on which file, and what to do next.
    The command line prints it to standard error and exits with status 2.
    """
