"""Inputs show what they are drawn for."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from tlpuzzles.course import inputs
from tlpuzzles.course.vocabulary import Draw

SHAPE = (2, 300, 3, 64)


def draw(how: Draw, name: str = "A", shape: tuple[int, ...] = SHAPE, seed: int = 7) -> torch.Tensor:
    return how(torch.Generator().manual_seed(seed), shape, name)


def logits(how: Draw) -> torch.Tensor:
    """(batch, heads, queries, keys)"""
    q, k = draw(how, "Q", seed=1).transpose(1, 2), draw(how, "K", seed=2).transpose(1, 2)
    return q @ k.transpose(2, 3) / 8


def test_inputs_depend_on_the_generator_alone() -> None:
    for how in (
        inputs.normal(),
        inputs.zero_one(),
        inputs.uniform(0, 1),
        inputs.offset(),
        inputs.one_finite(),
        inputs.equal_rows(),
        inputs.scaled_products(),
        inputs.scaled_logits(8),
        inputs.ramped_logits(),
    ):
        assert torch.equal(draw(how), draw(how))
        assert not torch.equal(draw(how), draw(how, seed=8))


def test_normal_values_have_zero_mean_and_the_scale() -> None:
    values = draw(inputs.normal(3.0))
    assert abs(float(values.mean())) < 0.05
    assert float(values.std()) == pytest.approx(3.0, rel=0.02)


def test_products_of_the_largest_scale_fit_float16() -> None:
    a, b = draw(inputs.normal(8.0), shape=(64, 16384)), draw(inputs.normal(8.0), shape=(16384, 64), seed=8)
    assert float((a @ b).abs().max()) < 6e4


def test_zeros_and_ones() -> None:
    values = draw(inputs.zero_one(0.25))
    assert set(values.unique().tolist()) == {0.0, 1.0}
    assert float(values.mean()) == pytest.approx(0.25, abs=0.01)


def test_offset_rows_overflow_and_underflow_without_the_maximum_subtracted() -> None:
    values = draw(inputs.offset(200.0), shape=(10, 64)).half().float()
    sums = values.exp().sum(dim=1)
    assert torch.isinf(sums[0::2]).all()
    assert (sums[1::2] == 0).all()


def test_offset_rows_follow_the_signs() -> None:
    values = draw(inputs.offset(200.0, signs=(-1, 1, 1)), shape=(7, 64))
    assert (values.mean(1) / 200).round().tolist() == [-1, 1, 1, -1, 1, 1, -1]


def test_products_have_the_scale_that_is_asked_for_at_any_depth() -> None:
    for depth in (1, 32, 383):
        a = draw(inputs.scaled_products(40.0), "A", (300, depth))
        b = draw(inputs.scaled_products(40.0), "B", (depth, 200), seed=8)
        assert float((a @ b).std()) == pytest.approx(40.0, rel=0.1)
    assert float(draw(inputs.scaled_products(40.0, bias=3.0), "Bias", (10_000,)).std()) == pytest.approx(3.0, rel=0.05)


def test_uniform_values_fill_their_range() -> None:
    values = draw(inputs.uniform(1.5, 2.0))
    assert 1.5 <= float(values.min()) < 1.51 < 1.99 < float(values.max()) < 2.0


def test_rows_with_one_finite_element_have_it_in_different_places() -> None:
    values = draw(inputs.one_finite(), shape=(20, 64))
    finite = values.isfinite()
    assert (finite.sum(1) == 1).all()
    assert len(set(finite.nonzero()[:, 1].tolist())) > 10


def test_the_one_finite_element_can_be_nearly_as_low_as_float16_goes() -> None:
    values = draw(inputs.one_finite(signs=(-1, 1, 1)), shape=(7, 64)).half().float()
    found = values[values.isfinite()]
    assert (found / 60_000).round().tolist() == [-1, 1, 1, -1, 1, 1, -1]
    assert 59_900 < float(found.abs().min()) <= float(found.abs().max()) < 65_504


def test_equal_rows_differ_from_each_other_only() -> None:
    values = draw(inputs.equal_rows(), shape=(20, 64))
    assert (values == values[:, :1]).all()
    assert len(values[:, 0].unique()) == 20


def test_scaled_logits() -> None:
    assert float(logits(inputs.scaled_logits(64.0)).std()) == pytest.approx(64.0, rel=0.05)
    assert float(draw(inputs.scaled_logits(64.0), "V").std()) == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize("falling", [False, True])
def test_the_running_maximum_of_ramped_logits_moves_at_every_block_or_never(falling: bool) -> None:
    values = logits(inputs.ramped_logits(falling=falling))
    blocks = torch.stack([block.amax(dim=-1) for block in values.split(64, dim=-1)])
    rises = (blocks[1:] > blocks.cummax(dim=0).values[:-1]).float().mean(dim=(1, 2, 3))
    if falling:
        assert float(rises.max()) < 0.02
    else:
        assert float(rises.min()) > 0.98


def test_importing_the_helpers_imports_no_torch() -> None:
    code = "import sys, tlpuzzles.course.inputs; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_picked_sums_are_exact_in_whatever_order_they_are_added_up() -> None:
    sums = (1.25, 1697 / 1024, 2047 / 1024)
    how = inputs.picked_sums(sums)
    a, b, bias = (
        draw(how, name, shape).half().float() for name, shape in (("A", (50, 33)), ("B", (33, 70)), ("Bias", (70,)))
    )

    assert set((a @ b + bias).unique().tolist()) == set(sums)
    assert torch.equal(a.sum(1), torch.ones(50))
    assert len(bias.unique()) == 7
    assert not torch.equal(b, draw(how, "B", (33, 70), seed=8))
