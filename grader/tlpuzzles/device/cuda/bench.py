"""A learner's kernel and its baselines on the GPU, with buffers that are ours: what `racing` times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from tlpuzzles.course.timings import Baseline, Call, Unavailable
from tlpuzzles.course.vocabulary import Exercise, Sizes, Tensors, Timing, Tolerance
from tlpuzzles.device.cuda import memory
from tlpuzzles.device.cuda.compiling import Compiled
from tlpuzzles.device.cuda.stopwatch import Stopwatch
from tlpuzzles.verdict.compare import Outcome, compare
from tlpuzzles.verdict.measured import AGAIN, BASELINE, KERNEL
from tlpuzzles.verdict.poison import POISON_BITS

DOUBLED = 2.0
"""A timed output is compared with the library's, in its own dtype: each may err by the tolerance."""
AT_ONCE = 1 << 24
"""Elements that are compared in one go: float64 takes memory."""
SHORT = 0.1
"""Milliseconds. A call that follows one of its own kind is faster by a fraction of a microsecond. Shorter ones than
this are therefore made twice, and the second is timed: then all have the same before them."""
PADS = (0, 2, 6, 14, 4, 10, 8, 12)
"""MiB between the buffers of one round and those of the next, so that they lie differently."""


@dataclass(frozen=True)
class Candidate:
    """The kernel that is timed."""

    compiled: Compiled
    parameters: tuple[str, ...]
    """The exercise's tensor at each position of its parameters."""
    atomics: bool
    """Whether its last bits are left to the order of the GPU's additions."""


class GpuBench:
    """One timed case on one GPU."""

    def __init__(
        self,
        exercise: Exercise,
        timing: Timing,
        sizes: Sizes,
        candidate: Candidate,
        device: torch.device,
        seed: int,
        look: Callable[[], None],
        *,
        launching: Callable[[], None] = lambda: None,
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        """`look` is called between rounds, `launching` before the kernel is launched for the first time, and `beat` as
        often as there is an end to what the GPU was given.

        Raises Unavailable if the GPU has none of the baselines, or torch.cuda.OutOfMemoryError.
        """
        self.exercise, self.timing, self.sizes, self.candidate = exercise, timing, sizes, candidate
        self.device = device
        self.stopwatch = Stopwatch(device)
        self._generator = torch.Generator(device)
        self._generator.manual_seed(seed)
        self._look, self.launching, self.beat = look, launching, beat
        self._rounds: list[GpuRound] = []
        self.makes_twice = False
        self.baseline, self.beside = self._pinned()

    @property
    def arms(self) -> Sequence[str]:
        return (KERNEL, BASELINE, AGAIN, *(baseline.id for baseline in self.beside))

    def round(self, number: int) -> GpuRound:
        # The last round's buffers are still held, so these are others; those before it go back to the driver.
        del self._rounds[:-1]
        torch.cuda.empty_cache()
        pad = torch.empty(max(1, PADS[number % len(PADS)] << 20), dtype=torch.int8, device=self.device)
        current = GpuRound(self, self.draw(), pad)
        self._rounds.append(current)
        if number == 0 and current.wrong() is None:
            current.probe()
        if number == 0 and current.wrong() is None:
            self._settle(current)
        return current

    def _settle(self, current: GpuRound) -> None:
        self.stopwatch.settle(*(current.calls[arm] for arm in self.arms))
        self.makes_twice = min([current.time(arm) for arm in self.arms]) < SHORT

    def between_rounds(self) -> None:
        self._look()

    def draw(self) -> dict[str, torch.Tensor]:
        """New inputs."""
        drawn = {}
        for spec in self.exercise.inputs:
            shape = spec.sizes(self.sizes)
            values = torch.randn(shape, generator=self._generator, device=self.device)
            drawn[spec.name] = values.mul_(self.timing.spread).to(memory.dtype_of(self.timing.case.dtype))
        return drawn

    def output(self) -> torch.Tensor:
        """Room for the result."""
        shape = self.exercise.output.sizes(self.sizes)
        return torch.empty(shape, dtype=memory.dtype_of(self.timing.case.dtype), device=self.device)

    def _pinned(self) -> tuple[Baseline, tuple[Baseline, ...]]:
        """The baseline to be graded beside, and those to show, as far as this GPU has them."""
        inputs, output = self.draw(), self.output()
        lacking = []
        for baseline in self.timing.against:
            try:
                self._try(baseline, inputs, output)
            except Unavailable as error:
                lacking.append(str(error))
            else:
                return baseline, tuple(other for other in self.timing.beside if self._has(other, inputs, output))
        raise Unavailable("; ".join(lacking))

    def _has(self, baseline: Baseline, inputs: Tensors, output: torch.Tensor) -> bool:
        """Whether a baseline that is only shown can be."""
        try:
            self._try(baseline, inputs, output)
        except (Unavailable, torch.cuda.OutOfMemoryError):
            return False
        return True

    def _try(self, baseline: Baseline, inputs: Tensors, output: torch.Tensor) -> None:
        baseline.prepare(inputs, output, self.sizes, self.timing.case.flags)()
        self.stopwatch.wait()


class GpuRound:
    """Buffers of one round."""

    def __init__(self, bench: GpuBench, inputs: Mapping[str, torch.Tensor], pad: torch.Tensor) -> None:
        self._bench, self._inputs, self._pad = bench, inputs, pad
        case = bench.timing.case
        self._output = bench.output()
        self._bits = memory.bits(self._output)
        self._poison = memory.as_signed(POISON_BITS[case.dtype], self._bits.dtype)
        self._different = torch.zeros((), dtype=torch.int64, device=bench.device)
        baseline = self._prepared(bench.baseline)
        self.calls: dict[str, Callable[[], object]] = {
            KERNEL: self._kernel(inputs),
            BASELINE: baseline,
            AGAIN: baseline,
        }
        self.calls |= {other.id: self._prepared(other) for other in bench.beside}
        bench.launching()
        self._first, self._wrong = self._looked_at()

    def time(self, arm: str) -> float:
        milliseconds = self._bench.stopwatch.time(self.calls[arm], lambda: self._precede(arm))
        self._bench.beat()
        if arm == KERNEL and not self._bench.candidate.atomics:
            self._different += (self._bits != self._first).sum()
        return milliseconds

    def _precede(self, arm: str) -> None:
        if self._bench.makes_twice:
            self.calls[arm]()
        # A kernel that found its result there already would have nothing to do. The baselines have the same before
        # them.
        self._bits.fill_(self._poison)

    def _wait(self) -> None:
        self._bench.stopwatch.wait()
        self._bench.beat()

    def probe(self) -> None:
        """Looks at results on inputs that show what those that are timed may hide."""
        for probe in self._bench.timing.probes:
            inputs = probe(self._inputs)
            self._bits.fill_(self._poison)
            self._kernel(inputs)()
            self._wait()
            found = self._difference(inputs)
            if found is not None:
                self._wrong = f"on other inputs than those that are timed, {found}"
                return

    def wrong(self) -> str | None:
        if self._wrong is None and int(self._different):
            self._wrong = (
                f"Launched again on the same inputs, the kernel gave other values in {int(self._different)} elements "
                "(a race, or elements that it leaves unwritten)"
            )
        return self._wrong

    def _kernel(self, inputs: Tensors) -> Callable[[], object]:
        tensors = {**inputs, self._bench.exercise.output.name: self._output}
        call, arguments = self._bench.candidate.compiled.call, [tensors[n] for n in self._bench.candidate.parameters]
        return lambda: call(*arguments)

    def _difference(self, inputs: Tensors) -> str | None:
        """What is wrong with the output beside the library's for these inputs."""
        exercise, case = self._bench.exercise, self._bench.timing.case
        library = exercise.library
        assert library is not None, f"{exercise.slug} is timed and has no library function to compare with"
        expected = library(inputs, self._bench.sizes, case.flags)
        return difference(self._output, expected, case.dtype, exercise.tolerance[case.dtype])

    def _prepared(self, baseline: Baseline) -> Call:
        return baseline.prepare(self._inputs, self._output, self._bench.sizes, self._bench.timing.case.flags)

    def _looked_at(self) -> tuple[torch.Tensor, str | None]:
        """The bits of the kernel's first output, and what is wrong with it. What was there before is overwritten."""
        originals = {name: tensor.clone() for name, tensor in self._inputs.items()}
        self._bits.fill_(self._poison)
        self.calls[KERNEL]()
        self._wait()
        first = self._bits.clone()
        for name, original in originals.items():
            if not torch.equal(memory.bits(self._inputs[name]), memory.bits(original)):
                return first, f"The kernel changed its input {name}"
        return first, self._difference(self._inputs)


def difference(
    found: torch.Tensor, expected: torch.Tensor, dtype: str, tolerance: Tolerance, at_once: int = AT_ONCE
) -> str | None:
    """What is wrong with an output of the size that is timed, beside the library's; None if nothing.

    Looked at in groups of rows, so that float64 copies of it have a place in the GPU's memory.
    """
    doubled = Tolerance(DOUBLED * tolerance.frobenius, DOUBLED * tolerance.row, DOUBLED * tolerance.element)
    length = found.shape[-1]
    # A vector is looked at as rows: of a single row that were all of it, no group could be taken.
    if found.dim() == 1:
        length = math.gcd(found.numel(), 4096)
    rows, reference = found.reshape(-1, length), expected.reshape(-1, length)
    step = max(1, at_once // length)
    missing = 0
    for begin in range(0, len(rows), step):
        part = slice(begin, begin + step)
        compared = compare(rows[part], reference[part].double(), dtype, doubled)
        wrong = 0 if compared.wrong is None else int(compared.wrong.sum())
        if compared.outcome is Outcome.NOT_FINITE:
            missing += wrong
        elif compared.outcome is Outcome.TOO_FAR and compared.measures is not None and compared.limits is not None:
            error, allowed = max(
                (compared.measures.frobenius, compared.limits.frobenius),
                (compared.measures.row, compared.limits.row),
                key=lambda pair: pair[0] / pair[1],
            )
            if error <= allowed:
                return f"{wrong} elements of its result are too far from the library's"
            return f"its result differs from the library's by {error:.1e}; {allowed:.1e} is allowed"
    return f"{missing} elements of its result are missing, infinite or not a number" if missing else None
