"""The reading guides to the reference solutions: three points each, whose lines are those of the solution as shown."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from tlpuzzles.course import catalog
from tlpuzzles.workspace.reference import reference
from tlpuzzles_solutions import guide, path
from tlpuzzles_solutions.cut import whole

SLUGS = [exercise.slug for exercise in catalog.exercises()]
QUOTED = re.compile(r"^Lines? (\d+)(?: to (\d+))?:\n\n```(?:python|text)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)` in\s+line (\d+)")
LINE = re.compile(r"\blines? (\d+)\b", re.IGNORECASE)


@pytest.mark.parametrize("slug", SLUGS)
def test_three_points_each_with_lines(slug: str) -> None:
    title, *points = re.split(r"^## ", guide(slug).read_text("utf-8"), flags=re.MULTILINE)
    assert title.startswith("# Reading guide to exercise ")
    assert len(points) == 3
    for point in points:
        assert QUOTED.search(point), point
        assert len(QUOTED.sub("", point).split()) > 40  # says why


@pytest.mark.parametrize("slug", SLUGS)
def test_the_lines_are_those_of_the_solution(slug: str) -> None:
    text = guide(slug).read_text("utf-8")
    lines = reference(catalog.find(slug)).text.split("\n")
    for first, last, quote in QUOTED.findall(text):
        shown = lines[int(first) - 1 : int(last or first)]
        assert dedent("\n".join(shown)).rstrip() == quote, f"lines {first} to {last or first}"
    for quote, line in INLINE.findall(text):
        assert quote in lines[int(line) - 1], f"line {line}"
    # No line is named without what stands there, or nothing would hold the number.
    assert len(LINE.findall(text)) == len(QUOTED.findall(text)) + len(INLINE.findall(text))


@pytest.mark.parametrize("slug", SLUGS)
def test_what_is_shown_is_the_solution_without_its_markers(slug: str) -> None:
    shown, solution = reference(catalog.find(slug)).text, path(slug).read_text("utf-8")
    assert "# ---" not in shown
    compile(shown, slug, "exec")
    assert shown == whole(solution)
    for skeleton_only in re.findall(r"# --- instead\n(.*?)# --- end", solution, re.DOTALL):
        for line in skeleton_only.splitlines():
            assert len(line.strip()) < 12 or line not in shown.splitlines()
