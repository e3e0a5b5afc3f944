"""The command line: the table of commands, and how every command ends.

Only the standard library is imported before it is known which command is asked for, and then only that command: what
merely prints something answers at once, and Ctrl-C is quiet from the first moment on.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from tlpuzzles.errors import UsageError

# ExitStatus of verdict.model, which costs pydantic's import.
WRONG_USAGE = 2
INTERRUPTED = 130

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
    arguments = _show_in_what_the_terminal_knows(arguments)
    try:
        from tlpuzzles.commands.application import run

        run(COMMANDS, arguments)
    except UsageError as error:
        from tlpuzzles.commands.output import print_error

        print_error(str(error))
        sys.exit(WRONG_USAGE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(0)
