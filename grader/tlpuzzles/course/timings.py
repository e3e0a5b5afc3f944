"""What an exercise is made of whose speed is graded: the problems that are timed, and the baselines beside them."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import torch

    from tlpuzzles.course.vocabulary import Case, Sizes, Tensors

Call: TypeAlias = "Callable[[], torch.Tensor]"
"""Starts the work on the GPU and gives the tensor that it writes."""

Prepare: TypeAlias = "Callable[[Tensors, torch.Tensor, Sizes, Mapping[str, bool]], Call]"
"""(inputs on the GPU, output, sizes, flags) -> the call that is timed.

It writes to the same output as the kernel: of two outputs, one lies better in memory, which moves the time of a call of
25 microseconds by 1 % (seen on an H200). A library that takes none allocates its own. All that can be done once is done
here. Raises Unavailable.
"""


Probe: TypeAlias = "Callable[[Tensors], Tensors]"
"""Other inputs made of those that are timed, on which an error shows that normal values hide. Not timed: a kernel that
left out what they need could be faster, and pass for right where nothing needs it."""


class Unavailable(Exception):
    """This GPU, or this build of torch, does not have the baseline; the message says why."""


@dataclass(frozen=True)
class Baseline:
    """A library's way to do the same, pinned: which of its kernels runs must not depend on the day."""

    id: str
    """By which thresholds are kept: "cublas", "cudnn-sdpa"."""
    name: str
    """For the report: "cuBLAS (torch.matmul)"."""
    prepare: Prepare
    moves: int | None = None
    """Bytes that a call reads and writes, where that is its measure: a copy. The kernel's ratio is then per byte, for
    it may move another number. None for a baseline that solves the same problem."""


@dataclass(frozen=True)
class Timing:
    """A problem whose kernel is timed."""

    case: Case
    """Of fixed sizes, large enough to keep a GPU busy for longer than a launch takes."""
    against: tuple[Baseline, ...]
    """The speed is graded beside the first of these that the GPU has."""
    beside: tuple[Baseline, ...] = ()
    """Those that are shown, too."""
    spread: float = 1.0
    """Standard deviation of the inputs, which are normal around 0."""
    probes: tuple[Probe, ...] = ()


def scaled(name: str, factor: float) -> Probe:
    """That input times a factor."""
    return lambda tensors: {**tensors, name: tensors[name] * factor}


def shifted(name: str, amount: float) -> Probe:
    """That input plus an amount."""
    return lambda tensors: {**tensors, name: tensors[name] + amount}


def fixed(**sizes: int) -> Callable[[random.Random], Sizes]:
    """Sizes that no seed changes: thresholds are kept for them."""
    return lambda _rng: sizes
