"""All text can be read, in light and in dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.report.page import made
from tests.report.page.structure import read
from tests.report.test_error_map_picture import _luminance
from tlpuzzles.report.page import palette
from tlpuzzles.report.page.palette import SURFACES, TEXTS, TINTS, Colour
from tlpuzzles.verdict.outcomes import Verdict

ENOUGH = 4.5
"""What WCAG asks for, at level AA."""


def contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_on_every_surface(scheme: str) -> None:
    def of(colour: Colour) -> str:
        return str(getattr(colour, scheme))

    on_surfaces = [(TEXTS[text], surface) for text in TEXTS for surface in SURFACES.values()]
    on_tints = [(TEXTS[name.removesuffix("-tint")], tint) for name, tint in TINTS.items()]
    pairs = [(of(text), of(ground)) for text, ground in on_surfaces + on_tints]
    assert [pair for pair in pairs if contrast(*pair) < ENOUGH] == []


def test_every_way_to_end_has_a_colour_and_both_schemes_have_all_colours() -> None:
    assert {verdict.value for verdict in Verdict} <= palette.OF_STATE.keys()
    style = read(made.page_of_course()).all("style")[0].text
    names = set(re.findall(r"var\((--tlp-[\w-]+)\)", style))
    assert len(names) > 12
    for scheme in style.split("prefers-color-scheme: dark", 1):
        assert names <= set(re.findall(r"(--[\w-]+): #", scheme))


def test_colours_come_from_the_palette_alone() -> None:
    sheet = Path(palette.__file__).parent / "templates" / "style.css"
    assert not re.search(r"#[0-9a-f]{3,8}\b|rgba?\(|hsl", sheet.read_text("utf-8"))
