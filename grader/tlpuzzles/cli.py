"""The command line: the table of commands, and how every command ends.

Only the standard library is imported before it is known which command is asked for, and then only that command: what
merely prints something answers at once, and Ctrl-C is quiet from the first moment on.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn, TextIO

from tlpuzzles.errors import NotWritten, UsageError

# ExitStatus of verdict.model, which costs pydantic's import.
WRONG_USAGE = 2
UNDECIDED = 3
INTERRUPTED = 130

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""A full disk, or one that is gone; a stream that is not open for writing."""

ASCII = "--ascii"
ASCII_VARIABLE = "TLPUZZLES_ASCII"
"""Set, and not empty: as if ASCII were given to every command."""
DRAWN = {"\u2022": "*", "\u258c": "|"}
"""What rich draws a lesson's lists and quotations with, whatever the terminal knows."""


@dataclass(frozen=True)
class Command:
    """A row of the table of commands."""

    name: str
    target: str
    """Where its function is: "package.module:function"."""
    summary: str
    """Its line in `tlpuzzles --help`."""

    def load(self) -> Callable[..., Any]:
        from importlib import import_module

        module, _, function = self.target.partition(":")
        loaded: Callable[..., Any] = getattr(import_module(module), function)
        return loaded


COMMANDS = (
    Command("init", "tlpuzzles.commands.init:init", "Copy the exercises into a folder of yours."),
    Command("list", "tlpuzzles.commands.list:list_exercises", "List the exercises."),
    Command("show", "tlpuzzles.commands.show:show", "Read the lesson of an exercise."),
    Command("hint", "tlpuzzles.commands.hint:hint", "Get a hint; each level tells more than the last."),
    Command("glossary", "tlpuzzles.commands.glossary:glossary", "Look up a word: tile, fragment, occupancy, ..."),
    Command("cheatsheet", "tlpuzzles.commands.cheatsheet:cheatsheet", "See the TileLang language on one screen."),
    Command("grade", "tlpuzzles.commands.grade:grade", "Check a kernel: what is right, what is wrong, and why."),
    Command("watch", "tlpuzzles.commands.watch:watch", "Check a kernel each time you save it."),
    Command("progress", "tlpuzzles.commands.progress:progress", "See what you tried, how it went, and what is next."),
    Command("diff", "tlpuzzles.commands.diff:diff", "Compare your file with an earlier attempt."),
    Command("restore", "tlpuzzles.commands.restore:restore", "List your attempts, or put an earlier one back."),
    Command("reset", "tlpuzzles.commands.reset:reset", "Start an exercise over; what you have is kept."),
    Command("solution", "tlpuzzles.commands.reference:solution", "Read the solution, when you have passed."),
    Command(
        "inspect", "tlpuzzles.commands.inspect:inspect", "See what TileLang made of a kernel: source, layouts, limits."
    ),
    Command(
        "calibrate", "tlpuzzles.commands.calibrate:calibrate", "For teachers: measure marks for the speed on your GPU."
    ),
    Command("doctor", "tlpuzzles.commands.doctor:doctor", "Check the installation, the GPU and the compilers."),
)


def _show_in_what_the_terminal_knows(arguments: list[str]) -> list[str]:
    """Lets the streams stand in for what they cannot encode. Returns the arguments without ASCII, which may stand
    anywhere: everything that draws asks the stream's encoding, and so needs no option of its own."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    wanted = ASCII in arguments[:end] or bool(os.environ.get(ASCII_VARIABLE))
    codecs.register_error("tlpuzzles", _stand_in)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="ascii" if wanted else None, errors="tlpuzzles")
    return [argument for argument in arguments[:end] if argument != ASCII] + arguments[end:]


def _stand_in(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(DRAWN.get(char, "?") for char in error.object[error.start : error.end]), error.end


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs one command and exits with its status. `arguments`: those of the process, if not given."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _open_what_is_closed()
    try:
        status, error = _run(_show_in_what_the_terminal_knows(arguments))
        lost = _lost(sys.stdout)
        if lost is not None and not isinstance(lost, BrokenPipeError):  # who closes a pipe has seen enough
            status, error = UNDECIDED, _not_written("Standard output", lost)
        if error:
            from tlpuzzles.commands.output import print_error

            with suppress(OSError):  # the status is what is left to tell by
                print_error(error)
        _lost(sys.stderr)
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.exit(status)


def _run(arguments: list[str]) -> tuple[int | str | None, str]:
    """How the command ended: its status, and what is to be said of an error; empty if there was none."""
    try:
        from tlpuzzles.commands.application import run

        run(COMMANDS, arguments)
    except SystemExit as ended:
        return ended.code, ""
    except UsageError as error:
        return WRONG_USAGE, str(error)
    except NotWritten as error:
        return UNDECIDED, str(error)
    except Exception as error:  # noqa: BLE001 - no fault of ours may have the status of a kernel that is wrong
        if isinstance(error, OSError) and error.errno in UNWRITABLE:
            return UNDECIDED, _not_written(error.filename or "Standard output, or a temporary file,", error)
        import traceback

        return UNDECIDED, f"This is a fault of tlpuzzles, not of your file.\n{traceback.format_exc().rstrip()}"
    return 0, ""


def _not_written(what: object, why: OSError) -> str:
    return f"{what} cannot be written: {why.strerror}. Make room there or use another place, and try again."


def _lost(stream: TextIO) -> OSError | None:
    """Why what was printed is not all written; None if it is.

    What it keeps goes nowhere then: the interpreter would try to write it once more as it ends, and complain.
    """
    try:
        stream.flush()
    except OSError as error:
        with suppress(OSError):  # of a stream that has no file
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
        return error
    return None


def _open_what_is_closed() -> None:
    """Gives a process that was started with its output closed (`>&-`) one that goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123 - for as long as the process lives
