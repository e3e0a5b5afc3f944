"""Reading a page as strictly as a person who cannot see it needs it to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Element:
    """One element of a page, with what is in it."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def said(self) -> str:
        """The text with single blanks, as it is read."""
        return " ".join(self.text.split())

    def all(self, *tags: str) -> list[Element]:
        """The elements of these names below it, in their order; of any name if none is given."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                found += [child] if child.tag in tags or not tags else []
                found += child.all(*tags)
        return found

    def classed(self, name: str) -> list[Element]:
        return [element for element in self.all() if name in element.attributes.get("class", "").split()]

    def one(self, identifier: str) -> Element:
        (found,) = [element for element in self.all() if element.attributes.get("id") == identifier]
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs}, self.open)
        self.open.children.append(element)
        if tag not in VOID:
            self.open = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.tag == tag, f"</{tag}> where <{self.open.tag}> is open"
        assert self.open.parent is not None
        self.open = self.open.parent

    def handle_data(self, data: str) -> None:
        self.open.children.append(data)


def read(page: str) -> Element:
    """The page's root. Fails where an element is not closed, or closed in another one."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open is reader.root, f"<{reader.open.tag}> is never closed"
    return reader.root


def headings(root: Element) -> list[int]:
    """Their levels, in their order."""
    return [int(element.tag[1]) for element in root.all("h1", "h2", "h3", "h4", "h5", "h6")]


def check(root: Element) -> None:
    """What holds for every page: no name twice, headings in order, pictures in words, nothing to run or to fetch."""
    names = [element.attributes["id"] for element in root.all() if "id" in element.attributes]
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    levels = headings(root)
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    for element in root.all():
        _check_element(element, set(names))


def _check_element(element: Element, names: set[str]) -> None:
    attributes = element.attributes
    assert element.tag not in ("script", "iframe", "object", "embed", "link", "base"), element.tag
    assert not any(name.startswith("on") or name in ("srcset", "action") for name in attributes), attributes
    if "src" in attributes:
        assert attributes["src"].startswith("data:image/svg+xml;base64,"), "a picture that is fetched, or could run"
        assert element.tag == "img"
        assert attributes.get("alt")
    for name in ("aria-labelledby", "aria-describedby"):
        assert set(attributes.get(name, "").split()) <= names
    assert attributes.get("href", "#").startswith("#")
    assert attributes.get("href", "#")[1:] in {*names, ""}
    if element.tag == "svg":
        assert attributes.get("role") == "img"
        assert attributes.get("aria-label") or attributes.get("aria-labelledby")
    if "tabindex" in attributes:
        assert attributes.get("aria-label"), "what takes the focus has a name"
    if element.tag == "details":
        assert element.all("summary")
    if element.tag in ("p", "span", "pre", "summary"):
        inside = {child.tag for child in element.all()}
        assert not inside & {"p", "div", "ul", "dl", "pre", "table", "details", "section", "h2", "h3"}, inside
