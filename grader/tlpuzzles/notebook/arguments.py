"""The words behind a magic's name."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from typing import NoReturn

from tlpuzzles.errors import UsageError
from tlpuzzles.grading.choices import DeviceChoice, Portability


class _Parser(argparse.ArgumentParser):
    """Raises UsageError instead of ending the process, which is the notebook's."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}. {self.format_usage().strip()}")


def exercise_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="%%exercise", usage="%%%%exercise N [--case NAME] [--seed S] [--no-speed] ...", add_help=False
    )
    parser.add_argument("name", metavar="N")
    parser.add_argument("--case")
    parser.add_argument("--seed", type=_seed)
    parser.add_argument("--device", type=DeviceChoice, default=DeviceChoice.AUTO, choices=list(DeviceChoice))
    parser.add_argument("--portability", type=Portability, default=Portability.CHECK, choices=list(Portability))
    parser.add_argument("--speed", action=argparse.BooleanOptionalAction, default=True)
    return parser


def hint_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%hint", usage="%%hint N [--level K]", add_help=False)
    parser.add_argument("name", metavar="N")
    parser.add_argument("--level", type=int)
    return parser


def workspace_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%workspace", usage="%%workspace [FOLDER | --drive]", add_help=False)
    parser.add_argument("folder", metavar="FOLDER", nargs="?")
    parser.add_argument("--drive", action="store_true")
    return parser


def parse(parser: argparse.ArgumentParser, line: str) -> argparse.Namespace:
    """Raises UsageError."""
    return parser.parse_args(split(line))


def split(line: str) -> Sequence[str]:
    """The words of a line, as a shell would part them. Raises UsageError."""
    if strange := next((char for char in line if char == "\0" or "\ud800" <= char <= "\udfff"), None):
        raise UsageError(
            f"{line!r} cannot be read: it has a character (U+{ord(strange):04X}) that is in no name and in no path. "
            "Take it out, and run the cell again."
        )
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{line!r} cannot be read: {error}.") from None


def _seed(text: str) -> int:
    seed = int(text)
    if seed < 0:
        raise ValueError
    return seed
