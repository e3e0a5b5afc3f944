"""What a learner's file raised, or how it ended its process, in words for the learner."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from typing import Any

from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.catalogue import raised
from tlpuzzles.course import catalog
from tlpuzzles.grading import untrusted
from tlpuzzles.grading.explained import in_words
from tlpuzzles.grading.submission import Problem

MAX_TEXT = 20_000
MATCHED = 600
"""Characters of a message that are matched with the catalogue: some of its patterns take the square of their number."""
MAX_LINES = 10_000_000


def output(report: Report) -> str:
    """What was printed, with a note on what was cut off."""
    rest = f"\n[{report.dropped} more bytes were printed]" if report.dropped else ""
    return untrusted.text(report.output) + rest


def death(report: Report, doing: str) -> Problem:
    """Why a process that ran a learner's file ended before it was done. `doing`: "tracing your kernel"."""
    if report.end is End.TIMED_OUT:
        return Problem(
            f"Your file was stopped: {doing} took longer than {report.seconds:.0f} s. Is there a loop that never ends?"
        )
    if report.end is End.SIGNALLED and report.code == -signal.SIGSEGV and not doing.startswith("calling"):
        return Problem(
            f"Your file's process crashed while {doing}. The usual cause is None where TileLang needs a number or a "
            "tile, as in C[i] = None or A[None]: look for a function without `return`."
        )
    if report.end is End.SIGNALLED:
        return Problem(f"Your file ended its process while {doing}: signal {-(report.code or 0)}.")
    if report.end is End.FLOODED:
        return Problem(f"Your file sent more data than is read, while {doing}.")
    return Problem(
        f"Your file ended its process (exit status {report.code}) while {doing}. Remove calls such as os._exit()."
    )


_LOADING = "When the file is loaded, "


def explained(message: Message, doing: str = "Tracing the kernel") -> Problem:
    """What a learner's file raised, as its process told it. `doing`: "Calling sweep", for what was not loading it."""
    kind, text = _str(message, "type"), _str(message, "message")
    line = _line(message)
    raw = _str(message, "raw") or None
    loading, plain = message.get("stage") == "load", message.get("stage") == "function"
    if kind in ("NotAKernel", "NotPlain"):
        return Problem(text + _another_exercises(text), line)
    if kind == "LaunchRefused":
        who = "the function" if plain else "the factory"
        if text.startswith("puts"):
            done = f"{'the file' if loading else who} {text}"
        else:
            done = f"{'it' if loading else who} {text}"
        when = _LOADING if loading else ""
        does = "Grading calls this function without a GPU" if plain else "Grading only traces the kernel"
        advice = f"{does}: put trials of it under `if __name__ == '__main__':`."
        return Problem(_sentence(f"{when}{done}") + " " + advice, line)
    if kind == "SystemExit":
        return Problem(f"The file calls sys.exit({text}) while it is {'loaded' if loading else 'run'}.", line, raw)
    if kind in ("ModuleNotFoundError", "ImportError") and _str(message, "module"):
        name = _str(message, "module").split(".")[0]
        return Problem(f"The file imports {name!r}, and that failed: {text}. Install it, or do without it.", line, raw)
    statement = _str(message, "statement")[:MATCHED]
    # What a plain function raises is Python's, unless it uses TileLang.
    if not plain or re.search(r"\bT\.|tilelang", statement):
        known = raised.explain(
            kind[:MATCHED],
            text[:MATCHED],
            line=line,
            statement=statement,
            near=_names(message, "near"),
            takes=_names(message, "takes"),
            raw=raw or "",
        )
        if known is not None:
            return in_words(known)
    what = "Loading the file" if loading else doing
    return Problem(f"{what} raised {kind}: {_first_paragraph(text)}", line, raw)


def _another_exercises(text: str) -> str:
    """A sentence after a blank, if the functions that the file is said to define are another exercise's."""
    defined = re.search(r" It defines ([\w, ]{1,400})\.", text[:MATCHED])
    names = defined[1].split(", ") if defined else []
    other = next((exercise for exercise in catalog.exercises() if exercise.factory in names), None)
    if other is None:
        return ""
    return f" {other.factory} is exercise {other.number}'s: `tlpuzzles grade {other.number}` grades it."


def _first_paragraph(text: str) -> str:
    lines: list[str] = []
    for line in text.strip().splitlines():
        if not line.strip() and lines:
            break
        lines.append(line.rstrip())
    return "\n".join(lines[:6])[:800] or "(no message)"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _line(message: Message) -> int | None:
    line = message.get("line")
    return line if type(line) is int and 0 < line < MAX_LINES else None


def _str(message: Mapping[str, Any], name: str) -> str:
    return untrusted.text(message.get(name))[:MAX_TEXT]


def _names(message: Mapping[str, Any], name: str) -> list[str]:
    value = message.get(name)
    return [untrusted.text(one)[:60] for one in value[:20] if isinstance(one, str)] if isinstance(value, list) else []
