"""In a child: lowers a capsule for one architecture, with TVM and, if asked, nvcc. A crash of either is survived."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from tlpuzzles.device.cuda.lower import for_twin
from tlpuzzles.device.cuda.lower import lower as lower_document
from tlpuzzles.grading.explained import in_words, unreadable
from tlpuzzles.grading.stages import fetch
from tlpuzzles.grading.submission import Problem
from tlpuzzles.kernel import pass_configs
from tlpuzzles.kernel.capsule import CapsuleError, read

Emit = Callable[[dict[str, Any]], None]
Answers = dict[str, Problem | None]

NICENESS = 10
"""The cases' own verdicts come first where cores are few."""


def lower(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: capsule (a file), arch, nvcc (whether to run it as well). Emits "lowered" with a problem or None, for the
    architecture and, if what was found holds for it too, for its twin."""
    os.nice(NICENESS)
    for arch, problem in _problems(job).items():
        emit({"kind": "lowered", "arch": arch, "problem": None if problem is None else asdict(problem)})


def _problems(job: Mapping[str, Any]) -> Answers:
    capsule, arch = fetch(job["capsule"]), job["arch"]
    try:
        document = read(capsule)
    except CapsuleError as error:
        return {arch: unreadable(error)}
    # A kernel traced for another GPU has not been through the vet: its settings must not reach the compiler unseen.
    for finding in pass_configs.check(capsule.pass_configs):
        return {arch: Problem(finding.message, finding.line)}
    lowered = lower_document(document, capsule.pass_configs, arch, nvcc=job["nvcc"])
    twin = None if job["nvcc"] else for_twin(lowered, document)
    return {
        one.arch: None if one.explanation is None else in_words(one.explanation)
        for one in (lowered, twin)
        if one is not None
    }
