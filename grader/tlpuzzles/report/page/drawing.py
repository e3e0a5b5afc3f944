"""Pictures that are as wide as there is room, while their words keep their size: places across are in percent."""

from __future__ import annotations

from enum import Enum
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup


class Anchor(str, Enum):
    """Which point of a text is at its place."""

    START = "start"
    MIDDLE = "middle"
    END = "end"


class Drawing:
    """An SVG picture under construction. `x` and widths are percent of the picture's width, `y` and heights pixels.

    Styles are names of classes in the page's style sheet, without what they all begin with.
    """

    def __init__(self, height: float, told: str) -> None:
        """`told` is what the picture shows, for those who cannot see it."""
        # As a style, which holds where a page around it gives every picture a height.
        size = f"width: 100%; height: {height:g}px"
        self._svg = Element("svg", {"class": "tlp-picture", "style": size, "role": "img", "aria-label": told})

    def line(self, start: tuple[float, float], end: tuple[float, float], style: str) -> None:
        (x1, y1), (x2, y2) = start, end
        self._add("line", style, x1=_percent(x1), y1=f"{y1:.5g}", x2=_percent(x2), y2=f"{y2:.5g}")

    def rectangle(self, x: float, y: float, width: float, height: float, style: str, told: str = "") -> None:
        """`told` is shown to a pointer that rests on it."""
        place = {"x": _percent(x), "y": f"{y:.5g}", "width": _percent(width), "height": f"{height:.5g}"}
        added = self._add("rect", style, **place)
        if told:
            SubElement(added, "title").text = told

    def circle(self, x: float, y: float, radius: float, style: str) -> None:
        self._add("circle", style, cx=_percent(x), cy=f"{y:.5g}", r=f"{radius:g}")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        style: str,
        anchor: Anchor = Anchor.START,
        shift: float = 0,
    ) -> None:
        """`shift` moves it to the right by so many pixels."""
        aside = {"dx": f"{shift:g}"} if shift else {}
        place = {"x": _percent(x), "y": f"{y:.5g}", "text-anchor": anchor.value}
        self._add("text", style, **place, **aside).text = text

    def markup(self) -> Markup:
        """The element, with all text in it escaped."""
        return Markup(tostring(self._svg, encoding="unicode"))

    def _add(self, tag: str, style: str, **attributes: str) -> Element:
        names = " ".join(f"tlp-{name}" for name in style.split())
        return SubElement(self._svg, tag, {"class": names, **attributes})


def within(x: float, room: float) -> Anchor:
    """How a text at `x` stays inside the picture: one that takes `room` percent to either side, about."""
    if x < room:
        return Anchor.START
    return Anchor.END if x > 100 - room else Anchor.MIDDLE


def _percent(value: float) -> str:
    return f"{min(max(value, 0), 100):.5g}%"
