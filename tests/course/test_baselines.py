"""The libraries that kernels are timed beside: each computes what its exercise asks for, in the same layout."""

from __future__ import annotations

import pytest
import torch

from tlpuzzles.course import baselines, catalog
from tlpuzzles.course.baselines import COPY, SDPA
from tlpuzzles.course.timings import Baseline, Timing, Unavailable
from tlpuzzles.course.vocabulary import Exercise, Sizes
from tlpuzzles.verdict.compare import Outcome, compare, torch_dtype

SIZES: dict[str, Sizes] = {
    "vector_add": {"N": 1000},
    "tiled_gemm": {"M": 24, "N": 40, "K": 56},
    "epilogue_fusion": {"M": 24, "N": 40, "K": 56},
    "row_softmax": {"M": 24, "N": 100},
    "flash_attention": {"batch": 2, "heads": 3, "seq_len": 20, "dim": 64},
}
SIZES["schedule_sweep"] = SIZES["autotuning"] = SIZES["tiled_gemm"]
TIMED = [(exercise, timing) for exercise in catalog.exercises() for timing in exercise.timings]


def _solving() -> list[tuple[Exercise, Timing, Baseline]]:
    """Those that solve the problem, and are no copy."""
    return [
        (exercise, timing, baseline)
        for exercise, timing in TIMED
        for baseline in (*timing.against, *timing.beside)
        if baseline.moves is None
    ]


def _draw(exercise: Exercise, timing: Timing) -> dict[str, torch.Tensor]:
    torch.set_num_threads(1)
    rng = torch.Generator().manual_seed(3)
    dtype, sizes = torch_dtype(timing.case.dtype), SIZES[exercise.slug]
    return {
        spec.name: (torch.randn(spec.sizes(sizes), generator=rng) * timing.spread).to(dtype) for spec in exercise.inputs
    }


@pytest.mark.parametrize(
    ("exercise", "timing", "baseline"),
    [pytest.param(*one, id=f"{one[0].slug}-{one[1].case.id}-{one[2].id}") for one in _solving()],
)
def test_a_baseline_computes_what_the_exercise_asks_for(exercise: Exercise, timing: Timing, baseline: Baseline) -> None:
    sizes, case = SIZES[exercise.slug], timing.case
    inputs = _draw(exercise, timing)
    given = {name: tensor.clone() for name, tensor in inputs.items()}
    out = torch.full(exercise.output.sizes(sizes), torch.nan, dtype=torch_dtype(case.dtype))
    try:
        call = baseline.prepare(inputs, out, sizes, case.flags)
    except Unavailable as error:
        pytest.skip(str(error))
    call()
    found = call()  # is called many times, on what the last call left

    expected = exercise.reference({name: tensor.double() for name, tensor in given.items()}, sizes, case.flags)
    assert found.dtype is out.dtype
    assert found.is_contiguous()
    comparison = compare(found, expected, case.dtype, exercise.tolerance[case.dtype])
    assert comparison.outcome is Outcome.AGREES, comparison.measures
    assert all(torch.equal(inputs[name], given[name]) for name in inputs)
    if baseline not in SDPA:
        assert found.data_ptr() == out.data_ptr()


def test_the_copy_moves_the_bytes_that_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert COPY.moves == baselines.COPIED
    monkeypatch.setattr(baselines, "COPIED", 1 << 20)
    call = COPY.prepare({}, torch.empty(1), {}, {})

    copied = call()
    assert 2 * copied.nbytes == 1 << 20
    assert bool((copied == 1).all())


def test_attention_without_a_backend_says_so() -> None:
    """On a CPU torch has one of them; cuDNN must not be stood in for by another, which has other marks."""
    exercise = catalog.find("flash_attention")
    inputs = _draw(exercise, exercise.timings[0])

    for baseline in (SDPA[0], SDPA[2]):
        with pytest.raises(Unavailable, match="does not run here"):
            baseline.prepare(inputs, torch.empty(1), {}, {})


@pytest.mark.parametrize(
    ("exercise", "timing"), [pytest.param(*one, id=f"{one[0].slug}-{one[1].case.id}") for one in TIMED]
)
def test_baselines_of_a_case_differ_in_name_and_are_known_by_it_everywhere(exercise: Exercise, timing: Timing) -> None:
    """One identifier is one way of doing it: thresholds are kept by it."""
    mine = (*timing.against, *timing.beside)
    assert mine
    assert len({baseline.id for baseline in mine}) == len({baseline.name for baseline in mine}) == len(mine)
    everyone = [baseline for _, other in TIMED for baseline in (*other.against, *other.beside)]
    assert all(other == one for one in mine for other in everyone if other.id == one.id)
