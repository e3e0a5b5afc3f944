"""The cheat sheet for a terminal that is narrower than the page. Blocks that fit stay as they were written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from textwrap import wrap

_COMMENT = re.compile(r"""((?:"[^"]*"|'[^']*'|[^"'#])*)(#.*)""")
_STRING = re.compile(r""""[^"]*"|'[^']*'""")


def fitted(lines: Iterable[tuple[bool, str]], width: int) -> Iterator[tuple[bool, str]]:
    """The lines of a page, each with whether it is code, in so many columns."""
    for code, group in groupby(lines, key=lambda line: line[0]):
        block = [line for _, line in group]
        if max(map(len, block)) > width:
            block = fitted_code(block, width) if code else fitted_text(block, width)
        yield from ((code, line) for line in block)


def fitted_code(block: Sequence[str], width: int) -> list[str]:
    """Python that means the same, with every comment above its line and long lines broken.

    A line stays too long where there is no place to break it.
    """
    # All comments of the block move: between two that stand above, one beside its line seems to belong to the next.
    found: list[str] = []
    for line in block:
        commented = _COMMENT.fullmatch(line)
        statement, comment = commented.groups() if commented else (line, "")
        indent = line[: len(line) - len(line.lstrip())]
        found += _filled(comment, width, first=indent, further=f"{indent}# ")
        if statement.strip():
            found += _broken(statement.rstrip(), width)
    return found


def fitted_text(block: Sequence[str], width: int) -> list[str]:
    """Headings and items of a list, filled anew. A line that is indented goes on with the item above it."""
    items: list[str] = []
    for line in block:
        if line.startswith(" ") and items:
            items[-1] += f" {line.strip()}"
        else:
            items.append(line)
    return [line for item in items for line in _filled(item, width, further="  ") or [""]]


def _filled(text: str, width: int, *, first: str = "", further: str) -> list[str]:
    return wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _broken(line: str, width: int, depth: int = 0) -> list[str]:
    """A line of Python without a comment, in the first way to break it by which all fits, or else in the first way.

    depth: how many brackets are open where it begins.
    """
    if len(line) <= width:
        return [line]
    ways = [
        [line[:end].rstrip(";"), *_broken(following, width, opened)]
        for end, following, opened in _breaks(line, width, depth)
    ]
    return next((way for way in ways if max(map(len, way)) <= width), ways[0] if ways else [line])


def _breaks(line: str, width: int, depth: int) -> Iterator[tuple[int, str, int]]:
    """Where a line can end, what then stands in the next, and how many brackets are open there: the best place first.

    That is the last one between statements, else between arguments, of an outer call before those of an inner one, else
    behind a bracket.
    """
    indent = len(line) - len(line.lstrip())
    places: list[tuple[tuple[int, ...], int, int, int]] = []
    opened = [indent] * depth
    for end, char in enumerate(_STRING.sub(lambda string: "_" * len(string[0]), line)[:width], start=1):
        if char == ";" and not opened:
            places.append(((0, -end), end, indent, 0))
        elif char == "," and opened:
            places.append(((1, len(opened), opened[-1], -end), end, opened[-1], len(opened)))
        elif char in "([{":
            opened.append(end)
            if line[end] not in ")]}":
                places.append(((2, end), end, indent + 4, len(opened)))
        elif char in ")]}":
            opened = opened[:-1]
    for _, end, column, still_open in sorted(places):
        following = " " * column + line[end:].lstrip()
        if len(following) < len(line):
            yield end, following, still_open
