"""What a notebook shows below a cell: each thing as HTML, and as text for who shows no HTML."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from html import escape
from types import TracebackType
from typing import Any

import IPython.display

from tlpuzzles.wording import for_notebook

_display: Any = IPython.display.display  # untyped

OFTEN = 0.5
"""Seconds between two updates of what goes on."""
BRIEF = 0.05
"""Seconds of a step that is not worth a line."""

_BOX = "padding:.4em .8em;border-left:4px solid {colour};white-space:pre-wrap;font-family:sans-serif"
_RED, _GREY = "#c93c37", "#8c959f"


def show_problem(text: str) -> None:
    """Something cannot be done; the text says what to do instead."""
    _display(_whole(_box(text, _RED)), raw=True)


def show_remark(text: str) -> None:
    _display(_whole(_box(text, _GREY)), raw=True)


def show_markdown(text: str) -> None:
    """A page of the course: rendered where that can be done."""
    told = for_notebook(text)
    _display(_whole({"text/plain": told, "text/markdown": told}), raw=True)


def _box(text: str, colour: str) -> dict[str, str]:
    told = for_notebook(text)
    return {
        "text/plain": told,
        "text/html": f'<div style="{_BOX.format(colour=colour)}">{escape(told)}</div>',
    }


def _whole(bundle: dict[str, str]) -> dict[str, str]:
    """Without halves of characters, such as stand for bytes of a path: a message with one never arrives."""
    return {kind: text.encode("utf-8", "backslashreplace").decode("utf-8") for kind, text in bundle.items()}


@dataclass
class Place:
    """A part of a cell's output: what goes on is written there, and replaced by what came of it."""

    title: str
    text: str = "starting the grader"
    note: str = ""
    done: list[tuple[str, float]] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)
    _shown: float = 0.0
    _handle: Any = None
    _is_told: bool = False

    def __enter__(self) -> Place:
        self._handle = _display(_whole(self._now()), raw=True, display_id=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_told:
            self._put({"text/plain": "", "text/html": ""})

    def step(self, text: str, note: str) -> None:
        if text != self.text:
            now = time.monotonic()
            if now - self._since >= BRIEF:
                self.done.append((self.text, now - self._since))
            self.text, self._since = text, now
        self.note = note

    def refresh(self) -> None:
        """Shows the step that is going on, and for how long: as often as somebody can read it."""
        if time.monotonic() - self._shown >= OFTEN:
            self._put(self._now())

    def report(self, html: str, text: str) -> None:
        self._is_told = True
        self._put({"text/plain": text, "text/html": html})

    def problem(self, text: str) -> None:
        self._is_told = True
        self._put(_box(text, _RED))

    def _put(self, bundle: dict[str, str]) -> None:
        self._handle.update(_whole(bundle), raw=True)
        self._shown = time.monotonic()

    def _now(self) -> dict[str, str]:
        rows = [self.title, *(f"  \N{CHECK MARK} {text} {seconds:.1f} s" for text, seconds in self.done)]
        note = f"{self.note} \N{MIDDLE DOT} " if self.note else ""
        rows.append(
            f"  \N{HORIZONTAL ELLIPSIS} {self.text} \N{MIDDLE DOT} {note}{time.monotonic() - self._since:.0f} s"
        )
        text = "\n".join(rows)
        return {"text/plain": text, "text/html": f"<pre>{escape(text)}</pre>"}
