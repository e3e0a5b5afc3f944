"""Where each element lies, on a page."""

from __future__ import annotations

import base64
from dataclasses import replace
from xml.etree import ElementTree

import tlpuzzles_solutions
from tests.report import samples
from tests.report.page import made
from tests.report.page.structure import Element, read
from tests.report.test_inspection import TILES
from tlpuzzles.course import catalog
from tlpuzzles.report.page import fragment
from tlpuzzles.report.page.tiles import Tiles
from tlpuzzles.report.tile_pictures import picture

COMMAND = "tlpuzzles inspect"


def shown(tiles: Tiles | None) -> Element:
    return read(made.page_of(samples.passed(), tiles=tiles))


def test_each_tile_is_a_picture_that_can_be_unfolded() -> None:
    root = shown(Tiles(TILES, "all <ragged>", "T4 (sm_75)"))
    pictures = root.all("img")
    assert [parent(image, "details").all("summary")[0].said for image in pictures] == [
        "A_shared, 128 x 32 float16", "A_too, 128 x 32 float16", "C_local, 128 x 128 float32",
    ]  # fmt: skip
    for image, tile in zip(pictures, TILES, strict=True):
        drawn = base64.b64decode(image.attributes["src"].partition(",")[2]).decode()
        assert drawn == picture(tile)
        assert ElementTree.fromstring(drawn).findtext(".//{*}desc") == image.attributes["alt"]
    assert "Of the kernel for \u201call <ragged>\u201d, compiled for T4 (sm_75)" in root.said


def test_without_pictures_the_page_says_how_to_get_them() -> None:
    assert COMMAND in shown(None).said
    assert COMMAND not in shown(Tiles(TILES, "", "")).said


def test_a_kernel_without_tiles_has_no_such_section() -> None:
    root = shown(Tiles((), "", ""))
    assert not root.all("img")
    assert "Where each element lies" not in root.said
    assert COMMAND not in root.said


def test_an_exercise_whose_kernels_have_no_tiles_offers_no_pictures_of_them() -> None:
    result = samples.passed()
    assert COMMAND in fragment(result, catalog.find("tiled_gemm"))
    assert COMMAND not in fragment(result, catalog.find("vector_add"))


def test_only_exercises_without_tiles_say_so() -> None:
    for exercise in catalog.exercises():
        text = tlpuzzles_solutions.path(exercise.slug).read_text("utf-8")
        assert exercise.tiled == ("T.alloc_" in text), exercise.slug


def test_a_tile_with_a_name_of_the_learners_is_text() -> None:
    named = TILES[0].model_copy(update={"name": "<script>&'\""})
    root = shown(replace(Tiles((named,), "", ""), case="</p>"))
    assert not root.all("script")
    assert any("<script>" in summary.text for summary in root.all("summary"))


def parent(element: Element, tag: str) -> Element:
    while element.parent is not None and element.tag != tag:
        element = element.parent
    return element
