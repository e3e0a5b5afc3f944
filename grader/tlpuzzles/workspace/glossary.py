"""glossary.md: the words of the course, one section a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from tlpuzzles.errors import UsageError

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_ALSO = re.compile(r"^Also: (.+)\.$", re.MULTILINE)
_LINK = re.compile(r"\]\(#([\w-]+)\)")


class UnknownWord(UsageError):
    """The glossary does not have that word."""


@dataclass(frozen=True)
class Term:
    """A word of the glossary."""

    word: str
    """Its heading, e.g. "Shared memory"."""
    also: tuple[str, ...]
    """Other names for the same thing, and words that its section explains."""
    text: str
    """Markdown, without the heading."""

    @property
    def anchor(self) -> str:
        """What a link to it ends in, e.g. "shared-memory"."""
        return anchor(self.word)

    @property
    def links(self) -> tuple[str, ...]:
        """Anchors of the words that its text leads to, each once."""
        return tuple(dict.fromkeys(_LINK.findall(self.text)))


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading: lower case, hyphens for blanks, nothing else but letters and digits."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def read_terms(text: str) -> tuple[Term, ...]:
    """The words of a glossary in their order."""
    parts = _HEADING.split(text)[1:]
    return tuple(_term(word, body) for word, body in zip(parts[::2], parts[1::2], strict=True))


def find(terms: Sequence[Term], word: str) -> Term:
    """The term called `word`, in small or capital letters, in the singular or plural, or by the start of its name.

    Raises UnknownWord, which names the words that come near, or all of them.
    """
    known = {_plain(name): term for term in terms for name in (*term.also, term.word)}
    wanted = _plain(word)
    for spelling in (wanted, wanted.removesuffix("s"), f"{wanted}s"):
        if spelling in known:
            return known[spelling]
    starting = {term.word: term for name, term in known.items() if wanted and name.startswith(wanted)}
    if len(starting) == 1:
        return next(iter(starting.values()))
    near = list(starting) or [known[name].word for name in get_close_matches(wanted, known, n=4)]
    if near:
        listed = ", ".join(dict.fromkeys(name.lower() if name[1:].islower() else name for name in near))
        raise UnknownWord(f'The glossary has no word "{word}". Did you mean: {listed}?')
    raise UnknownWord(f'The glossary has no word "{word}". `tlpuzzles glossary` lists those that it has.')


def _term(word: str, body: str) -> Term:
    also = _ALSO.search(body)
    return Term(word.strip(), tuple(also.group(1).split(", ")) if also else (), body.strip())


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
