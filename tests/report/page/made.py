"""Pages of made-up gradings and of a made-up record; to look at them: python -m tests.report.page.made FOLDER."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path

from tests.report import maps, samples
from tests.report.test_inspection import TILES
from tests.report.test_journey import DONE, FAST, MANY
from tlpuzzles.course import catalog
from tlpuzzles.report.journey import Stage
from tlpuzzles.report.page import course_page, fragment, grading_page, gradings_page
from tlpuzzles.report.page.tiles import Tiles
from tlpuzzles.verdict.model import Detail, Kind, Location, Result, Verdict
from tlpuzzles.workspace.attempts import Past

AT = datetime(2026, 11, 30, 9, 5, tzinfo=timezone.utc)


def mapped() -> Result:
    """Two cases fail, each with a map of its own."""
    checks = [
        samples.check(
            id_,
            samples.CASES[id_],
            Kind.CORRECTNESS,
            Verdict.FAILED,
            f"{id_}: O is wrong from query 64 on.",
            Detail(
                case=id_,
                error_map=maps.attention("................ ................ wwwwwwwwwwwwwwww NNNNNNNNNNNNNNNN"),
                location=Location(file=samples.FILE, line=48, source="    T.reduce_sum(P, total, dim=1)"),
                raw="a long message of the compiler\n" * 30,
            ),
        )
        for id_ in ("ragged-keys", "causal")
    ]
    printed = "".join(f"line {number} of a kernel that prints\n" for number in range(40))
    return samples.result([*samples.BUILD, *checks, *samples.portability()], Verdict.FAILED, output=printed)


def page_of(result: Result, past: Past | None = None, tiles: Tiles | None = None) -> str:
    return grading_page(result, catalog.find(result.exercise.slug), AT, past=past, tiles=tiles)


def fragment_of(result: Result, past: Past | None = None) -> str:
    return fragment(result, catalog.find(result.exercise.slug), past=past)


def page_of_all() -> str:
    results = samples.all_timed()
    exercises = [catalog.find(result.exercise.slug) for result in results.exercises]
    return gradings_page(results, exercises, AT, pasts={"flash_attention": FAST})


def page_of_course(*pasts: Past) -> str:
    shown = [*pasts, *[Past()] * (len(catalog.exercises()) - len(pasts))]
    stages = [Stage(e.number, e.title, past, 100) for e, past in zip(catalog.exercises(), shown, strict=True)]
    return course_page(stages, AT)


PAGES = {
    "mapped": lambda: page_of(mapped(), DONE),
    "fast": lambda: page_of(samples.fast(), FAST),
    "tiles": lambda: page_of(samples.passed(), DONE, Tiles(TILES, "M, N and K all ragged", "T4 (sm_75)")),
    "slow": lambda: page_of(samples.slow()),
    "not_started": lambda: page_of(samples.not_started()),
    "all": page_of_all,
    "course": lambda: page_of_course(DONE, FAST, Past(hint=2), MANY),
}


if __name__ == "__main__":
    for name, make in PAGES.items():
        Path(sys.argv[1], f"{name}.html").write_text(make(), encoding="utf-8")
