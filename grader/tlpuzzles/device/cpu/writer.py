"""Lines of C++ with their indentation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Writer:
    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def __len__(self) -> int:
        """Number of lines written so far: a position for `insert`."""
        return len(self._lines)

    def insert(self, position: int, text: str) -> None:
        """Writes a line where `position` lines had been written."""
        self._lines.insert(position, "  " * self._depth + text)

    @contextmanager
    def block(self, head: str = "") -> Iterator[None]:
        """`head {`, what is written meanwhile, `}`."""
        self.line(f"{head} {{".lstrip())
        self._depth += 1
        yield
        self._depth -= 1
        self.line("}")

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"
