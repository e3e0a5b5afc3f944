"""The picture of an error map is a whole document, readable with colours, without them, and by ear."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tests.report import maps
from tlpuzzles.report.described import describe
from tlpuzzles.report.picture import error_map_svg
from tlpuzzles.report.severity import Severity
from tlpuzzles.report.shades import of_cell, on_cell, style_sheet
from tlpuzzles.verdict.error_map import ErrorMap

SVG = "{http://www.w3.org/2000/svg}"
TILES = "....wwww " * 4 + "mmmmUUUU " * 3


def _cells(svg: ElementTree.Element) -> list[ElementTree.Element]:
    return [group for group in svg.iter(f"{SVG}g") if group.get("class") == "error-map-cell"]


@pytest.mark.parametrize(
    "shown",
    [
        maps.matrix(TILES, short=5),
        maps.matrix(".somwhfx?NIU " * 3, block=None),
        maps.vector("................ " * 5 + "....UUUU"),
        maps.attention("................ " * 3 + "NNNNNNNNNNNNNNNN"),
        maps.attention("ww wU"),
    ],
)
def test_it_is_well_formed_and_shows_every_cell_inside_its_frame(shown: ErrorMap) -> None:
    svg = ElementTree.fromstring(error_map_svg(shown))
    assert len(_cells(svg)) == sum(map(len, shown.cells))
    _, _, wide, high = map(float, svg.get("viewBox", "").split())
    for box in svg.iter(f"{SVG}rect"):
        x, y, width, height = (float(box.get(name, "-1")) for name in ("x", "y", "width", "height"))
        assert min(x, y, width, height) >= 0
        assert x + width <= wide
        assert y + height <= high
    for text in svg.iter(f"{SVG}text"):
        assert 0 < float(text.get("y", "-1")) < high
        if text.get("text-anchor") is None:
            assert float(text.get("x", "-1")) + 7.2 * len(text.text or "") <= wide


def test_cells_have_marks_and_words() -> None:
    svg = ElementTree.fromstring(error_map_svg(maps.matrix(TILES, short=5)))
    cells = _cells(svg)
    said = [cell.findtext(f"{SVG}title") for cell in cells]
    assert said[0] == "M 0-31, N 0-31: right"
    assert said[7] == "M 0-31, N 224-250: 100 % off or more; the largest error is 200 %"
    assert said[-1] == "M 192-218, N 224-250: never written"
    assert [cell.findtext(f"{SVG}text") for cell in cells[:5]] == [None] * 4 + ["4"]
    assert cells[-1].findtext(f"{SVG}text") == "U"
    legend = " ".join(text.text or "" for text in svg.iter(f"{SVG}text"))
    assert "never written" in legend
    assert "a cell is 32 x 32, a block 128 x 128" in legend
    assert "NaN" not in legend


def test_indices_stand_in_even_steps_and_none_is_cut() -> None:
    for shown in (maps.vector("w............... " * 12, cell=188, block=None), maps.matrix("w" * 20, block=None)):
        svg = ElementTree.fromstring(error_map_svg(shown))
        row = [text for text in svg.iter(f"{SVG}text") if re.fullmatch(r"\+?\d+", text.text or "")]
        row = [text for text in row if text.get("y") == row[0].get("y") and text.get("text-anchor") is None]
        indices = [int(text.text or "") for text in row]
        assert len(indices) > 4
        assert len({later - one for one, later in pairwise(indices)}) == 1
        places = [float(text.get("x", "")) for text in row]
        ends = [x + 7.2 * len(text.text or "") for x, text in zip(places, row, strict=True)]
        assert all(end < after for end, after in zip(ends, places[1:], strict=False))


def test_the_legend_has_a_cell_that_is_wrong_in_part_where_there_is_one() -> None:
    def legend(rows: str) -> list[str | None]:
        return [text.text for text in ElementTree.fromstring(error_map_svg(maps.matrix(rows))).iter(f"{SVG}text")]

    assert "in part" in legend("..hw")
    assert "in part" not in legend("..ww")


def test_part_of_a_cell_is_filled_where_part_of_it_is_wrong() -> None:
    whole, half, few = _cells(ElementTree.fromstring(error_map_svg(maps.matrix("whf"))))
    heights = [[float(box.get("height", "0")) for box in cell.iter(f"{SVG}rect")] for cell in (whole, half, few)]
    assert [len(boxes) for boxes in heights] == [1, 2, 2]
    assert heights[0][0] > heights[1][1] > heights[2][1] > 3


def test_a_screen_reader_has_a_title_and_a_description() -> None:
    text = error_map_svg(maps.attention("................ " * 2 + "NNNNNNNNNNNNNNNN " * 2), name="case-3")
    svg = ElementTree.fromstring(text)
    assert svg.get("role") == "img"
    title, desc = svg.find(f"{SVG}title"), svg.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert (svg.get("aria-labelledby"), svg.get("aria-describedby")) == (title.get("id"), desc.get("id"))
    assert title.get("id") == "case-3-title"
    assert title.text == "Where O is wrong, at batch 0, heads 2 (4 of 6 slices are)"
    assert desc.text == "seq_len 0 to 63: right, all along dim; seq_len 64 to 127: NaN, all along dim."


def test_the_description_is_short_whatever_the_map() -> None:
    assert describe(maps.matrix("....wwww " * 4 + "UUUU.... " * 4)) == (
        "M 0 to 127: N 0 to 127 right, N 128 to 255 100 % off or more; "
        "M 128 to 255: N 0 to 127 never written, N 128 to 255 right."
    )
    assert describe(maps.vector("........ ....UUUU")) == "N 0 to 1535 right, N 1536 to 2047 never written."
    noise = ".w.m.N.U.o.s.x.h.w.m.N.U "
    assert "something wrong in 12 of 24 cells along N, up to never written" in describe(maps.matrix(noise * 8))
    assert len(describe(maps.matrix(noise * 8))) < 200


def test_light_and_dark_have_a_colour_for_everything_and_contrast() -> None:
    sheet = style_sheet()
    assert "@media (prefers-color-scheme: dark)" in sheet
    for scheme in sheet.split("@media"):
        for one in Severity:
            cell = re.search(rf"\.{of_cell(one)} {{ fill: (#\w{{6}})", scheme)
            mark = re.search(rf"\.{on_cell(one)} {{ fill: (#\w{{6}})", scheme)
            assert cell is not None
            assert mark is not None
            light, dark = sorted((_luminance(cell[1]), _luminance(mark[1])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (one, cell[1], mark[1])


def _luminance(colour: str) -> float:
    """As WCAG defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_names_are_escaped() -> None:
    shown = maps.matrix("..ww").model_copy(update={"tensor": "<C & 'D'>"})
    svg = ElementTree.fromstring(error_map_svg(shown, name='a"b'))
    assert svg.findtext(f"{SVG}title") == "Where <C & 'D'> is wrong"
