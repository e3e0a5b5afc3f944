"""The learner's file as it was when the grading began."""

from __future__ import annotations

import ast
import errno
import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tlpuzzles.errors import UsageError
from tlpuzzles.plain import one_line, read_plain

MAX_BYTES = 1 << 20
OTHER = ("other blank", "other blanks")
"""Of a line's beginning: a form feed, or a blank that is no part of ASCII."""


class NoSubmission(UsageError):
    """There is no file to grade: a wrong use of the command, not a wrong answer."""


@dataclass(frozen=True)
class Problem:
    """Something that keeps a kernel from being graded, in the learner's words."""

    message: str
    line: int | None = None
    """Line in the learner's file."""
    raw: str | None = None
    """The message as TileLang, TVM, Python or a compiler gave it."""
    hint: int | None = None
    ours: bool = False
    """Whether it is a fault of the grader, not of the learner's file."""


@dataclass(frozen=True)
class Todo:
    line: int
    text: str


@dataclass(frozen=True)
class Submission:
    """A snapshot: saving the file again during a grading changes nothing."""

    path: Path
    """Absolute."""
    shown: str
    """The path as the user named it."""
    text: str
    problem: Problem | None
    content: bytes | None = None
    """What was read, byte for byte; None of a file that is too long."""

    def source(self, line: int | None) -> str | None:
        """The text of one line, or None."""
        lines = self.text.splitlines()
        return lines[line - 1] if line is not None and 0 < line <= len(lines) else None


def read(file: Path) -> Submission:
    """Reads the file. Raises NoSubmission if it is missing, a directory or unreadable; a file that is there and is no
    Python gives a submission with a problem."""
    shown = one_line(file)
    try:
        data = read_plain(file, MAX_BYTES)
    except FileNotFoundError:
        raise NoSubmission(
            f"There is no file {shown}. Check the path, or leave it out to grade your workspace's."
        ) from None
    except OSError as error:
        if file.is_dir():
            raise NoSubmission(f"{shown} is a folder. Name the Python file in it that holds your kernel.") from None
        if error.errno == errno.EFBIG:
            told = f"The file is {file.stat().st_size >> 20} MiB long; at most 1 MiB is read. Is it the right file?"
            return Submission(file.resolve(), str(file), "", Problem(told), None)
        raise NoSubmission(f"{shown} cannot be read: {error.strerror}.") from None
    return of(file, data)


def of(file: Path, content: bytes) -> Submission:
    """What `read` gives of a file with this content, which is at most MAX_BYTES long, whatever is there now."""
    text, problem = _decode(content)
    return Submission(file.resolve(), str(file), text, problem or _syntax(text), content)


def _decode(data: bytes) -> tuple[str, Problem | None]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return "", Problem(f"The file is not UTF-8 text (byte {error.start}). Save it as UTF-8.", line)
    if not text.strip():
        return text, Problem("The file is empty. `tlpuzzles reset` with the exercise's number puts the skeleton back.")
    if "\0" in text:
        return text, Problem("The file contains a NUL character, so it is no Python file. Is it the right file?")
    return text, None


def _syntax(text: str) -> Problem | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        told = f"Python cannot read the file: {_reason(error)}{_indents(text, error)}"
        return Problem(told, error.lineno, f"SyntaxError: {error.msg}")
    except (RecursionError, MemoryError):
        return Problem("Python cannot read the file: it is too deeply nested.")
    return None


def _reason(error: SyntaxError) -> str:
    """What Python says, as the end of a sentence; without its advice to write == where a value is to be stored."""
    if error.msg.startswith("cannot assign to") and error.msg.endswith("'==' instead of '='?"):
        said = error.msg.partition(". ")[0].removesuffix(" here")
        return f"{said}. What is stored into stands on the left of =, the value on the right, as in C[i] = A[i] + B[i]."
    return error.msg if error.msg.endswith("?") else f"{error.msg}."


def _indents(text: str, error: SyntaxError) -> str:
    """How far lines stand from the left, of which a report shows the rest."""
    lines = text.splitlines()
    if not isinstance(error, IndentationError) or isinstance(error, TabError) or not error.lineno:
        return ""
    if error.lineno > len(lines):
        return ""
    above = next((line for line in reversed(lines[: error.lineno - 1]) if line.strip()), "")
    return f" This line begins with {_indent(lines[error.lineno - 1])}, the one above with {_indent(above)}."


def _indent(line: str) -> str:
    """What stands before the text of a line: "4 spaces", "1 tab and 2 spaces"."""
    before = line[: len(line) - len(line.lstrip())]
    names = {"\t": ("tab", "tabs"), " ": ("space", "spaces")}
    runs = [(char, len(list(run))) for char, run in groupby(before)]
    told = [f"{count} {names.get(char, OTHER)[count > 1]}" for char, count in runs]
    return " and ".join(told) or "no space"


def is_untouched(text: str, skeleton: str) -> bool:
    """Whether the file is the skeleton, but for comments and layout."""
    try:
        return ast.dump(ast.parse(text)) == ast.dump(ast.parse(skeleton))
    except RecursionError:  # deeper nested than any skeleton
        return False


def prints_in_kernel(text: str) -> bool:
    """Whether Python's own print stands below a `with T.Kernel(...)`. The text must be Python."""
    launches = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.With) and _launches(node))
    calls = (node.func for launch in launches for node in ast.walk(launch) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id == "print" for function in calls)


def _launches(block: ast.With) -> bool:
    functions = (item.context_expr.func for item in block.items if isinstance(item.context_expr, ast.Call))
    return any(isinstance(function, ast.Attribute) and function.attr == "Kernel" for function in functions)


def todos(text: str) -> list[Todo]:
    """The numbered TODO comments of a skeleton, each with the comment lines that go on with it."""
    found: list[Todo] = []
    goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        comment = line.strip().removeprefix("#").strip() if line.strip().startswith("#") else ""
        if (match := re.search(r"TODO\s*\d+.*", line)) is not None:
            found.append(Todo(number, match.group(0).strip()))
        elif goes_on and comment:
            found[-1] = Todo(found[-1].line, f"{found[-1].text} {comment}")
        goes_on = bool(found) and (match is not None or (goes_on and bool(comment)))
    return found
