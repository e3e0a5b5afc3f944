"""What an exercise is made of.

An exercise is one declarative module: `EXERCISE = Exercise(...)`. The grader reads it and does not change for a new
one. Modules of exercises are imported by commands that must answer at once, so they import torch inside functions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tlpuzzles.course.functions import Fault, FunctionCheck
from tlpuzzles.course.prints import PrintedLine
from tlpuzzles.course.runs import Runs
from tlpuzzles.course.schedules import Proposed
from tlpuzzles.course.timings import Baseline, Timing

__all__ = [
    "Baseline",
    "Case",
    "Compute",
    "Draw",
    "Exercise",
    "Mistake",
    "Printing",
    "Profiling",
    "Requirement",
    "Runs",
    "Sizes",
    "TensorSpec",
    "Tensors",
    "Timing",
    "Tolerance",
]

if TYPE_CHECKING:
    import torch

    from tlpuzzles.kernel.facts import Kernel

Sizes: TypeAlias = Mapping[str, int]
"""Problem sizes by the factory's parameter names, e.g. {"M": 100, "N": 228, "K": 96}."""

Tensors: TypeAlias = "Mapping[str, torch.Tensor]"
"""Tensors by the names of the exercise's contract, e.g. {"A": ..., "B": ...}."""

Compute: TypeAlias = "Callable[[Tensors, Sizes, Mapping[str, bool]], torch.Tensor | None]"
"""(inputs as float64, sizes, flags) -> the output of a typical error; None where the error makes no difference.

`unwritten.NEVER_WRITTEN` stands for an element that the error leaves unwritten.
"""

SizesFromSeed: TypeAlias = Callable[[random.Random], Sizes]
Draw: TypeAlias = "Callable[[torch.Generator, tuple[int, ...], str], torch.Tensor]"
"""(generator, shape, name of the tensor) -> float32 or float64 values, rounded to the case's dtype by the caller."""


@dataclass(frozen=True)
class TensorSpec:
    """A tensor of the contract; its shape is given in the names of problem sizes."""

    name: str
    shape: tuple[str, ...]

    def sizes(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(sizes[name] for name in self.shape)


@dataclass(frozen=True)
class Tolerance:
    """How far from the float64 reference an output may be. A property of the output's dtype.

    The rule and its constants: relative Frobenius norm of the error, the worst such norm of a row, and for every
    element |error| <= element * rms(row of the reference) + 4 * eps(dtype) * |reference|, without a budget of
    exceptions.
    """

    frobenius: float
    row: float
    element: float


@dataclass(frozen=True)
class Case:
    """One correctness check: a problem of a certain kind, its sizes drawn anew at each grading."""

    id: str
    title: str
    """What it probes, for the report: "ragged rows", not "case 3"."""
    sizes: SizesFromSeed
    dtype: str = "float16"
    flags: Mapping[str, bool] = field(default_factory=dict)
    """Further arguments of the factory that choose a variant, e.g. {"is_causal": True}."""
    draw: Draw | None = None
    """How inputs are drawn; None: the exercise's `draw`."""
    runs: Runs = Runs.ANYWHERE
    schedule: Mapping[str, Any] = field(default_factory=dict)
    """Values for the factory's tunable parameters, from the learner's own function where an exercise asks for one."""
    like: str = ""
    """The exercise's case that this one was made from, for a case that a learner's schedule has brought about."""

    @property
    def variant(self) -> str:
        """Cases of one variant trace to the same kernel but for its sizes; "" where an exercise has one variant."""
        return ", ".join([self.dtype, *(name for name, on in self.flags.items() if on)])

    def arguments(self, sizes: Sizes) -> dict[str, object]:
        """What the factory is called with."""
        return {**sizes, **self.flags, **self.schedule, "dtype": self.dtype}


@dataclass(frozen=True)
class Mistake:
    """A typical error, as the output it gives: a wrong answer that equals it can be named."""

    id: str
    says: str
    """Completes "Your output equals ...": "attention without the factor 1/sqrt(dim)"."""
    compute: Compute
    hint: int = 2
    """The hint level that helps with it."""


@dataclass(frozen=True)
class Requirement:
    """Something that the IR must show whatever the output is, e.g. "multiplies with T.gemm"."""

    id: str
    title: str
    check: Callable[[Kernel], str | None]
    """None if met; else what is missing and what to do, for the learner."""


@dataclass(frozen=True)
class Printing:
    """What a kernel must print on the device."""

    id: str
    title: str
    case: str
    """The case that is run when this check is asked for alone. In every case the lines of one launch are looked at."""
    judge: Callable[[Sequence[PrintedLine], Tensors, Sizes], Fault | None]
    """(lines of T.print in order, inputs as float64, sizes) -> what is wrong with them."""


@dataclass(frozen=True)
class Profiling:
    """A learner's function that measures a kernel on the GPU, graded against the grader's own measurement."""

    id: str
    title: str
    function: str
    """Called with a compiled kernel; must return milliseconds."""
    source: Callable[[], str]
    """Text of a file of ours that defines the kernel to be measured."""
    factory: str
    """Name of the factory in it."""
    sizes: Mapping[str, int]
    within: float
    """Factor by which the two measurements may differ, e.g. 1.5: clocks and caches are never quite the same."""


@dataclass(frozen=True)
class Exercise:
    """One exercise of the course. `folder` and `file` follow from number and slug."""

    number: int
    slug: str
    title: str
    summary: str
    """One line for `tlpuzzles list`."""
    factory: str
    """Name of the function that the learner writes."""
    inputs: tuple[TensorSpec, ...]
    output: TensorSpec
    cases: tuple[Case, ...]
    draw: Draw
    reference: Callable[[Tensors, Sizes, Mapping[str, bool]], torch.Tensor]
    """(inputs as float64, sizes, flags) -> the expected output as float64."""
    tolerance: Mapping[str, Tolerance]
    """By dtype of the output."""
    flops: Callable[[Sizes, Mapping[str, bool]], int]
    """Floating-point operations of the problem (a multiply-add is two), not of any one kernel."""
    library: Callable[[Tensors, Sizes, Mapping[str, bool]], torch.Tensor] | None = None
    """The same in torch, in the case's own dtype: its error is allowed for."""
    mistakes: tuple[Mistake, ...] = ()
    row_name: str = ""
    """What a row of the output (along its last axis) is called, "query", where it is computed as one: it is then told
    which is the first to be wrong."""
    requirements: tuple[Requirement, ...] = ()
    advice: tuple[Requirement, ...] = ()
    """What is only warned of where a kernel lacks it."""
    functions: tuple[FunctionCheck, ...] = ()
    """Checks of plain functions in the file."""
    proposed: Proposed | None = None
    """The learner's functions propose schedules, each of which is a kernel to grade."""
    printing: Printing | None = None
    profiling: Profiling | None = None
    timings: tuple[Timing, ...] = ()
    """What is timed; none for an exercise without a speed part: a kernel that prints has none."""
    tiled: bool = True
    """Whether its kernels keep tiles, so that there is something to see in how they are laid out."""
    speed_hint: int | None = None
    """Level of the hint about speed, if there is one."""
    collecting_hint: int | None = None
    """Level of the hint about sums and maxima that are made by hand in `T.Parallel`, if there is one."""

    @property
    def folder(self) -> str:
        return f"{self.number:02}_{self.slug}"

    @property
    def file(self) -> str:
        return f"{self.slug}.py"

    def case(self, like: str, id_: str = "") -> Case:
        """The case of that identifier, timed ones included, under another one if it stands for a learner's schedule.

        Raises KeyError.
        """
        for case in (*self.cases, *(timing.case for timing in self.timings)):
            if case.id == like:
                return replace(case, id=id_ or like, like="" if id_ in ("", like) else like)
        raise KeyError(like)

    def bytes(self, sizes: Sizes, dtype: str) -> int:
        """The fewest bytes through device memory: each input read once, the output written once."""
        width = {"float16": 2, "bfloat16": 2, "float32": 4}[dtype]
        total = 0
        for tensor in (*self.inputs, self.output):
            count = 1
            for extent in tensor.sizes(sizes):
                count *= extent
            total += count
        return total * width
