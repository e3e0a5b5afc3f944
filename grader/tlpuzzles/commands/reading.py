"""Markdown as a terminal can show it: no pictures, and no links that lead to files a learner may not have."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)
_IMAGE = re.compile(r"^!\[([^\]]*)\]\(([^)]*)\)[ \t]*$", re.MULTILINE)
_GLOSSARY = re.compile(r"\]\((?:[\w./-]*glossary\.md)?#([\w-]+)\)")
_PAGE = re.compile(r"(?<!!)\[([^\]]+)\]\((?:[\w./-]+\.md)?(?:#[\w-]+)?\)")
_BLANK_LINES = re.compile(r"\n{3,}")


def for_terminal(text: str) -> str:
    """Tells what pictures show, leaves Mermaid diagrams out, and makes words of links to other pages of the course."""
    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts.append(_plain(text[end : fence.start()]))
        if not fence.group().startswith("```mermaid"):
            parts.append(fence.group())
        end = fence.end()
    parts.append(_plain(text[end:]))
    return _BLANK_LINES.sub("\n\n", "".join(parts))


def glossary_words(text: str) -> tuple[str, ...]:
    """The anchors of the glossary's words that a page links to, each once, in order."""
    return tuple(dict.fromkeys(_GLOSSARY.findall(_FENCE.sub("", text))))


def _plain(prose: str) -> str:
    return _PAGE.sub(r"\1", _IMAGE.sub(_told, prose))


def _told(picture: re.Match[str]) -> str:
    file = picture[2].rpartition("/")[2]
    return f"*Picture (docs/pictures/{file} in your workspace): {picture[1]}*"
