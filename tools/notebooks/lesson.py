"""A lesson as Markdown cells of a notebook: with its pictures in them, and with links that lead somewhere there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tools.notebooks.pictures import as_uri

from tlpuzzles.commands.reading import glossary_words
from tlpuzzles.wording import for_notebook
from tlpuzzles.workspace.glossary import Term

TASK = "The task"

_FENCE = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]]*)\]\((?:[\w./-]*/)?([\w-]+)\.svg\)")
_WORD = re.compile(r"\]\([\w./-]*glossary\.md(#[\w-]+)\)")
_LESSON = re.compile(r"\[([^\]]+)\]\([\w./-]*/lesson\.md\)")
_PAGE = re.compile(r"\[([^\]]+)\]\([\w./-]*?([\w-]+\.md)(?:#[\w-]+)?\)")
_OWN_WORD = re.compile(r"\[([^\]]+)\]\(#([\w-]+)\)")


@dataclass(frozen=True)
class Section:
    heading: str
    """Empty for what stands before the first."""
    text: str
    """Markdown, with its heading."""


def sections(lesson: str) -> list[Section]:
    """A lesson, cut at its headings of the second level."""
    cuts = [0, *(match.start() for match in re.finditer(r"^## ", _without_fences(lesson), re.MULTILINE)), len(lesson)]
    parts = [lesson[start:end].strip() for start, end in zip(cuts, cuts[1:], strict=False)]
    return [Section(_heading(part), _in_notebook(part)) for part in parts if part]


def words(lesson: str, terms: Iterable[Term]) -> str:
    """The words that a lesson links to, as the glossary explains them. Each is where links lead."""
    linked = set(glossary_words(lesson))
    chosen = [term for term in terms if term.anchor in linked]
    known = {term.anchor for term in chosen}

    def kept(link: re.Match[str]) -> str:
        return link[0] if link[2] in known else link[1]

    entries = [
        f'<a name="{term.anchor}" id="{term.anchor}"></a>\n**{term.word}.** {_OWN_WORD.sub(kept, _in_notebook(term.text))}'
        for term in chosen
    ]
    more = "All words of the course: `%tlpuzzles glossary`, and one of them: `%tlpuzzles glossary tile`."
    return "\n\n".join(["## Words of this lesson", *entries, more])


def _in_notebook(text: str) -> str:
    """Code stays as it is, but for commands."""
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += [_linked(text[end : fence.start()]), fence.group()]
        end = fence.end()
    return for_notebook("".join([*parts, _linked(text[end:])]))


def _linked(prose: str) -> str:
    prose = _PICTURE.sub(lambda picture: f"![{picture[1]}]({as_uri(picture[2])})", prose)
    return _PAGE.sub(_page, _LESSON.sub(r"\1", _WORD.sub(r"](\1)", prose)))


def _page(link: re.Match[str]) -> str:
    """A page of the course, which no address leads to: it lies in the workspace."""
    where = f"`docs/{link[2]}` in your workspace"
    return where if link[1].endswith(link[2]) else f"{link[1]} ({where})"


def _without_fences(text: str) -> str:
    """As long as it was."""
    return _FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence.group()), text)


def _heading(part: str) -> str:
    return part.partition("\n")[0].removeprefix("## ") if part.startswith("## ") else ""
