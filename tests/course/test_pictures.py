"""The pictures of the lessons: small, complete by themselves, and with words for those who cannot see them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tlpuzzles.course import catalog

PICTURES = sorted((Path(__file__).parents[2] / "docs" / "pictures").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_picture_is_small_complete_and_described(path: Path) -> None:
    text = path.read_text("utf-8")
    root = ElementTree.fromstring(text)

    assert len(text) <= 20_000
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox")
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert len(title.text or "") >= 20
    assert len(description.text or "") >= 100
    assert re.findall(r"https?://[^\"\s]+", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|@import|@font-face|<image|<foreignObject", text)


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_picture_is_legible_on_dark_and_light_pages(path: Path) -> None:
    """It brings a background of its own, as large as it is."""
    root = ElementTree.fromstring(path.read_text("utf-8"))
    _, _, width, height = (float(number) for number in (root.get("viewBox") or "").split())
    panels = [rect for rect in root.findall(f"{SVG}rect") if rect.get("class") == "panel"]

    sizes = [(float(panel.get("width", 0)) + 1, float(panel.get("height", 0)) + 1) for panel in panels]
    assert sizes == [(width, height)]


def test_every_exercise_has_one() -> None:
    for exercise in catalog.exercises():
        assert any(path.stem.startswith(f"{exercise.number}-") for path in PICTURES), exercise.slug
