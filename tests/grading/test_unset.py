"""On a GPU, what a tile holds before it is set may be zeros by chance: the kernel is warned of, whatever it gives."""

from __future__ import annotations

from pathlib import Path

import pytest

import tlpuzzles_solutions
from tests.mutants.mutant import wrong
from tlpuzzles.border.children import Warm
from tlpuzzles.course import catalog
from tlpuzzles.grading import building, submission, tracing
from tlpuzzles.grading.plan import plan


def warnings(warm: Warm, learner: Path, slug: str, text: str) -> list[str]:
    """What is said of the kernels of a file in a grading on an H200."""
    exercise = catalog.find(slug)
    file = learner / exercise.file
    file.write_text(text, encoding="utf-8")
    posed = plan(exercise, 7, on_cuda=True)
    traced = tracing.trace(warm, submission.read(file), exercise.factory, "sm_90a", posed.kernels, 60.0, learner)
    outcome = building.build(warm, exercise, posed, traced.capsules, learner, emit_cpu=False)
    assert not outcome.problems
    return [warning.message for warning in outcome.warnings]


@pytest.mark.parametrize(
    ("slug", "mutant", "tile"),
    [
        ("epilogue_fusion", "sums-not-cleared", "C_local"),
        ("flash_attention", "output-not-cleared", "output"),
    ],
)
def test_a_tile_that_is_not_set_is_warned_of(warm: Warm, learner: Path, slug: str, mutant: str, tile: str) -> None:
    text = next(one for one in wrong(slug) if one.id == mutant).source(slug)

    assert any(f"{tile} is read before it is set" in said for said in warnings(warm, learner, slug, text))


@pytest.mark.parametrize("slug", ["tiled_gemm", "epilogue_fusion", "row_softmax", "flash_attention"])
def test_the_solutions_set_their_tiles(warm: Warm, learner: Path, slug: str) -> None:
    text = tlpuzzles_solutions.path(slug).read_text("utf-8")

    assert [said for said in warnings(warm, learner, slug, text) if "before it is set" in said] == []
