"""Characters of the terminal report, and what is done to text that is not ours before it is printed."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tlpuzzles.verdict.outcomes import Kind, Verdict

if TYPE_CHECKING:
    from rich.console import Console

    from tlpuzzles.verdict.model import Check

WARNING = "warning"
"""Shown for a check that passed and has something to say, or failed and does not count: it fails nothing here, but may
elsewhere."""

MEASURED = (Kind.TUNING, Kind.FUNCTION, Kind.SPEED)
"""Kinds whose passed checks tell what was measured."""

STYLES = {
    Verdict.PASSED.value: "green",
    WARNING: "yellow",
    Verdict.FAILED.value: "red",
    Verdict.INCONCLUSIVE.value: "yellow",
    Verdict.SKIPPED.value: "dim",
    Verdict.ERROR.value: "magenta",
    Verdict.NOT_STARTED.value: "cyan",
}

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-_])")

_BREAKS = str.maketrans(dict.fromkeys("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", "?"))
"""All that str.splitlines, or a terminal, ends a line at."""


@dataclass(frozen=True)
class Marks:
    """What a terminal can show: `marks_for` chooses."""

    by_verdict: dict[str, str]
    separator: str
    gutter: str
    filled: str
    empty: str
    ellipsis: str
    line: str
    plus_minus: str
    arrow: str
    """Before what to do next."""
    kernel: str
    """The learner's, in a plot."""
    is_ascii: bool
    encoding: str

    def of(self, check: Check) -> str:
        return self.by_verdict[kind_of(check)]

    def clean(self, text: str) -> str:
        """Text of a learner, a compiler or a file name without what would drive the terminal or cannot be encoded."""
        text = _ESCAPES.sub("", text.replace("\r\n", "\n").expandtabs(4))
        shown = "".join(char if char == "\n" or _is_plain(char) else "?" for char in text)
        return shown.encode(self.encoding, "replace").decode(self.encoding)

    def one_line(self, text: str) -> str:
        """The same for what has one line: the name of a file may hold breaks, and could feign lines of a report."""
        return self.clean(text.translate(_BREAKS))

    def phrase(self, text: str) -> str:
        """The first sentence of a message, on one line."""
        line = " ".join(self.clean(text).split())
        end = re.search(r"(?<=[.!?]) (?=[A-Z`])", line)
        return line[: end.start()] if end else line


def _is_plain(char: str) -> bool:
    # Cc control, Cf format (direction overrides among them), Cs lone surrogates of undecodable file names
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs")


def kind_of(check: Check) -> str:
    """The verdict of a check as it is shown: `WARNING` or the verdict's value."""
    if check.verdict is Verdict.PASSED:
        return WARNING if check.message and check.kind not in MEASURED else Verdict.PASSED.value
    return WARNING if check.verdict is Verdict.FAILED and not check.graded else check.verdict.value


_UNICODE = {
    Verdict.PASSED.value: "✓",
    WARNING: "!",
    Verdict.FAILED.value: "✗",
    Verdict.INCONCLUSIVE.value: "?",
    Verdict.SKIPPED.value: "-",
    Verdict.ERROR.value: "‼",
    Verdict.NOT_STARTED.value: "○",
}
_ASCII = {
    Verdict.PASSED.value: "+",
    WARNING: "!",
    Verdict.FAILED.value: "x",
    Verdict.INCONCLUSIVE.value: "?",
    Verdict.SKIPPED.value: "-",
    Verdict.ERROR.value: "E",
    Verdict.NOT_STARTED.value: "o",
}


def marks_for(console: Console) -> Marks:
    """The characters that this console's stream can encode."""
    encoding = console.encoding
    try:
        "✓✗○‼·│█░…─±→●".encode(encoding)
    except UnicodeEncodeError:
        return Marks(_ASCII, "|", "|", "#", ".", "...", "-", "+-", "->", "*", True, encoding)
    return unicode_marks(encoding)


def unicode_marks(encoding: str = "utf-8") -> Marks:
    """Those of a console or a page that can show them all."""
    return Marks(_UNICODE, "·", "│", "█", "░", "…", "─", "±", "→", "●", False, encoding)
