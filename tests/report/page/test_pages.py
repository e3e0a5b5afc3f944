"""Reports as pages of their own."""

from __future__ import annotations

import re

import pytest

from tests.report import samples
from tests.report.page import made
from tests.report.page.structure import Element, check, headings, read
from tests.report.test_journey import DONE, FAST, MANY, attempt
from tlpuzzles.verdict.outcomes import Verdict
from tlpuzzles.workspace.attempts import Past


@pytest.mark.parametrize("name", made.PAGES)
def test_a_page_is_whole_and_stands_alone(name: str) -> None:
    page = made.PAGES[name]()
    root = read(page)
    check(root)
    assert headings(root)[0] == 1
    assert headings(root).count(1) == 1
    (html,) = root.all("html")
    assert html.attributes["lang"] == "en"
    assert [meta.attributes.get("name") for meta in html.all("meta")] == [None, "viewport", "color-scheme"]
    assert len(html.all("main")) == len(html.all("footer")) == 1
    assert root.all("title")[0].said
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "url(" not in page
    assert "@import" not in page
    assert "2026-11-30 09:05 UTC" in html.said


def test_verdict_and_points_come_first_and_are_those_of_the_terminal() -> None:
    (article,) = read(made.page_of(samples.slow())).all("article")
    head = article.all("header")[0].said
    assert head.startswith("Exercise 2 Tiled GEMM on tensor cores ✗ NOT YET FAST exercises/02_tiled_gemm/tiled_gemm.py")
    assert "of 100 points: 60 for results" in head


def test_every_wrong_case_has_its_map_its_line_and_the_original_message() -> None:
    root = read(made.page_of(made.mapped()))
    pictures = root.classed("error-map")
    assert len(pictures) == 2
    for picture in pictures:
        assert picture.all("title")[0].said == "Where O is wrong, at batch 0, heads 2 (4 of 6 slices are)"
        assert "seq_len 64 to 95" in picture.all("desc")[0].said
        assert "NaN" in picture.said
    lines = [code.said for code in root.all("code") if "reduce_sum" in code.text]
    assert lines == ["T.reduce_sum(P, total, dim=1)"] * 2
    assert sum("a long message of the compiler" in raw.text for raw in root.all("pre")) == 2
    explained = root.classed("tlp-why")[0]
    (link,) = [link for link in root.all("a") if link.said == "explained above"]
    assert root.one(link.attributes["href"][1:]) is explained


def test_what_was_printed_is_all_there_and_what_is_long_is_folded() -> None:
    root = read(made.page_of(made.mapped()))
    first, rest = [pre for pre in root.all("pre") if "of a kernel that prints" in pre.text]
    assert [len(pre.text.splitlines()) for pre in (first, rest)] == [12, 28]
    assert rest.parent is not None
    assert rest.parent.tag == "details"
    assert rest.parent.all("summary")[0].said == "28 more lines"


def test_what_was_not_begun_shows_what_is_to_do_and_no_checks() -> None:
    said = read(made.page_of(samples.not_started())).said
    assert "What is to do" in said
    assert "line 37 TODO 2 multiply queries and keys" in said
    assert "Checks" not in said
    assert "inspect" not in said


def test_where_layouts_are_to_be_had_is_said() -> None:
    assert "tlpuzzles inspect 6 --svg tiles" in read(made.page_of(samples.wrong())).said
    assert "inspect" not in read(made.page_of(samples.does_not_compile())).said
    other = samples.wrong().model_copy(update={"file": "my <b>kernels</b>/a b.py"})
    assert "tlpuzzles inspect 6 'my <b>kernels</b>/a b.py' --svg tiles" in read(made.page_of(other)).said


def test_attempts_are_bars_in_their_order_and_rows_of_a_table() -> None:
    root = read(made.page_of(samples.fast(), FAST))
    points, speed = (growth.all("svg")[0] for growth in root.classed("tlp-growth"))
    assert points.attributes["aria-label"] == (
        "Points of 2 gradings: 60 of 100 points in attempt 1, 93 of 100 points in attempt 2."
    )
    assert speed.attributes["aria-label"] == "Speed of 2 gradings: speed 0.25 in attempt 1, speed 0.90 in attempt 2."
    first, second = speed.classed("tlp-bar")
    assert _number(first, "x") < _number(second, "x")
    assert _number(second, "height") / _number(first, "height") == pytest.approx(0.9 / 0.25, rel=0.01)
    # Not by colour alone.
    assert [text.said for text in points.all("text")] == ["✗", "✓"]
    (table,) = root.all("table")
    assert [[cell.said for cell in row.all("th", "td")] for row in table.all("tr")][1:] == [
        ["2", "93 of 100", "✓ passed", "0.90", "2026-05-01 00:00", "T4 (sm_75)"],
        ["1", "60 of 100", "✗ failed", "0.25", "2026-05-01 00:00", "T4 (sm_75)"],
    ]
    assert "passed best 93 of 100 points speed 0.90 2 tries points first 60, last 93" in root.said
    assert "Table of 2 tries" in root.said
    assert "Your attempts" not in read(made.page_of(samples.fast())).said
    assert "Your attempts" not in read(made.page_of(samples.fast(), Past(hint=3))).said


def test_gradings_that_are_no_tries_are_told_apart_from_tries() -> None:
    root = read(made.page_of(samples.wrong(), DONE))
    assert "Table of 4 gradings: 3 tries, 1 not started" in root.said
    untried = read(made.page_of_course(Past((attempt(1, Verdict.NOT_STARTED, 0),)))).said
    assert "1 Vector add not tried Table of 1 grading: 1 not started" in untried


def test_a_table_has_no_column_for_speed_where_none_was_measured() -> None:
    (table,) = read(made.page_of(samples.wrong(), DONE)).all("table")
    assert [cell.said for cell in table.all("tr")[0].all("th")] == ["attempt", "points", "ended", "when (UTC)", "where"]
    assert {len(row.all("th", "td")) for row in table.all("tr")} == {5}


def test_all_exercises_on_one_page_are_reached_from_its_head() -> None:
    root = read(made.page_of_all())
    (nav,) = root.all("nav")
    links = nav.all("a")
    exercises = ["1 Vector add", "2 Tiled GEMM on tensor cores", "6 FlashAttention", "6 FlashAttention", "7 Autotuning"]
    assert [link.said for link in links] == exercises
    for link, article in zip(links, root.all("article"), strict=True):
        target = root.one(link.attributes["href"][1:])
        assert target in article.all("h2")
        assert target.said in link.said
    assert "2 of 5 passed" in root.all("header")[0].said
    assert "0.54 of cuBLAS" in nav.said


def test_the_course_tells_all_that_the_terminal_tells() -> None:
    root = read(made.page_of_course(DONE, FAST, Past(hint=2), MANY, Past(MANY.attempts[:1], given_up=True)))
    said = root.said
    assert "2 of 8 passed · 214 of 680 points; 120 more are not graded where you tried" in said
    assert "tlpuzzles show 3 next: Schedule sweep" in said
    stages = [stage for stage in root.all("section") if stage.classed("tlp-stage")]
    assert len(stages) == 8
    assert "passed: 1 Vector add passed best 60 of 60 points 3 tries hint 2 read" in stages[0].said
    assert "speed first 0.25, last 0.90" in stages[1].said
    assert "not tried" in stages[2].said
    assert "hint 2 read" in stages[2].said
    assert len(stages[3].classed("tlp-bar")) == 24, "the latest"
    assert "…" in [text.said for text in stages[3].all("text")]
    assert "first 1, last 60" in stages[3].said
    assert len(stages[3].all("tr")) == 61, "and all of them in the table"
    assert "given up" in stages[4].said
    nothing = read(made.page_of_course())
    check(nothing)
    assert "tlpuzzles show 1 next: Vector add" in nothing.said
    assert "Bars" not in nothing.said


def _number(element: Element, attribute: str) -> float:
    return float(element.attributes[attribute].rstrip("%"))
