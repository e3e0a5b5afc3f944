"""The rule accepts right kernels with room to spare and no wrong one."""

from __future__ import annotations

import pytest
import torch

from tests.verdict.samples import (
    ADD,
    ATTENTION,
    ATTENTION_TOLERANCE,
    GEMM,
    GEMM_TOLERANCE,
    attention,
    flash_attention,
    gemm_summed_in_float16,
    gemm_summed_in_float32,
    posed,
    right,
    unwritten,
)
from tlpuzzles.course.inputs import ramped_logits, scaled_logits
from tlpuzzles.course.vocabulary import Tolerance
from tlpuzzles.verdict.compare import Comparison, Outcome, compare
from tlpuzzles.verdict.posed import Posed


def compared(problem: Posed, found: torch.Tensor, library: torch.Tensor | None = None) -> Comparison:
    return compare(found, problem.expected, problem.case.dtype, problem.tolerance, library)


def room(comparison: Comparison) -> float:
    """How many times larger its worst error might be."""
    assert comparison.measures is not None
    m, limits = comparison.measures, comparison.limits
    assert limits is not None
    return min(limits.frobenius / m.frobenius, limits.row / m.row, limits.element / m.element)


@pytest.mark.parametrize("depth", [1, 100, 2048, 16384])
@pytest.mark.parametrize("step", [16, 32, 128])
def test_a_product_summed_in_float32_is_right_with_room_to_spare(depth: int, step: int) -> None:
    problem = posed(GEMM, M=40, N=60, K=depth)
    comparison = compared(problem, gemm_summed_in_float32(*problem.inputs.values(), step))
    assert comparison.outcome is Outcome.AGREES
    assert room(comparison) > 1.9


@pytest.mark.parametrize("depth", [2048, 4096, 16384])
def test_a_product_summed_in_float16_is_wrong(depth: int) -> None:
    problem = posed(GEMM, M=40, N=60, K=depth)
    found = gemm_summed_in_float16(*problem.inputs.values())
    assert compared(problem, found).outcome is Outcome.TOO_FAR


@pytest.mark.parametrize("depth", [2048, 4096])
def test_no_library_makes_a_product_summed_in_float16_right(depth: int) -> None:
    problem = posed(GEMM, M=40, N=60, K=depth)
    found = gemm_summed_in_float16(*problem.inputs.values())
    for library in (found, right(problem), torch.zeros_like(found), torch.full_like(found, float("nan"))):
        assert compared(problem, found, library).outcome is Outcome.TOO_FAR


def test_a_librarys_error_widens_the_limits_and_no_further_than_it_may() -> None:
    problem = posed(GEMM, M=100, N=228, K=96)
    noise = torch.randn(100, 228, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    noise *= problem.expected.square().mean().sqrt()

    def off_by(error: float) -> torch.Tensor:
        return (problem.expected + error * noise).float()

    def outcome(found: float, library: float | None) -> Outcome:
        other = None if library is None else off_by(library)
        return compare(off_by(found), problem.expected, "float32", Tolerance(5e-4, 1e-2, 1e-1), other).outcome

    assert outcome(4.9e-4, None) is Outcome.AGREES
    assert outcome(8e-4, None) is Outcome.TOO_FAR
    assert outcome(8e-4, 1e-4) is Outcome.TOO_FAR  # 2 * 1e-4 + 5e-4 / 4 is less than the limit itself
    assert outcome(8e-4, 4e-4) is Outcome.AGREES  # 2 * 4e-4 + 1.25e-4
    assert outcome(9.6e-4, 4e-4) is Outcome.TOO_FAR
    assert outcome(1.1e-3, 1.0) is Outcome.AGREES  # believed up to 5e-4 only: 2 * 5e-4 + 1.25e-4
    assert outcome(1.2e-3, 1.0) is Outcome.TOO_FAR


def test_each_of_the_three_measures_finds_what_the_others_do_not() -> None:
    expected = torch.randn(1000, 1000, dtype=torch.float64, generator=torch.Generator().manual_seed(1))

    def held(found: torch.Tensor) -> tuple[bool, bool, bool]:
        comparison = compare(found.float(), expected, "float32", Tolerance(5e-4, 1e-3, 2e-3))
        m, limits = comparison.measures, comparison.limits
        assert m is not None
        assert limits is not None
        passes = (m.frobenius <= limits.frobenius, m.row <= limits.row, m.element <= limits.element)
        assert comparison.agrees is all(passes)
        return passes

    assert held(expected) == (True, True, True)
    assert held(expected + 0.0006) == (False, True, True)
    one_row = expected.clone()
    one_row[17] += 0.0015
    assert held(one_row) == (True, False, True)
    one_element = expected.clone()
    one_element[17, 31] += 0.01
    assert held(one_element) == (True, True, False)


def test_every_single_wrong_element_is_found() -> None:
    problem = posed(GEMM, M=64, N=96, K=64)
    for row, column in ((0, 0), (0, 95), (63, 0), (63, 95), (17, 31)):
        found = right(problem)
        found[row, column] += 1.0
        comparison = compared(problem, found)
        assert comparison.outcome is Outcome.TOO_FAR
        assert comparison.wrong is not None
        assert comparison.wrong.nonzero().tolist() == [[row, column]]


@pytest.mark.parametrize(
    "draw", [None, ramped_logits(), ramped_logits(falling=True), scaled_logits(8.0), scaled_logits(64.0)]
)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("block", [32, 64, 128])
def test_attention_in_blocks_is_right(draw: object, causal: bool, block: int) -> None:
    problem = posed(ATTENTION, draw=draw, flags={"is_causal": causal}, batch=2, seq_len=200, heads=3, dim=64)  # type: ignore[arg-type]
    comparison = compared(problem, flash_attention(problem.inputs, causal=causal, block=block))
    assert comparison.outcome is Outcome.AGREES
    assert room(comparison) > 1.9


@pytest.mark.parametrize("length", [1, 2, 63, 65, 113])
def test_attention_over_few_keys_is_right(length: int) -> None:
    problem = posed(ATTENTION, batch=1, seq_len=length, heads=2, dim=32)
    assert compared(problem, flash_attention(problem.inputs)).agrees


def test_a_missing_tail_mask_is_wrong() -> None:
    problem = posed(ATTENTION, batch=1, seq_len=1000, heads=2, dim=64)
    found = attention(problem.exact_inputs, {}, ghost_keys=24).half()
    assert compared(problem, found).outcome is Outcome.TOO_FAR


def test_a_dropped_last_block_of_keys_is_wrong_though_few_rows_see_it() -> None:
    problem = posed(ATTENTION, flags={"is_causal": True}, batch=1, seq_len=1000, heads=2, dim=64)
    comparison = compared(problem, flash_attention(problem.inputs, causal=True, drop_last_block=True))
    assert comparison.outcome is Outcome.TOO_FAR
    assert comparison.wrong is not None
    assert float(comparison.wrong.float().mean()) < 0.05


def test_a_causal_mask_off_by_one_is_wrong() -> None:
    problem = posed(ATTENTION, flags={"is_causal": True}, batch=1, seq_len=1000, heads=2, dim=64)
    for offset in (1, -1):
        found = attention(problem.exact_inputs, {"is_causal": True}, offset=offset).nan_to_num().half()
        assert compared(problem, found).outcome is Outcome.TOO_FAR


@pytest.mark.parametrize("scale", [0.98, 1.02])
def test_a_scale_off_by_two_percent_is_wrong(scale: float) -> None:
    gemm = posed(GEMM, M=100, N=228, K=96)
    assert compared(gemm, (scale * gemm.expected).half()).outcome is Outcome.TOO_FAR
    logits = posed(ATTENTION, batch=1, seq_len=200, heads=2, dim=64)
    assert compared(logits, flash_attention(logits.inputs, scale=scale)).outcome is Outcome.TOO_FAR


def test_a_missing_rescale_is_wrong_on_ramped_logits_only() -> None:
    ramped = posed(ATTENTION, draw=ramped_logits(), batch=1, seq_len=200, heads=2, dim=64)
    assert not compared(ramped, flash_attention(ramped.inputs, rescale=False)).agrees
    assert not compared(ramped, flash_attention(ramped.inputs, rescale_sum=False)).agrees


def test_a_missing_maximum_is_wrong_on_scaled_logits_only() -> None:
    plain = posed(ATTENTION, batch=1, seq_len=200, heads=2, dim=64)
    assert compared(plain, flash_attention(plain.inputs, subtract_max=False)).agrees
    scaled = posed(ATTENTION, draw=scaled_logits(64.0), batch=1, seq_len=200, heads=2, dim=64)
    assert compared(scaled, flash_attention(scaled.inputs, subtract_max=False)).outcome is Outcome.NOT_FINITE


def test_bfloat16() -> None:
    problem = posed(GEMM, dtype="bfloat16", M=100, N=228, K=512)
    comparison = compared(problem, right(problem))
    assert comparison.agrees
    assert room(comparison) > 1.4
    assert not compared(problem, (1.02 * problem.expected).bfloat16()).agrees


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("length", [1, 2, 1000])
def test_vector_add(dtype: str, length: int) -> None:
    problem = posed(ADD, dtype=dtype, N=length)
    a, b = problem.inputs.values()
    assert compared(problem, a + b).agrees
    assert not compared(problem, a - b).agrees


@pytest.mark.parametrize("seed", range(200))
def test_one_element_outputs_are_right_whatever_cancels(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    a, b = (torch.randn(1, 1000, generator=generator).half() for _ in range(2))
    expected = a.double() @ b.double().T
    assert compare(gemm_summed_in_float32(a, b.T, 32), expected, "float16", GEMM_TOLERANCE).agrees


def test_subnormal_outputs_are_right_although_their_relative_error_is_large() -> None:
    expected = torch.randn(64, 64, dtype=torch.float64) * 1e-6
    assert compare(expected.half(), expected, "float16", ATTENTION_TOLERANCE).agrees


def test_shape_and_dtype_must_be_exact() -> None:
    expected = torch.zeros(4, 8, dtype=torch.float64)
    for shape in ((8, 4), (4, 1), (32,), (0,), ()):
        assert compare(torch.zeros(shape).half(), expected, "float16", GEMM_TOLERANCE).outcome is Outcome.SHAPE
    assert compare(torch.zeros(4, 8), expected, "float16", GEMM_TOLERANCE).outcome is Outcome.DTYPE


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("everywhere", [False, True])
def test_what_is_not_finite_never_passes(value: float, everywhere: bool) -> None:
    problem = posed(GEMM, M=10, N=12, K=14)
    found = right(problem)
    found[3 if not everywhere else slice(None)] = value
    assert compared(problem, found).outcome is Outcome.NOT_FINITE


def test_expected_infinities_must_be_where_they_are_expected() -> None:
    expected = torch.randn(8, 8, dtype=torch.float64)
    expected[2, 3] = float("-inf")
    expected[4, 5] = float("nan")
    found = expected.half()
    assert compare(found, expected, "float16", GEMM_TOLERANCE).agrees
    never = found.clone()
    never[4, 5] = unwritten((1,), "float16")[0]
    assert compare(never, expected, "float16", GEMM_TOLERANCE).outcome is Outcome.NOT_FINITE
    for row, column, value in ((2, 3, float("inf")), (2, 3, 1.0), (4, 5, 0.0), (0, 0, float("-inf"))):
        wrong = found.clone()
        wrong[row, column] = value
        assert compare(wrong, expected, "float16", GEMM_TOLERANCE).outcome is Outcome.NOT_FINITE


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_unwritten_elements_are_told_from_computed_nans(dtype: str) -> None:
    expected = torch.randn(4, 4, dtype=torch.float64)
    found = unwritten((4, 4), dtype)
    found[:2] = float("nan")
    comparison = compare(found, expected, dtype, GEMM_TOLERANCE)
    assert comparison.unwritten is not None
    assert comparison.unwritten.tolist() == [[False] * 4] * 2 + [[True] * 4] * 2
    assert found.isnan().all()


def test_zeros_are_right_only_where_the_reference_is_zero() -> None:
    zeros = torch.zeros(4, 8, dtype=torch.float64)
    assert compare(zeros.half(), zeros, "float16", GEMM_TOLERANCE).agrees
    assert not compare(zeros.half() + 1e-3, zeros, "float16", GEMM_TOLERANCE).agrees
    assert not compare(
        torch.zeros(4, 8).half(), torch.randn(4, 8, dtype=torch.float64), "float16", GEMM_TOLERANCE
    ).agrees


def test_the_reference_must_be_float64() -> None:
    with pytest.raises(ValueError, match="float64"):
        compare(torch.zeros(2), torch.zeros(2), "float32", GEMM_TOLERANCE)
