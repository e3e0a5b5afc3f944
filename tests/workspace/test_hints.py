"""Splitting hints.md into levels."""

from __future__ import annotations

import pytest

from tlpuzzles.workspace.hints import split_hints


def test_levels_are_sections() -> None:
    text = "# Hints\nfor all\n## Level 1\n\none\n### not a level\n## Level 2: title\ntwo\n```\n# not a heading\n```\n"
    assert split_hints(text) == ("one\n### not a level", "two\n```\n# not a heading\n```")
    assert split_hints("nothing") == ()


@pytest.mark.parametrize("text", ["## Level 2\nx", "## Level 1\nx\n## Level 1\ny", "## Level 0\nx"])
def test_levels_count_from_one(text: str) -> None:
    with pytest.raises(ValueError, match="numbered"):
        split_hints(text)
