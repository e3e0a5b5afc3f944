"""In a child: draws inputs and judges outputs. It holds seeds and references, and runs nobody's code but ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Case, Exercise, Sizes
from tlpuzzles.verdict import judge as court
from tlpuzzles.verdict.judgement import CaseJudgement
from tlpuzzles.verdict.model import Verdict

MOST_THREADS = 4
"""Of references in float64. Half of the cores are left to what compiles for other GPUs meanwhile."""

Emit = Callable[[dict[str, Any]], None]


def judge(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: task ("draw" or "judge"), exercise, seed, folder, cases: a list of {"id", "like", "sizes"}; to judge also
    outputs (by case, one file or two), tiles and causes (by case), printed (by case) and dump (a folder or None). Emits
    "drawn" or "judged" for each case, and "printed" if prints are graded."""
    exercise = catalog.find(job["exercise"])
    # What this process was forked from has one thread, for a pool does not survive a fork. This one can have its own.
    torch.set_num_threads(max(1, min(MOST_THREADS, (os.cpu_count() or 1) // 2)))
    failed: list[CaseJudgement] = []
    for item in job["cases"]:
        case, sizes = exercise.case(item["like"], item["id"]), item["sizes"]
        if job["task"] == "draw":
            emit(_draw(exercise, case, sizes, job))
        elif case.id in job["outputs"]:
            equalled = {one.output.detail.mistake for one in failed} if failed else None
            answer = _judge(exercise, case, sizes, job, equalled)
            emit(_checked(answer, exercise, case, sizes, job))
            failed += [answer] if answer.output.verdict is Verdict.FAILED else []
            if exercise.printing is not None:
                fault = court.judge_printed(exercise, case, sizes, job["seed"], job["printed"][case.id])
                emit({"kind": "printed", "fault": None if fault is None else asdict(fault)})


def inputs_folder(folder: Path, case: Case) -> Path:
    """Where a case's inputs are drawn to."""
    return folder / f"{case.id}.inputs"


def _draw(exercise: Exercise, case: Case, sizes: Sizes, job: Mapping[str, Any]) -> dict[str, Any]:
    target = inputs_folder(Path(job["folder"]), case)
    target.mkdir()
    files = court.draw(exercise, case, sizes, job["seed"], target)
    named = {tensor.name: str(file) for tensor, file in zip(exercise.inputs, files, strict=True)}
    return {"kind": "drawn", "case": case.id, "files": named}


def _judge(
    exercise: Exercise, case: Case, sizes: Sizes, job: Mapping[str, Any], equalled: Collection[str | None] | None
) -> CaseJudgement:
    tile = job["tiles"].get(case.id)
    return court.judge(
        exercise,
        case,
        sizes,
        job["seed"],
        *_outputs(case, job),
        tile=None if tile is None else tuple(tile),
        cause=job["causes"].get(case.id, ""),
        equalled=equalled,
    )


def _outputs(case: Case, job: Mapping[str, Any]) -> list[Path]:
    return [Path(file) for file in job["outputs"][case.id]]


def _checked(
    answer: CaseJudgement, exercise: Exercise, case: Case, sizes: Sizes, job: Mapping[str, Any]
) -> dict[str, Any]:
    """The message about a case. Its inputs must be as they were; what was wrong is dumped if that is asked for."""
    seed = job["seed"]
    files = [inputs_folder(Path(job["folder"]), case) / f"{tensor.name}.bin" for tensor in exercise.inputs]
    changed = court.changed_inputs(exercise, case, sizes, seed, files)
    message = {"kind": "judged", "case": case.id, "changed": changed, **answer.model_dump(mode="json")}
    if job["dump"] is not None and (changed or answer.output.verdict is not Verdict.PASSED):
        court.dump(Path(job["dump"]), exercise, case, sizes, seed, *_outputs(case, job))
    return message
