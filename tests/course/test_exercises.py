"""The exercises: cases that keep their meaning whatever is drawn, references, and mistakes worth naming."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from tlpuzzles.course.epilogue_fusion import CUBIC, ROOT, TELLING
from tlpuzzles.course.epilogue_fusion import EXERCISE as EPILOGUE_FUSION
from tlpuzzles.course.flash_attention import EXERCISE as FLASH_ATTENTION
from tlpuzzles.course.row_softmax import EXERCISE as ROW_SOFTMAX
from tlpuzzles.course.tiled_gemm import EXERCISE as TILED_GEMM
from tlpuzzles.course.vector_add import EXERCISE as VECTOR_ADD
from tlpuzzles.course.vocabulary import Case, Exercise, Mistake, Runs, Sizes
from tlpuzzles.grading.plan import plan
from tlpuzzles.verdict.compare import Outcome, compare
from tlpuzzles.verdict.posed import Posed

EXERCISES = (VECTOR_ADD, TILED_GEMM, EPILOGUE_FUSION, ROW_SOFTMAX, FLASH_ATTENTION)
PRODUCTS = (TILED_GEMM, EPILOGUE_FUSION)
SEED = 4
SIDES = (64, 128, 256)

each_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.slug)


def _draws(exercise: Exercise, *cases: str) -> Iterator[Sizes]:
    for case in exercise.cases:
        if not cases or case.id in cases:
            for seed in range(100):
                yield case.sizes(random.Random(seed))


def _on_cpu(exercise: Exercise) -> list[Case]:
    return [case for case in exercise.cases if case.runs is Runs.ANYWHERE]


@pytest.fixture(scope="module")
def pose() -> Callable[[Exercise, Case], Posed]:
    known: dict[tuple[str, str], Posed] = {}

    def posed(exercise: Exercise, case: Case) -> Posed:
        sizes = next(p.sizes for p in plan(exercise, SEED, on_cuda=True).problems if p.case is case)
        return known.setdefault((exercise.slug, case.id), Posed(exercise, case, sizes, SEED))

    return posed


def test_listing_exercises_imports_no_torch() -> None:
    modules = ", ".join(f"tlpuzzles.course.{exercise.slug}" for exercise in EXERCISES)
    code = f"import sys, {modules}; sys.exit(bool(sys.modules.keys() & {{'torch', 'tilelang', 'numpy', 'pydantic'}}))"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@each_exercise
def test_names_are_unique(exercise: Exercise) -> None:
    for named in (exercise.cases, exercise.mistakes, exercise.requirements):
        ids = [item.id for item in named]
        assert len(ids) == len(set(ids))


@each_exercise
def test_no_two_sizes_are_equal(exercise: Exercise) -> None:
    """Exchanged axes show only where sizes differ."""
    for sizes in _draws(exercise, *(case.id for case in exercise.cases if case.id != "one-element")):
        assert len(set(sizes.values())) == len(sizes), sizes


@pytest.mark.parametrize("exercise", PRODUCTS, ids=lambda exercise: exercise.slug)
def test_no_grid_of_a_product_is_square(exercise: Exercise) -> None:
    for sizes in _draws(exercise, *(case.id for case in exercise.cases if case.id != "one-element")):
        for height in SIDES:
            for width in SIDES:
                assert -(-sizes["M"] // height) != -(-sizes["N"] // width), (sizes, height, width)


def test_the_bias_of_the_first_tile_is_never_all_that_is_needed() -> None:
    for sizes in _draws(EPILOGUE_FUSION, *(case.id for case in EPILOGUE_FUSION.cases if case.id != "one-element")):
        assert sizes["N"] > max(SIDES), sizes


def test_ragged_rows_end_well_before_the_tiles_that_are_padded_for_them() -> None:
    """Few zeros past the end would change a sum by less than the tolerance."""
    for sizes in _draws(ROW_SOFTMAX, "ragged"):
        assert sizes["M"] % 2
        assert -sizes["N"] % 128 >= 17
        assert (1 << sizes["N"].bit_length()) - sizes["N"] >= 17


def test_rows_rounded_up_to_a_multiple_of_128_are_no_power_of_two() -> None:
    """A tile so long would be right, and of odd lengths TileLang takes most."""
    for sizes in _draws(ROW_SOFTMAX, "ragged"):
        assert -(-sizes["N"] // 128) in (5, 7)
        assert sizes["N"] % 4 == 0


def test_ragged_sizes_are_multiples_of_no_tile() -> None:
    assert all(sizes["N"] % 2 for sizes in _draws(VECTOR_ADD, "ragged-end", "half-precision", "short", "many-blocks"))
    for exercise in PRODUCTS:
        assert all(size % 2 for sizes in _draws(exercise, "ragged", "many-blocks") for size in sizes.values())
        assert all(sizes["M"] % 2 for sizes in _draws(exercise, "ragged-rows"))
        assert all(sizes["N"] % 2 for sizes in _draws(exercise, "ragged-columns"))
    for sizes in _draws(FLASH_ATTENTION, "full-ragged", "causal-ragged"):
        assert 4 <= sizes["seq_len"] % 64 <= 60
        assert sizes["seq_len"] > 128


def test_whole_sizes_are_multiples_of_the_usual_tiles() -> None:
    assert all(sizes["N"] % 4096 == 0 for sizes in _draws(VECTOR_ADD, "whole-blocks"))
    for exercise in PRODUCTS:
        for sizes in _draws(exercise, "whole-tiles"):
            assert sizes["M"] % 256 == sizes["N"] % 256 == sizes["K"] % 64 == 0
    assert all(sizes["seq_len"] % 128 == 0 for sizes in _draws(FLASH_ATTENTION, "causal-whole"))


def test_a_product_of_each_exercise_is_deep() -> None:
    """A kernel that takes only the first few hundred products of a sum shows."""
    assert all(sizes["K"] > 1024 for sizes in _draws(EPILOGUE_FUSION, "ragged-columns"))


def test_rows_are_long_and_short_enough_for_kernels_that_take_some_lengths_only() -> None:
    for sizes in _draws(ROW_SOFTMAX, "one-row"):
        assert 4096 + 64 < sizes["N"] < 8192 - 64
        assert sizes["N"] % 2
    assert all(2 < sizes["N"] < 32 for sizes in _draws(ROW_SOFTMAX, "short-rows"))
    assert {sizes["N"] for sizes in _draws(ROW_SOFTMAX, "other-lengths")} == {33, 96, 8192}


def test_sums_are_long_enough_to_show_float16_accumulation() -> None:
    assert all(sizes["K"] > 2048 for sizes in _draws(TILED_GEMM, "ragged-rows"))


@each_exercise
def test_variants_begin_with_a_ragged_case(exercise: Exercise) -> None:
    """The first case of a variant is the one that is compiled for other GPUs."""
    first: dict[str, str] = {}
    for case in exercise.cases:
        first.setdefault(case.variant, case.id)

    assert set(first.values()) <= {"ragged-end", "half-precision", "ragged", "full-ragged", "causal-ragged"}


@each_exercise
def test_a_gpu_compiles_at_most_seven_kernels_and_four_to_be_timed(exercise: Exercise) -> None:
    for seed in range(20):
        assert len(plan(exercise, seed, on_cuda=True, speed=False).kernels) <= 7
    assert len(plan(exercise, SEED, on_cuda=True).timed) <= 4


@each_exercise
def test_every_variant_that_is_timed_is_a_case_at_sizes_that_are_looked_at(exercise: Exercise) -> None:
    """Timed results are compared with a library's alone; by then the reference must have found that variant right."""
    assert exercise.timings
    assert {timing.case.variant for timing in exercise.timings} <= {case.variant for case in exercise.cases}
    assert not {timing.case.id for timing in exercise.timings} & {case.id for case in exercise.cases}
    assert exercise.library is not None


@each_exercise
def test_a_cpu_has_little_to_compute(exercise: Exercise) -> None:
    """0.3 ns a multiply-add, two runs of each case: half a second."""
    problems = plan(exercise, SEED, on_cuda=False).problems
    multiply_adds = sum(exercise.flops(problem.sizes, problem.case.flags) // 2 for problem in problems)

    assert multiply_adds * 2 * 0.3e-9 < 0.5


@each_exercise
def test_library_agrees_with_the_reference(exercise: Exercise, pose: Callable[[Exercise, Case], Posed]) -> None:
    for case in _on_cpu(exercise):
        posed = pose(exercise, case)
        library = posed.library()
        assert library is not None
        comparison = compare(library, posed.expected, case.dtype, posed.tolerance)
        assert comparison.outcome is Outcome.AGREES, (case.id, comparison.measures)


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    [pytest.param(exercise, m, id=f"{exercise.slug}-{m.id}") for exercise in EXERCISES for m in exercise.mistakes],
)
def test_mistake_shows(exercise: Exercise, mistake: Mistake, pose: Callable[[Exercise, Case], Posed]) -> None:
    """Some case tells each mistake from the right result."""

    def shows(case: Case) -> bool:
        posed = pose(exercise, case)
        wrong = mistake.compute(posed.exact_inputs, posed.sizes, case.flags)
        if wrong is None:
            return False
        assert wrong.shape == posed.shape
        rounded = wrong.to(posed.inputs[exercise.inputs[0].name].dtype)
        return not compare(rounded, posed.expected, case.dtype, posed.tolerance).agrees

    assert any(shows(case) for case in _on_cpu(exercise))


def test_only_a_wrong_constant_of_gelu_moves_the_exact_sums_to_another_float16() -> None:
    """TELLING is chosen so: the form with erf and the worst that a GPU's own tanh does are rounded away."""
    import torch

    def gelu(root: float = ROOT, cubic: float = CUBIC, tanh: float = 1.0) -> torch.Tensor:
        return 0.5 * x * (1 + tanh * torch.tanh(root * (x + cubic * x**3)))

    x = torch.tensor(TELLING, dtype=torch.float64)
    right = gelu().half()

    assert float(((right.double() - gelu()) / gelu()).abs().max()) < 3e-5
    for harmless in (torch.nn.functional.gelu(x), gelu(tanh=1 + 2**-10.987), gelu(tanh=1 - 2**-10.987)):
        assert torch.equal(harmless.half(), right)
    for wrong in (gelu(root=0.8), gelu(root=0.7958), gelu(cubic=0.0457), gelu(cubic=0.0437)):
        assert bool((wrong.half() != right).all())
        assert float((wrong.half().double() - gelu()).norm() / gelu().norm()) > 5.5e-4


@each_exercise
def test_bytes_and_flops_count_the_problem(exercise: Exercise) -> None:
    sizes: dict[str, Sizes] = {
        "vector_add": {"N": 10},
        "tiled_gemm": {"M": 2, "N": 3, "K": 5},
        "epilogue_fusion": {"M": 2, "N": 3, "K": 5},
        "row_softmax": {"M": 2, "N": 3},
        "flash_attention": {"batch": 2, "heads": 3, "seq_len": 4, "dim": 64},
    }
    expected = {
        "vector_add": (10, 60),
        "tiled_gemm": (60, 62),
        "epilogue_fusion": (60, 68),
        "row_softmax": (30, 24),
        "flash_attention": (24_576, 12_288),
    }

    flops, moved = exercise.flops(sizes[exercise.slug], {}), exercise.bytes(sizes[exercise.slug], "float16")

    assert (flops, moved) == expected[exercise.slug]


def test_softmax_of_a_row_with_one_finite_element_is_one_there(pose: Callable[[Exercise, Case], Posed]) -> None:
    case = next(case for case in ROW_SOFTMAX.cases if case.id == "one-finite")
    posed = pose(ROW_SOFTMAX, case)

    assert bool((posed.inputs["X"].isinf().sum(1) == posed.sizes["N"] - 1).all())
    assert bool((posed.expected == posed.inputs["X"].isfinite().double()).all())


def test_causal_attention_counts_only_the_pairs_that_are_seen() -> None:
    sizes = {"batch": 1, "heads": 1, "seq_len": 4, "dim": 64}

    assert FLASH_ATTENTION.flops(sizes, {"is_causal": True}) == 4 * 64 * (1 + 2 + 3 + 4)


@each_exercise
def test_what_is_timed_has_no_global_memory_of_its_own(exercise: Exercise) -> None:
    """It outlives a launch: a kernel could find there what it has computed for the same inputs before."""
    if exercise.timings:
        assert "no-global-intermediate" in {requirement.id for requirement in exercise.requirements}
