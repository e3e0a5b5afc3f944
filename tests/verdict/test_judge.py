"""The judge says where and how an output is wrong, and what the two runs of a kernel tell together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
import torch

from tests.verdict.samples import (
    ADD,
    ATTENTION,
    GEMM,
    SEED,
    attention,
    flash_attention,
    gemm_summed_in_float16,
    judged,
    posed,
    right,
    unwritten,
)
from tlpuzzles.course import catalog
from tlpuzzles.course.inputs import normal, ramped_logits, scaled_logits
from tlpuzzles.course.unwritten import NEVER_WRITTEN
from tlpuzzles.course.vocabulary import Case, Mistake, Sizes
from tlpuzzles.verdict.judge import MANY, changed_inputs, draw, dump, expect, judge
from tlpuzzles.verdict.judgement import Judgement
from tlpuzzles.verdict.model import Detail, Verdict
from tlpuzzles.verdict.poison import leftovers
from tlpuzzles.verdict.posed import Posed, generator_seed, raw

RAGGED = "the last 36 rows (64 to 99)"
NAN = float("nan")


@pytest.fixture
def gemm() -> Posed:
    return posed(GEMM, M=100, N=228, K=96)


@pytest.fixture
def heads() -> Posed:
    return posed(ATTENTION, batch=2, seq_len=200, heads=3, dim=64)


def output(problem: Posed, folder: Path, found: torch.Tensor) -> Judgement:
    judgement = judged(problem, folder, found).output
    assert judgement.verdict is (Verdict.FAILED if judgement.message else Verdict.PASSED)
    return judgement


def test_right_outputs_pass(gemm: Posed, heads: Posed, tmp_path: Path) -> None:
    for problem, found in ((gemm, right(gemm)), (heads, flash_attention(heads.inputs))):
        passed = judged(problem, tmp_path, found, found)
        assert passed.output.verdict is Verdict.PASSED
        assert passed.order is not None
        assert passed.order.verdict is Verdict.PASSED
        assert passed.output.detail.error == pytest.approx(2e-4, rel=0.5)


def test_a_known_mistake_is_named_and_its_hint(heads: Posed, tmp_path: Path) -> None:
    judgement = output(heads, tmp_path, flash_attention(heads.inputs, scale=8.0))
    assert judgement.message == "Your output equals attention without the factor 1/sqrt(dim). Hint 2 is about this."
    assert judgement.detail.mistake == "no-scale"
    assert judgement.detail.hint == 2
    assert judgement.detail.region == "the whole output"


def test_a_mistake_depends_on_the_variant(tmp_path: Path) -> None:
    causal = posed(ATTENTION, flags={"is_causal": True}, batch=1, seq_len=100, heads=2, dim=64)
    found = attention(causal.exact_inputs, {"is_causal": True}, offset=1).half()
    assert output(causal, tmp_path, found).detail.mistake == "causal-off-by-one"


def test_a_mistake_that_makes_no_difference_is_not_named(tmp_path: Path) -> None:
    # With one key, attention without the factor is attention.
    one = posed(ATTENTION, batch=1, seq_len=1, heads=2, dim=64)
    assert output(one, tmp_path, (1.004 * one.expected).half()).detail.mistake is None


def test_where_it_is_wrong_and_the_first_wrong_element(gemm: Posed, tmp_path: Path) -> None:
    found = right(gemm)
    found[64:] = 0.0
    judgement = output(gemm, tmp_path, found)
    assert judgement.message == (
        f"C is wrong in {RAGGED}: every element there is 0. The rest is right. That is what full tiles leave over: "
        "check how the last, incomplete tile is read, masked and written."
    )
    detail = judgement.detail
    assert detail.region == RAGGED
    assert detail.axes == ("M", "N")
    assert detail.first_wrong == (64, 0)
    assert detail.found == 0.0
    assert detail.expected == pytest.approx(float(gemm.expected[64, 0]))
    assert (detail.case, detail.seed, detail.sizes, detail.dtype) == (
        "sample",
        SEED,
        {"M": 100, "N": 228, "K": 96},
        "float16",
    )


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (8.0, "Every element of C is 8 times too large."),
        (0.125, "Every element of C is 8 times too small."),
        (1.02, "Every element of C is 2.0 % too large."),
        (-1.0, "Every element of C has the wrong sign."),
        (0.0, "Every element of C is 0."),
    ],
)
def test_a_constant_factor(gemm: Posed, tmp_path: Path, factor: float, says: str) -> None:
    assert output(gemm, tmp_path, (factor * gemm.expected).half()).message == says


def test_a_constant_offset(gemm: Posed, tmp_path: Path) -> None:
    assert output(gemm, tmp_path, (gemm.expected + 1).half()).message == "Every element of C is 1 too large."


def test_a_factor_for_each_row(heads: Posed, tmp_path: Path) -> None:
    unmasked = output(heads, tmp_path, attention(heads.exact_inputs, {}, ghost_keys=56).half())
    assert unmasked.message.startswith("Every element of O is off by a factor, one for each row (0.8")
    assert unmasked.message.endswith("Check what a row is divided by or scaled with.")


def test_elements_in_the_wrong_place(gemm: Posed, heads: Posed, tmp_path: Path) -> None:
    good = right(gemm)
    turned = torch.zeros_like(good)
    turned[:, :100] = good[:, :100].T
    assert "the output is transposed" in output(gemm, tmp_path, turned).message
    laid_out = output(gemm, tmp_path, good.T.contiguous().reshape(100, 228))
    assert laid_out.message.endswith("The result is laid out with N before M.")
    shifted = output(gemm, tmp_path, good.roll(1, dims=1))
    assert "holds the value that belongs one place before it along N" in shifted.message
    other_head = right(heads)
    other_head[:, :, 1] = other_head[:, :, 2]
    message = output(heads, tmp_path, other_head).message
    assert message.startswith(
        "O is wrong in head 1: every element there holds the value that belongs one place behind it"
    )


def test_imprecision_is_told_from_a_wrong_formula(tmp_path: Path) -> None:
    deep = posed(GEMM, M=40, N=60, K=2048)
    imprecise = output(deep, tmp_path, gemm_summed_in_float16(*deep.inputs.values()))
    assert "less precise than float16 allows" in imprecise.message
    assert "float32" in imprecise.message
    a, b = deep.inputs.values()
    dropped = output(deep, tmp_path, (a[:, :-1].double() @ b[:-1].double()).half())
    assert "precise" not in dropped.message


def test_unwritten_elements(gemm: Posed, tmp_path: Path) -> None:
    found = right(gemm)
    found[:, 227] = unwritten((100,), "float16")
    judgement = output(gemm, tmp_path, found)
    assert (
        judgement.message
        == "100 of the 22800 elements of C were never written: the last column (227). The others are right."
    )
    assert judgement.detail.found is not None
    nothing = output(gemm, tmp_path, unwritten((100, 228), "float16"))
    assert nothing.message.startswith("C was never written: the kernel ends without storing a result in it, or")


def _first_rows(tensors: Mapping[str, torch.Tensor], _sizes: Sizes, _flags: Mapping[str, bool]) -> torch.Tensor:
    product = tensors["A"] @ tensors["B"]
    product[64:] = NEVER_WRITTEN
    return product


def test_a_mistake_that_leaves_elements_unwritten_is_named(gemm: Posed, tmp_path: Path) -> None:
    first_rows = Mistake("first-rows", "the first 64 rows of A @ B", _first_rows)
    known = replace(gemm, exercise=replace(gemm.exercise, mistakes=(*gemm.exercise.mistakes, first_rows)))
    found = right(gemm)
    found[64:] = unwritten((36, 228), "float16")
    judgement = output(known, tmp_path, found)
    assert judgement.message == (
        "8208 of the 22800 elements of C were never written. Your output equals the first 64 rows of A @ B. "
        "Hint 2 is about this."
    )
    assert (judgement.detail.mistake, judgement.detail.hint, judgement.detail.region) == ("first-rows", 2, RAGGED)

    for differently in (slice(60, 100), slice(68, 100)):  # more is missing than that mistake leaves, or less
        found = right(gemm)
        found[differently] = unwritten((differently.stop - differently.start, 228), "float16")
        assert output(known, tmp_path, found).detail.mistake is None
    found[64:] = NAN  # written, but NaN
    assert output(known, tmp_path, found).detail.mistake is None


def test_not_finite_elements(gemm: Posed, tmp_path: Path) -> None:
    found = right(gemm)
    found[64:] = NAN
    assert output(gemm, tmp_path, found).message.startswith(f"C is NaN in {RAGGED}. The rest is right.")
    found[64:] = float("inf")
    assert output(gemm, tmp_path, found).message.startswith(f"C is infinite in {RAGGED}. The rest is right.")
    scaled = posed(ATTENTION, draw=scaled_logits(64.0), batch=1, seq_len=100, heads=2, dim=64)
    assert (
        output(scaled, tmp_path, flash_attention(scaled.inputs, subtract_max=False)).message == "O is NaN everywhere."
    )


def test_a_result_that_depends_on_the_order_of_blocks(gemm: Posed, tmp_path: Path) -> None:
    second = right(gemm)
    second[64:] = second[:36]
    judgement = judged(gemm, tmp_path, right(gemm), second)
    assert judgement.output.verdict is Verdict.PASSED
    assert judgement.order is not None
    assert judgement.order.verdict is Verdict.FAILED
    assert judgement.order.message.startswith(
        f"The result depends on the order in which blocks or threads run: with both in reverse, C changes in {RAGGED}."
    )
    assert judgement.order.detail.region == RAGGED


def test_a_tile_read_before_it_is_set_shows_in_the_first_run(gemm: Posed, tmp_path: Path) -> None:
    first, second = right(gemm), right(gemm)
    first[64:], second[64:] = NAN, 30000.0
    judgement = judged(gemm, tmp_path, first, second)
    assert judgement.order is not None
    for part in (judgement.output, judgement.order):
        assert part.verdict is Verdict.FAILED
        assert part.message.startswith(f"A tile is read before it is set: C is NaN in {RAGGED}")


def test_sums_of_large_numbers_may_be_infinite(gemm: Posed, tmp_path: Path) -> None:
    first, second = right(gemm), right(gemm)
    first[64:], second[64:] = NAN, float("inf")
    judgement = judged(gemm, tmp_path, first, second)
    for part in (judgement.output, judgement.order):
        assert part is not None
        assert part.message.startswith(f"A tile is read before it is set: C is NaN in {RAGGED}")
        assert "clear=False" in part.message


def test_scattered_errors_are_no_race_where_two_orders_agree(gemm: Posed, tmp_path: Path) -> None:
    found = right(gemm)
    places = torch.arange(0, found.numel(), 1117)
    found.view(-1)[places] = (torch.arange(len(places)) % 7 * 3.7 + 30).half()
    alone = output(gemm, tmp_path, found).message
    assert "Scattered errors often come from threads" in alone
    twice = judged(gemm, tmp_path, found, found)
    assert twice.output.verdict is Verdict.FAILED
    assert "scattered" in twice.output.message
    assert "threads" not in twice.output.message


@pytest.mark.parametrize("leftover", [30000.0, float("inf"), NAN])
def test_a_tile_read_before_it_is_set_shows_in_the_second_run(gemm: Posed, tmp_path: Path, leftover: float) -> None:
    second = right(gemm)
    second[64:] = leftover
    judgement = judged(gemm, tmp_path, right(gemm), second)
    assert judgement.output.verdict is Verdict.PASSED
    assert judgement.order is not None
    assert judgement.order.message.startswith(f"A tile is read before it is set: C changes in {RAGGED}")


def test_an_output_that_is_read_before_it_is_written_shows_in_the_second_run(gemm: Posed, tmp_path: Path) -> None:
    second = right(gemm)
    second[64:] = held_before(gemm)[64:]
    judgement = judged(gemm, tmp_path, right(gemm), second)
    assert judgement.output.verdict is Verdict.PASSED
    assert judgement.order is not None
    assert judgement.order.message.startswith("C is read before it is written: elements of it keep large numbers")


def test_what_neither_run_wrote_is_unwritten_and_no_more_than_that(gemm: Posed, tmp_path: Path) -> None:
    first, second = right(gemm), right(gemm)
    first[64:] = unwritten((36, 228), "float16")
    second[64:] = held_before(gemm)[64:]
    judgement = judged(gemm, tmp_path, first, second)
    assert judgement.output.verdict is Verdict.FAILED
    assert judgement.order is not None
    assert judgement.order.verdict is Verdict.PASSED


def held_before(posed: Posed) -> torch.Tensor:
    """What the output of a second run begins with."""
    return torch.frombuffer(bytearray(leftovers("float16", prod(posed.shape))), dtype=torch.float16).view(posed.shape)


def test_an_output_wrong_in_the_same_way_twice_does_not_depend_on_the_order(gemm: Posed, tmp_path: Path) -> None:
    part = right(gemm)
    part[64:] = unwritten((36, 228), "float16")
    for found in (part, 2 * right(gemm), torch.full_like(part, NAN)):
        judgement = judged(gemm, tmp_path, found, found)
        assert judgement.output.verdict is Verdict.FAILED
        assert judgement.order is not None
        assert judgement.order.verdict is Verdict.PASSED


def test_runs_may_round_differently(tmp_path: Path) -> None:
    problem = posed(ATTENTION, draw=ramped_logits(), batch=1, seq_len=200, heads=2, dim=64)
    first, second = (flash_attention(problem.inputs, block=block) for block in (64, 48))
    assert not torch.equal(first, second)
    order = judged(problem, tmp_path, first, second).order
    assert order is not None
    assert order.verdict is Verdict.PASSED


def test_an_output_of_another_size_fails(gemm: Posed, tmp_path: Path) -> None:
    judgement = output(gemm, tmp_path, right(gemm)[:50])
    assert judgement.verdict is Verdict.FAILED
    assert "22800 bytes of output, not 45600" in judgement.message


def test_a_borderline_output_is_held_against_the_library(tmp_path: Path) -> None:
    noisy = replace(GEMM, library=lambda t, sizes, flags: _off(t["A"].double() @ t["B"].double(), 4e-4).half())
    for exercise, verdict in ((GEMM, Verdict.FAILED), (noisy, Verdict.PASSED)):
        problem = posed(exercise, M=100, N=228, K=96)
        assert output(problem, tmp_path, _off(problem.expected, 6e-4).half()).verdict is verdict


def _off(values: torch.Tensor, error: float) -> torch.Tensor:
    noise = torch.randn(values.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    return values + error * noise * values.square().mean().sqrt()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_inputs_are_drawn_from_seed_case_and_name_alone(tmp_path: Path, dtype: str) -> None:
    case, sizes = Case("some", "some", lambda _: {}, dtype=dtype), {"N": 1000}
    exercise = replace(ADD, tolerance={dtype: ADD.tolerance["float16"]})
    files = draw(exercise, case, sizes, 5, tmp_path)
    assert [file.name for file in files] == ["A.bin", "B.bin"]
    data = [file.read_bytes() for file in files]
    assert all(len(bytes_) == 1000 * (4 if dtype == "float32" else 2) for bytes_ in data)
    assert data[0] != data[1]
    assert [file.read_bytes() for file in draw(exercise, case, sizes, 5, tmp_path)] == data
    other = replace(case, id="other")
    assert [file.read_bytes() for file in draw(exercise, other, sizes, 5, tmp_path)] != data
    assert [file.read_bytes() for file in draw(exercise, case, sizes, 6, tmp_path)] != data


def test_a_seed_gives_the_same_problem_on_every_machine() -> None:
    assert generator_seed(5, "some", "A") == 0x4D99AC1C454358C2
    assert len({generator_seed(s, c, t) for s in (1, 2**62) for c in "xy" for t in "AB"}) == 8


def test_a_cases_own_draw_goes_before_the_exercises() -> None:
    assert float(posed(ADD, dtype="float32", draw=normal(100.0), N=1000).inputs["A"].std()) > 50


def test_inputs_that_the_exercise_must_not_draw() -> None:
    with pytest.raises(ValueError, match="cannot hold"):
        _ = posed(ADD, draw=normal(1e6), N=1000).inputs
    with pytest.raises(ValueError, match="not \\(1000,\\)"):
        _ = posed(ADD, draw=lambda generator, shape, name: torch.zeros(3), N=1000).inputs


def test_an_infinity_may_be_drawn_on_purpose_and_nan_may_not() -> None:
    drawn = posed(ADD, draw=lambda generator, shape, name: torch.full(shape, -torch.inf), N=10).inputs
    assert bool(drawn["A"].isinf().all())
    with pytest.raises(ValueError, match="cannot hold"):
        _ = posed(ADD, draw=lambda generator, shape, name: torch.full(shape, torch.nan), N=10).inputs


def test_changed_inputs_are_noticed(gemm: Posed, tmp_path: Path) -> None:
    arguments = (gemm.exercise, gemm.case, gemm.sizes, gemm.seed)
    files = draw(*arguments, tmp_path)
    assert changed_inputs(*arguments, files) == []
    files[1].write_bytes(files[1].read_bytes()[:-1] + b"\0")
    assert changed_inputs(*arguments, files) == ["B"]


def test_dump_leaves_tensors_to_load(gemm: Posed, tmp_path: Path) -> None:
    found = tmp_path / "found.bin"
    found.write_bytes(raw(right(gemm)))
    files = dump(tmp_path / "dumped", gemm.exercise, gemm.case, gemm.sizes, gemm.seed, found, found)
    assert [file.relative_to(tmp_path).as_posix() for file in files] == [
        f"dumped/sample/{name}.pt" for name in ("A", "B", "expected", "found", "found_in_reverse")
    ]
    loaded = {file.stem: torch.load(file) for file in files}
    assert torch.equal(loaded["A"], gemm.inputs["A"])
    assert torch.equal(loaded["expected"], expect(gemm.exercise, gemm.case, gemm.sizes, gemm.seed))
    assert torch.equal(loaded["found"], right(gemm))


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_dump_does_not_write_where_a_link_leads(gemm: Posed, tmp_path: Path, link: str) -> None:
    found, mine = tmp_path / "found.bin", tmp_path / "kernel.py"
    found.write_bytes(raw(right(gemm)))
    mine.write_text("mine")
    (tmp_path / "dumped" / "sample").mkdir(parents=True)
    getattr(tmp_path / "dumped" / "sample" / "A.pt", link)(mine)
    dump(tmp_path / "dumped", gemm.exercise, gemm.case, gemm.sizes, gemm.seed, found)
    assert mine.read_text() == "mine"
    assert torch.equal(torch.load(tmp_path / "dumped" / "sample" / "A.pt"), gemm.inputs["A"])


def test_judgements_are_json_even_where_values_are_no_numbers(gemm: Posed, tmp_path: Path) -> None:
    found = tmp_path / "found.bin"
    found.write_bytes(raw(torch.full((100, 228), NAN, dtype=torch.float16)))
    judgement = judge(gemm.exercise, gemm.case, gemm.sizes, gemm.seed, found)
    document = json.loads(json.dumps(judgement.model_dump(mode="json"), allow_nan=False))
    assert document["output"]["detail"]["found"] == "NaN"
    assert Detail.model_validate(document["output"]["detail"]) is not None


def test_the_judge_uses_no_thread_pool(gemm: Posed, tmp_path: Path) -> None:
    # It is forked from a process that may have used torch's, and would hang at its next parallel operation.
    torch.set_num_threads(2)
    output(gemm, tmp_path, right(gemm))
    assert torch.get_num_threads() == 1


def test_size_one_dimensions(tmp_path: Path) -> None:
    for sizes in ({"M": 1, "N": 1, "K": 1}, {"M": 1, "N": 228, "K": 3}, {"M": 100, "N": 1, "K": 3}):
        problem = posed(GEMM, **sizes)
        assert output(problem, tmp_path, right(problem)).verdict is Verdict.PASSED
        for wrong in (
            2 * right(problem),
            0 * right(problem),
            right(problem) + NAN,
            unwritten(problem.shape, "float16"),
        ):
            assert output(problem, tmp_path, wrong).verdict is Verdict.FAILED


@pytest.mark.parametrize(
    ("equalled", "named"), [(None, "difference"), ({"difference"}, "difference"), ({"product"}, None), (set(), None)]
)
def test_a_large_output_is_held_against_what_smaller_ones_equalled(
    tmp_path: Path, equalled: set[str] | None, named: str | None
) -> None:
    for size, expected in ((MANY + 1, named), (MANY, "difference")):
        problem = posed(catalog.find("vector_add"), dtype="float32", N=size)
        file = tmp_path / "found.bin"
        file.write_bytes(raw(problem.inputs["A"] - problem.inputs["B"]))
        answer = judge(problem.exercise, problem.case, problem.sizes, problem.seed, file, equalled=equalled)
        assert answer.output.verdict is Verdict.FAILED
        assert answer.output.detail.mistake == expected


def test_a_float32_that_went_through_float16_is_told_apart_from_one_that_is_wrong(tmp_path: Path) -> None:
    problem = posed(catalog.find("vector_add"), dtype="float32", N=3000)
    through_half = (problem.inputs["A"].half().float() + problem.inputs["B"].half().float()).half().float()
    told = output(problem, tmp_path, through_half).message
    assert "close, but less precise than float32 allows" in told
    assert "rounding to float16 on the way" in told
    assert "wrong everywhere" in output(problem, tmp_path, 1.1 * through_half + 0.01).message
