"""The picture of a report in the README shows its columns whatever draws it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from tools.picture import of_speed, placed, read

from tests.report import samples

TEXT = re.compile(r"<text [^>]*textLength[^>]*>([^<]*)</text>")


def test_words_are_placed_by_themselves() -> None:
    drawn = '<text class="a" x="10" y="5" textLength="80" clip="c">&#160;&#160;a&#160;&lt;&#160;&#160;b</text>'
    assert placed(drawn) == (
        '<text class="a" x="30" y="5" textLength="30" clip="c">a&#160;&lt;</text>\n'
        '<text class="a" x="80" y="5" textLength="10" clip="c">b</text>'
    )


def test_no_text_of_the_picture_relies_on_blanks_that_a_renderer_may_drop() -> None:
    texts = [unescape(text).replace("\u00a0", " ") for text in TEXT.findall(Path("docs/report.svg").read_text("utf-8"))]
    assert len(texts) > 40
    assert all(text == text.strip() and "  " not in text for text in texts)
    assert "explained below" in texts


def test_the_picture_of_speed_is_what_the_report_says_of_the_recorded_grading() -> None:
    recorded = read(Path("tools/recorded_speed.json").read_text("utf-8"))
    assert of_speed(recorded) == Path("docs/speed.svg").read_text("utf-8"), "python -m tools.picture FILE makes it anew"
    with pytest.raises(ValueError, match="--no-speed"):
        of_speed(samples.not_asked())
