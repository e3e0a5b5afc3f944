"""In a child: lowers a capsule for one architecture and tells what there is to see of it. A crash is survived."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from tlpuzzles.device.cuda.seen import see
from tlpuzzles.device.limits import architecture
from tlpuzzles.grading.explained import in_words, unreadable
from tlpuzzles.grading.stages import fetch
from tlpuzzles.grading.submission import Problem
from tlpuzzles.kernel import pass_configs
from tlpuzzles.kernel.capsule import CapsuleError, read
from tlpuzzles.seeing.model import Seen

Emit = Callable[[dict[str, Any]], None]


def inspect(job: Mapping[str, Any], emit: Emit) -> None:
    """Job: capsule (a file), arch (one of the four), nvcc (whether to ask it). Emits "seen" with a problem or None, and
    a `Seen` or None."""
    problem, seen = _seen(job)
    emit(
        {
            "kind": "seen",
            "problem": None if problem is None else asdict(problem),
            "seen": None if seen is None else seen.model_dump(mode="json"),
        }
    )


def _seen(job: Mapping[str, Any]) -> tuple[Problem | None, Seen | None]:
    capsule, gpu = fetch(job["capsule"]), architecture(job["arch"])
    if gpu is None:
        raise ValueError(f"no architecture of the course: {job['arch']}")
    try:
        document = read(capsule)
    except CapsuleError as error:
        return unreadable(error), None
    # The capsule has not been through the vet: its settings must not reach the compiler unseen.
    for finding in pass_configs.check(capsule.pass_configs):
        return Problem(finding.message, finding.line), None
    lowered, seen = see(document, capsule.pass_configs, gpu, nvcc=job["nvcc"])
    return None if lowered.explanation is None else in_words(lowered.explanation), seen
