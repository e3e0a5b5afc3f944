"""One grading as a fragment that can stand in any page."""

from __future__ import annotations

import re

import pytest

from tests.report import maps, samples
from tests.report.page.structure import check, headings, read
from tlpuzzles.course import catalog
from tlpuzzles.report.page import fragment
from tlpuzzles.verdict.model import Detail, Kind, Location, Result, Verdict

EXERCISE = catalog.find("flash_attention")
HOSTILE = "</style></pre></svg><script>alert('x')</script>&amp;<img src=x onerror=y>\"'{{ 7 * 7 }}"


def shown(result: Result, **options: object) -> str:
    return fragment(result, EXERCISE, **options)  # type: ignore[arg-type]


def hostile() -> Result:
    """Wherever a learner's file or a process has a word."""
    detail = Detail(
        mistake=HOSTILE,
        region=HOSTILE,
        raw=f"{HOSTILE} raw",
        sizes={HOSTILE: 3},
        dtype=HOSTILE,
        first_wrong=(1,),
        expected=1.0,
        found=float("nan"),
        error_map=maps.matrix("..ww").model_copy(update={"tensor": HOSTILE}),
        location=Location(file=f"{HOSTILE}.py", line=3, source=f"x = '{HOSTILE}'"),
    )
    failed = [
        samples.check(f"{n}{HOSTILE}", HOSTILE, Kind.CORRECTNESS, Verdict.FAILED, f"{HOSTILE} {n}", detail)
        for n in range(2)
    ]
    timed = samples.speed(HOSTILE, HOSTILE, 1.0, 1.0, (10, 10), baseline=("x", HOSTILE), advice=HOSTILE)
    return samples.result(failed, Verdict.FAILED, output=HOSTILE, file=f"<script>{HOSTILE}").model_copy(
        update={"speed": (timed,), "device": samples.H200.model_copy(update={"name": HOSTILE})}
    )


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_every_report_is_whole_and_in_order(name: str) -> None:
    page = shown(samples.SAMPLES[name]())
    root = read(page)
    check(root)
    assert headings(root)[0] == 3, "a notebook's own headings stand above"
    assert "<html" not in page
    assert "url(" not in page
    assert "@import" not in page


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_every_check_is_there_with_all_that_it_says(name: str) -> None:
    result = samples.SAMPLES[name]()
    said = read(shown(result)).said
    for one in result.checks:
        assert one.title in said or result.verdict is Verdict.NOT_STARTED
        assert " ".join(one.message.split()) in said


def test_what_a_learner_or_a_process_says_is_text_and_nothing_else() -> None:
    page = shown(hostile())
    root = read(page)
    check(root)
    assert "<script" not in page
    assert page.count("</style>") == page.count("<style>")
    assert "{{ 7 * 7 }}" in root.text
    for where in ("tlp-where", "tlp-message", "tlp-printed", "tlp-place", "tlp-code", "tlp-facts"):
        assert any("<script>alert('x')</script>&amp;" in element.text for element in root.classed(where)), where


def test_nothing_hides_in_direction_marks_or_control_characters() -> None:
    page = shown(samples.result(samples.BUILD, Verdict.PASSED, output="a\u202eb\x1b[31mc\x00d\n", file="\u2066.py"))
    assert not re.search("[\u202e\u2066\x1b\x00]", page)
    assert "a?bc?d" in page


def test_its_style_holds_for_nothing_around_it() -> None:
    (style, *_) = read(shown(samples.passed())).all("style")
    rules = re.sub(r"@media[^{]*\{", "", style.text)
    selectors = [selector.strip() for selector in re.findall(r"([^{}]+)\{", rules)]
    assert len(selectors) > 50
    for selector in selectors:
        for one in re.sub(r"\([^)]*\)", "", selector).split(","):
            assert re.match(r"(div|body)?\.tlp\b", one.strip()), one


def test_two_in_one_notebook_share_no_name() -> None:
    check(read(shown(samples.wrong()) + shown(samples.unset()) + shown(samples.fast())))
