"""The verdicts on wrong kernels, on a GPU: what fails on the CPU fails here too, for the same reason or a told one.

Plain functions are left out: they are called in the same way, and without the GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutants.mutant import Wrong, right, wrong
from tlpuzzles.course import catalog
from tlpuzzles.verdict.model import Kind, Result, Verdict

ALONE = (Kind.CORRECTNESS, Kind.OUTPUT)

WRONG = [
    pytest.param(exercise.slug, mutant, id=f"{exercise.slug}-{mutant.id}")
    for exercise in catalog.exercises()
    for mutant in wrong(exercise.slug)
    if mutant.kind is not Kind.FUNCTION
]
RIGHT = [
    pytest.param(exercise.slug, path, id=f"{exercise.slug}-{path.stem}")
    for exercise in catalog.exercises()
    for path in right(exercise.slug)
]

UNSET = "what registers hold that nothing was put into, often zeros, decides; the CPU device fills them with NaN"
ONE_BLOCK = "the H200's schedule takes 192 queries a block, and the case has no more; many-blocks has"
REFUSED = "TileLang refuses its lengths for this GPU when the case is compiled; without one, for every architecture"
OTHER_TILE = "with the H200's tile the two factors do not fit, and TileLang does not build it"
READ = "launches with other leftovers in the output give other results, which fails the case and no check of the order"
PASSED, FAILED = frozenset({Verdict.PASSED}), frozenset({Verdict.FAILED})
OTHERWISE: dict[str, tuple[frozenset[Verdict], Kind | None, str]] = {
    "vector_add-two-rounds-write-one-element": (
        PASSED,
        None,
        "two threads store into one element, the right sum last; it is warned of here, and fails the order check there",
    ),
    "vector_add-largest-so-far": (FAILED, Kind.CORRECTNESS, READ),
    "vector_add-smallest-so-far": (FAILED, Kind.CORRECTNESS, READ),
    "epilogue_fusion-sums-not-cleared": (PASSED | FAILED, None, UNSET),
    "flash_attention-output-not-cleared": (PASSED | FAILED, None, UNSET),
    "flash_attention-last-queries-missing": (PASSED, None, ONE_BLOCK),
    "flash_attention-queries-of-the-first-block": (PASSED, None, ONE_BLOCK),
    "flash_attention-keys-not-transposed": (FAILED, Kind.BUILD, OTHER_TILE),
    "row_softmax-padded-to-a-multiple-of-the-threads": (FAILED, Kind.CORRECTNESS, REFUSED),
    "tiled_gemm-b-by-rows-and-not-transposed": (FAILED, Kind.BUILD, OTHER_TILE),
}
"""By exercise and mutant: how it may end on an H200, at which kind of check, and why not as on the CPU."""


@pytest.mark.parametrize(("slug", "mutant"), WRONG)
def test_a_wrong_kernel_fails_here_too(slug: str, mutant: Wrong, grade: Callable[..., Result]) -> None:
    result = grade(slug, mutant.source(slug), only=_alone(slug, mutant), trace_seconds=60.0)
    failed = {check.kind for check in result.checks if check.verdict is Verdict.FAILED}
    verdicts, kind, _ = OTHERWISE.get(f"{slug}-{mutant.id}", (FAILED, mutant.kind, ""))

    told = [f"{check.kind.value} {check.id}: {check.verdict.value} {check.message}" for check in result.checks]
    assert result.verdict in verdicts, told
    assert kind is None or kind in failed, told


@pytest.mark.parametrize(("slug", "path"), RIGHT)
def test_a_right_kernel_passes_here_too(slug: str, path: Path, grade: Callable[..., Result]) -> None:
    text = path.read_text("utf-8")
    result = grade(slug, text, only=_without_tuning(slug), trace_seconds=60.0)

    assert result.verdict is Verdict.PASSED, [c for c in result.checks if c.verdict is not Verdict.PASSED]


def _alone(slug: str, mutant: Wrong) -> str | None:
    """The check that must fail, where it can be made without the others; where schedules are proposed, at least without
    tuning, which takes a minute."""
    if mutant.kind in ALONE:
        return mutant.check
    return _without_tuning(slug)


def _without_tuning(slug: str) -> str | None:
    proposed = catalog.find(slug).proposed
    return None if proposed is None else proposed.case
