"""What the judge is told of one case while it judges the next."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from tlpuzzles.course import catalog
from tlpuzzles.grading.plan import plan
from tlpuzzles.grading.roles.judging import judge
from tlpuzzles.verdict import judge as court
from tlpuzzles.verdict.judgement import CaseJudgement
from tlpuzzles.verdict.posed import Posed, raw

ADD = catalog.find("vector_add")
SEED = 7


def test_cases_hear_which_mistakes_those_before_them_equalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is right, the second a difference."""
    heard: list[Collection[str] | None] = []
    made = court.judge

    def listened(*arguments: Any, equalled: Collection[str] | None, **options: Any) -> CaseJudgement:
        heard.append(equalled)
        return made(*arguments, equalled=equalled, **options)

    monkeypatch.setattr(court, "judge", listened)
    problems = plan(ADD, SEED, on_cuda=False).problems[:4]
    cases = [{"id": p.case.id, "like": p.case.like or p.case.id, "sizes": p.sizes} for p in problems]
    job: dict[str, Any] = {
        "task": "draw", "exercise": ADD.slug, "seed": SEED, "folder": str(tmp_path), "cases": cases,
        "outputs": {}, "tiles": {}, "causes": {}, "dump": None,
    }  # fmt: skip
    judge(job, lambda message: None)
    for number, problem in enumerate(problems):
        inputs = Posed(ADD, problem.case, problem.sizes, SEED).inputs
        file = tmp_path / f"{problem.case.id}.out"
        file.write_bytes(raw(inputs["A"] - inputs["B"] if number else inputs["A"] + inputs["B"]))
        job["outputs"][problem.case.id] = [str(file)]
    messages: list[dict[str, Any]] = []
    judge({**job, "task": "judge"}, messages.append)

    assert [message["output"]["verdict"] for message in messages] == ["passed", "failed", "failed", "failed"]
    assert heard == [None, None, {"difference"}, {"difference"}]
