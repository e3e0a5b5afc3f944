"""The words behind a magic's name."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NoReturn, TypeVar

from tlpuzzles.errors import UsageError
from tlpuzzles.grading.choices import DeviceChoice, Portability

Choice = TypeVar("Choice", bound=Enum)


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
    parser.add_argument("--device", type=_one_of(DeviceChoice), default=DeviceChoice.AUTO)
    parser.add_argument("--portability", type=_one_of(Portability), default=Portability.CHECK)
    parser.add_argument("--speed", action=argparse.BooleanOptionalAction, default=True)
    return parser


def hint_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%hint", usage="%%hint N [--level K]", add_help=False)
    parser.add_argument("name", metavar="N")
    parser.add_argument("--level", type=_level)
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
    return _number("seed", text, 0)


def _level(text: str) -> int:
    return _number("level", text, 1)


def _number(what: str, text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or number < least:
        raise argparse.ArgumentTypeError(f"invalid {what}: {text!r} is not a whole number from {least} on")
    return number


def _one_of(choices: type[Choice]) -> Callable[[str], Choice]:
    """For `type`: argparse compares its `choices` with what that made of a word, and does not list them for one of
    which it made nothing."""

    def chosen(text: str) -> Choice:
        try:
            return choices(text)
        except ValueError:
            told = ", ".join(choice.value for choice in choices)
            raise argparse.ArgumentTypeError(f"invalid choice: {text!r} is none of {told}") from None

    return chosen
