"""The picture of a report in the README shows its columns whatever draws it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from tools.picture import placed

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
