"""The grader's own exam: wrong kernels that must fail for the reason given, and right ones that must pass.

A wrong kernel is the reference solution with a few edits, so that it says exactly what is wrong with it. The right ones
are files of their own, written in other ways than the solution: `right/<slug>/*.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import tlpuzzles_solutions
from tlpuzzles.verdict.model import Kind

RIGHT = Path(__file__).parent / "right"


class EditDoesNotApply(Exception):
    """The text that a mutant replaces is not in the solution, or more than once: the solution has changed."""


@dataclass(frozen=True)
class Wrong:
    """A wrong kernel and why it must fail."""

    id: str
    edits: tuple[tuple[str, str], ...]
    """Pieces of the solution, each of which occurs once in it, and what stands in their place."""
    kind: Kind
    """What kind of check must fail."""
    check: str | None = None
    """Identifier of a check that must fail: of a case or of a requirement; None: any of that kind."""
    mistake: str | None = None
    """The mistake that the failed check must name."""
    passes: tuple[str, ...] = ()
    """Cases that do not see what is wrong: what tells the mutant from one that is wrong everywhere."""
    says: str = ""
    """What a failed check must say."""

    def source(self, slug: str) -> str:
        """The kernel's file. Raises EditDoesNotApply."""
        return edited(slug, self.edits, self.id)


def edited(slug: str, edits: Iterable[tuple[str, str]], name: str = "the edit") -> str:
    """The reference solution's file with pieces of it replaced. Raises EditDoesNotApply."""
    text = _solution(slug)
    for old, new in edits:
        if text.count(old) != 1:
            raise EditDoesNotApply(f"{name}: {old!r} occurs {text.count(old)} times in the solution of {slug}")
        text = text.replace(old, new)
    return text


@cache
def _solution(slug: str) -> str:
    return tlpuzzles_solutions.path(slug).read_text("utf-8")


def wrong(slug: str) -> tuple[Wrong, ...]:
    """The wrong kernels of an exercise: `wrong_<slug>.py`."""
    found: tuple[Wrong, ...] = import_module(f"tests.mutants.wrong_{slug}").WRONG
    return found


def right(slug: str) -> tuple[Path, ...]:
    """The right kernels of an exercise that are written in other ways than its solution."""
    return tuple(sorted((RIGHT / slug).glob("*.py")))
