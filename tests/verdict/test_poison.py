"""Poison is NaN for every reader, and no arithmetic makes it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from tlpuzzles.verdict.compare import is_leftover, is_poison, same_bits, torch_dtype
from tlpuzzles.verdict.poison import POISON_BITS, WIDTH, leftovers, poisoned


@pytest.mark.parametrize("dtype", list(POISON_BITS))
def test_poison_is_a_quiet_nan_that_is_recognised(dtype: str) -> None:
    data = poisoned(dtype, 5)
    assert len(data) == 5 * WIDTH[dtype]
    tensor = torch.frombuffer(bytearray(data), dtype=torch_dtype(dtype))
    assert tensor.isnan().all()
    assert is_poison(tensor, dtype).all()
    for computed in (tensor.new_full((1,), float("nan")), tensor.new_zeros(1) / 0, tensor.new_full((1,), -1.0).log()):
        assert not is_poison(computed, dtype).any()


@pytest.mark.parametrize("dtype", list(POISON_BITS))
def test_leftovers_are_large_numbers_of_both_signs(dtype: str) -> None:
    data = leftovers(dtype, 5)
    assert len(data) == 5 * WIDTH[dtype]
    tensor = torch.frombuffer(bytearray(data), dtype=torch_dtype(dtype))
    assert (tensor[::2] > 3e4).all()
    assert (tensor[1::2] < -3e4).all()
    assert tensor.isfinite().all()
    assert is_leftover(tensor, dtype).all()
    assert not is_leftover(tensor * 0.5, dtype).any()


@pytest.mark.parametrize("dtype", list(POISON_BITS))
def test_outputs_are_the_same_if_their_bits_are(dtype: str) -> None:
    computed = torch.tensor([[1.0, float("nan")], [-0.0, float("inf")]], dtype=torch_dtype(dtype))
    assert same_bits(computed, computed.clone())
    for index, other in (((0, 0), 1.01), ((1, 0), 0.0), ((0, 1), 1.0)):
        changed = computed.clone()
        changed[index] = other
        assert not same_bits(computed, changed)


def test_no_conversion_of_another_nan_gives_poison() -> None:
    nan = np.array([np.nan, -np.nan], dtype=np.float64)
    assert not (nan.astype(np.float16).view(np.uint16) == POISON_BITS["float16"]).any()
    assert not (nan.astype(np.float32).view(np.uint32) == POISON_BITS["float32"]).any()


def test_importing_it_imports_no_torch() -> None:
    code = "import sys, tlpuzzles.verdict.poison, tlpuzzles.verdict.points; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
