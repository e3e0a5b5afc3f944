"""Messages of TileLang 0.1.15, nvcc and CUDA, what they mean and what to do: data, tried in this order."""

from __future__ import annotations

from tlpuzzles.device.cuda.catalogue.entry import Known, Where
from tlpuzzles.device.cuda.catalogue.launching import LAUNCHING
from tlpuzzles.device.cuda.catalogue.lowering import LOWERING
from tlpuzzles.device.cuda.catalogue.nvcc import NVCC

__all__ = ["COMPILING", "LAUNCHING", "LOWERING", "NVCC", "Known", "Where"]

COMPILING = LOWERING + NVCC
