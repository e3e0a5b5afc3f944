"""The parent's side of timing kernels on the GPU at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End
from tlpuzzles.course.vocabulary import Case, Exercise, Sizes
from tlpuzzles.grading import caches
from tlpuzzles.grading.stages import Built

LIMITS = Limits(seconds=400, silence=300, memory=None)


@dataclass(frozen=True)
class Times:
    """What was measured, in milliseconds."""

    kernels: Mapping[str, float] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    """Why a kernel has no time."""


def measure(
    warm: Warm,
    exercise: Exercise,
    case: Case,
    sizes: Sizes,
    arch: str,
    kernels: Mapping[str, Built],
    folder: Path,
    *,
    of_exercise: bool = True,
) -> Times:
    """Times kernels of one problem beside each other; without one that ends the process, the others are timed anew.

    `of_exercise`: whether they compute what the exercise asks for, and can be compared with its library's function.
    """
    waiting = dict(kernels)
    refused: dict[str, str] = {}
    specs = (*exercise.inputs, exercise.output)
    while waiting:
        job = {
            "exercise": exercise.slug if of_exercise else None,
            "case": case.like or case.id,
            "sizes": dict(sizes),
            "arch": arch,
            "output": exercise.output.name,
            "tensors": {spec.name: {"shape": spec.sizes(sizes), "dtype": case.dtype} for spec in specs},
            "kernels": {
                key: {"capsule": str(built.capsule), "parameters": built.parameters} for key, built in waiting.items()
            },
        }
        report = warm.run("measure", job, LIMITS, folder, sees_gpu=True, cache=caches.kernels())
        for message in report.of("refused"):
            refused[message["key"]] = message["why"]
        found = next((message["milliseconds"] for message in report.of("measured")), None)
        if found is not None:
            return Times(found, refused)
        how = "hangs" if report.end is End.TIMED_OUT else f"ended its process: it {report.end.value}"
        begun = next((m["key"] for m in reversed(report.of("launching"))), None)
        if begun is None:
            return Times(refused={**refused, **dict.fromkeys(waiting, f"measuring {how}")})
        refused[begun] = f"the kernel {how}"
        waiting = {key: built for key, built in waiting.items() if key not in refused}
    return Times(refused=refused)
