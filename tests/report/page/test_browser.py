"""Pages in a browser: on a phone and on a desk, in light and in dark."""

from __future__ import annotations

import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.report import samples
from tests.report.page import browser, hosts, made
from tests.report.test_journey import FAST

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="needs Chromium (Debian: apt install chromium)")

PHONE, DESK = 360, 1200
GROUNDS = {False: "rgb(244, 243, 238)", True: "rgb(13, 17, 23)"}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int, bool], dict[str, Any]]:
    """By page, width and scheme, what there is to measure. Two browsers at a time."""

    def look(key: tuple[str, int, bool]) -> dict[str, Any]:
        name, width, dark = key
        return browser.look(made.PAGES[name](), tmp_path_factory.mktemp("seen"), width=width, dark=dark)

    wanted = [(name, PHONE, name == "all") for name in made.PAGES] + [("all", DESK, False), ("course", DESK, True)]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(wanted, pool.map(look, wanted), strict=True))


def test_no_page_is_wider_than_its_window_with_all_of_it_unfolded(
    seen: dict[tuple[str, int, bool], dict[str, Any]],
) -> None:
    assert {key: found["width"] for key, found in seen.items()} == {key: key[1] for key in seen}


def test_every_text_has_contrast_as_it_is_drawn(seen: dict[tuple[str, int, bool], dict[str, Any]]) -> None:
    for (name, _, dark), found in seen.items():
        assert found["ground"] == GROUNDS[dark], name
        assert found["read"] > 15, name
        assert found["low"] == [], name


def test_no_word_of_a_picture_is_cut_and_nothing_is_fetched(
    seen: dict[tuple[str, int, bool], dict[str, Any]],
) -> None:
    assert [found["cut"] for found in seen.values()] == [[]] * len(seen)
    assert [found["requests"] for found in seen.values()] == [0] * len(seen)


def test_the_probe_sees_what_it_is_to_see(tmp_path: Path) -> None:
    wide, pale = '<div style="width: 900px">wide</div>', '<p style="color: #999; background: #fff">pale</p>'
    bad = f'<body class="tlp">{wide}{pale}</body>'
    found = browser.look(bad, tmp_path, width=PHONE, dark=False)
    assert found["width"] >= 900
    assert [words for _, words in found["low"]] == ["pale"]


def test_what_scrolls_sideways_says_so_where_it_does_and_nowhere_else(tmp_path: Path) -> None:
    page = made.PAGES["tiles"]()
    assert browser.look(page, tmp_path, width=PHONE, dark=False)["sideways"] == [[True, True]] * 3
    assert [
        pair for pair in browser.look(page, tmp_path, width=DESK, dark=False)["sideways"] if pair != [True, True]
    ] == [[False, False]] * 2


@pytest.mark.parametrize("host", hosts.STYLES)
def test_a_report_in_a_notebook_looks_as_it_does_alone(host: str, tmp_path: Path) -> None:
    shown = made.fragment_of(made.mapped(), FAST) + made.fragment_of(samples.fast())
    alone, within = (
        browser.look(hosts.around(shown, style), tmp_path, width=DESK, dark=False) for style in ("", hosts.STYLES[host])
    )
    assert len(alone["boxes"]) > 300
    for one, other in zip(alone["boxes"], within["boxes"], strict=True):
        assert other == one
    assert within["cut"] == []


@pytest.mark.parametrize(("width", "dark"), [(PHONE, True), (DESK, False)])
def test_a_screenshot_shows_the_page_on_its_own_ground(tmp_path: Path, width: int, dark: bool) -> None:
    shown = browser.screenshot(made.PAGES["mapped"](), tmp_path, width=width, height=900, dark=dark)
    content = shown.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">II", content[16:24]) == (max(width, 500), 900)
    assert len(content) > 20_000, "a page without anything on it is a few thousand bytes"
