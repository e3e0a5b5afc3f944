"""What the judge says about one case: data that crosses from its process to the one that decides."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from tlpuzzles.verdict.model import Detail, Verdict

UNNAMED = "A tile is read before it is set"
"""Begins what the judge says of such a tile: it sees outputs alone, and cannot name it."""


class Judgement(BaseModel):
    """The fields of a `model.Check` that the judge knows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Verdict
    message: str = ""
    """For the learner; empty only where passed."""
    detail: Detail


class CaseJudgement(BaseModel):
    """`model_dump(mode="json")` and `model_validate` carry it between processes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    output: Judgement
    """Of the first run's output against the reference."""
    order: Judgement | None = None
    """Of the second run's against the first's; null where there was no second run."""
