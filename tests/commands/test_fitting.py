"""The cheat sheet in a terminal that is narrower than it."""

from __future__ import annotations

import ast
import re

import pytest

from tlpuzzles.commands.fitting import fitted, fitted_code, fitted_text
from tlpuzzles.workspace.documents import document

SHEET = document("cheatsheet.md").read_text("utf-8")
BLOCKS = [block.splitlines() for block in re.findall(r"^```python\n(.*?)^```$", SHEET, re.MULTILINE | re.DOTALL)]


def test_what_fits_stays_as_it_is() -> None:
    lines = [(False, "Tiles"), (True, "T.clear(tile)    # sets to 0"), (True, "a = 1; b = 2")]
    assert list(fitted(lines, 28)) == lines


def test_a_block_that_does_not_fit_leaves_those_beside_it_alone() -> None:
    lines = [(True, "a = 1    # one"), (False, "Tiles"), (True, "T.clear(tile)    # sets to 0")]
    assert list(fitted(lines, 27)) == [*lines[:2], (True, "# sets to 0"), (True, "T.clear(tile)")]


def test_all_comments_of_a_block_go_above_their_lines() -> None:
    block = ["with T.Kernel(8) as bx:", "    ...    # what one block does", "x = '#'    # one"]
    assert fitted_code(block, 24) == [
        "with T.Kernel(8) as bx:",
        "    # what one block",
        "    # does",
        "    ...",
        "# one",
        "x = '#'",
    ]


@pytest.mark.parametrize(
    ("line", "width", "expected"),
    [
        ("a(1, 2); b(3); c(4)", 15, ["a(1, 2); b(3)", "c(4)"]),
        ("one(f(1, 2), g(3, 4), 5)", 16, ["one(f(1, 2),", "    g(3, 4), 5)"]),
        ("with one(two, three) as (four, five):", 32, ["with one(two,", "         three) as (four, five):"]),
        ("one_two(three_and_four, five)", 20, ["one_two(", "    three_and_four,", "    five)"]),
        ("one(two=', ;', three=3)", 17, ["one(two=', ;',", "    three=3)"]),
        ("one()(two_and_three)", 16, ["one()(", "    two_and_three)"]),
        ("one_two_three = four", 10, ["one_two_three = four"]),
    ],
)
def test_a_long_line_is_broken_where_one_would_break_it(line: str, width: int, expected: list[str]) -> None:
    assert fitted_code([line], width) == expected


def test_items_of_a_list_are_filled_anew() -> None:
    block = ["", "Traps", "- One that goes on in the", "  next line.", "- Another."]
    assert fitted_text(block, 17) == ["", "Traps", "- One that goes", "  on in the next", "  line.", "- Another."]


@pytest.mark.parametrize("width", range(40, 81))
def test_the_sheet_means_the_same_in_any_width(width: int) -> None:
    for block in BLOCKS:
        found = fitted_code(block, width)
        assert ast.dump(ast.parse("\n".join(found))) == ast.dump(ast.parse("\n".join(block)))
        assert _comments(found) == _comments(block)


@pytest.mark.parametrize("width", range(58, 81))
def test_the_sheet_fits(width: int) -> None:
    assert max(len(line) for _, line in fitted(_sheet(), width)) <= width


def _comments(block: list[str]) -> list[str]:
    return [word for line in block for word in line.partition("#")[2].replace("#", " ").split()]


def _sheet() -> list[tuple[bool, str]]:
    return [(bool(place % 2), line) for place, part in enumerate(SHEET.split("```")) for line in part.splitlines()]
