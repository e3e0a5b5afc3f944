"""In a child: lowers a capsule for one architecture, with TVM and, if asked, nvcc. A crash of either is survived."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from tlpuzzles.device.cuda.lower import lower as lower_document
from tlpuzzles.grading.explained import in_words
from tlpuzzles.grading.stages import fetch
from tlpuzzles.grading.submission import Problem
from tlpuzzles.kernel import pass_configs
from tlpuzzles.kernel.capsule import CapsuleError, read

Emit = Callable[[dict[str, Any]], None]

NICENESS = 10
"""The cases' own verdicts come first where cores are few."""


def lower(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: capsule (a file), arch, nvcc (whether to run it as well). Emits "lowered" with a problem or None."""
    os.nice(NICENESS)
    problem = _problem(job)
    emit({"kind": "lowered", "problem": None if problem is None else asdict(problem)})


def _problem(job: Mapping[str, Any]) -> Problem | None:
    capsule = fetch(job["capsule"])
    try:
        document = read(capsule)
    except CapsuleError as error:
        return Problem(f"The kernel cannot be read: {error}.")
    # A kernel traced for another GPU has not been through the vet: its settings must not reach the compiler unseen.
    for finding in pass_configs.check(capsule.pass_configs):
        return Problem(finding.message, finding.line)
    lowered = lower_document(document, capsule.pass_configs, job["arch"], nvcc=job["nvcc"])
    return None if lowered.explanation is None else in_words(lowered.explanation)
