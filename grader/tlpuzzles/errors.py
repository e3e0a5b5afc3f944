"""The errors that end a command with a sentence instead of a traceback."""

from __future__ import annotations


class UsageError(Exception):
    """What was asked for cannot be done as it was asked: no workspace, an unknown exercise, a file that cannot be read.

    The message is written for the person at the keyboard: what was tried, on which file, and what to do next.
    The command line prints it to standard error and exits with status 2.
    """


class NotWritten(Exception):
    """What was asked for has been found, and cannot be written where it belongs: the disk is full, or gone.

    That could not be said beforehand, so it is no wrong usage. The message is as that of UsageError; the command line
    exits with status 3, unless the command has a verdict of its own to tell by its status.
    """
