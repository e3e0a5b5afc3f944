"""The statistics of timed blocks: the ratio of two arms with its interval, and when enough was measured.

A block times every arm twice, forward and then backward (A B B A): what drifts linearly with time, such as a clock that
falls as the chip warms, adds as much to each arm and cancels in the ratio of their sums. Medians over blocks then shrug
off interruptions. Pure: no clock is read and nothing is timed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tlpuzzles.verdict.measured import AGAIN, BASELINE, KERNEL, Estimate, Stopped

LENIENCY = 0.97
"""A threshold is graded at so much of what is stated. A kernel right at the edge that grades passes on one day and
fails on the next, however well it is measured; so that edge lies where nobody was promised to pass."""

RESAMPLES = 1000
PERCENTILES = (2.5, 97.5)
"""Of the medians of resamples: the bootstrap interval of 95 %."""

COARSEST_TICK = 0.0011
"""Milliseconds. CUDA says "about 0.5 us" for the resolution of its events (cudaEventElapsedTime); what is seen is 32 ns
on some GPUs and 1.024 us on others. Times that lie further apart than this are no ticks of a clock."""

_Floats: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True)
class Block:
    """Each arm timed twice, once on the way forward through the arms and once on the way back."""

    round: int
    """Blocks of a round share their buffers and contents."""
    times: Mapping[str, tuple[float, float]]
    """Milliseconds of both calls, by arm."""


@dataclass(frozen=True)
class Edges:
    """Ratios, of the baseline's time over the kernel's, at which the marks change; None where there is no threshold.

    They are compared with the ratio of the times in the blocks. For a baseline whose ratio is taken per byte, give the
    edges in terms of that ratio: divided by what it will be multiplied with.
    """

    pass_at: float | None
    full_at: float | None


@dataclass(frozen=True)
class Rule:
    """When to stop."""

    least_rounds: int = 4
    """Buffers of other rounds lie elsewhere in memory. Fewer rounds say too little of how much that changes."""
    least_blocks: int = 20
    """The median of 20 ratios has a standard error of 0.28 times the standard deviation of one
    (1.25 / sqrt(20)): 0.6 % where a call varies by 2 %."""
    most_blocks: int = 200
    """Ten times the blocks are three times the precision: 0.2 % where a call varies by 2 %."""
    most_seconds: float = 6.0
    """Of measuring, so that a class on slow GPUs does not wait long for a case."""
    floor_rounds: int = 2
    floor_blocks: int = 6
    """What is measured even when the seconds are used up: a median of fewer has no interval to speak of."""
    narrow: float = 0.004
    """Half width of the interval, relative to the ratio. In 150 simulated gradings each, with arms that differ by
    0.2 % from round to round, the ratio strayed by at most 0.4 % where a call varies by 0.2 % (long kernels: 20 blocks
    are enough) and 0.6 % where it varies by 2 % (kernels of 20 us: all 200 blocks are needed)."""
    decided_seconds: float = 1.5
    """So long is measured for a narrow interval even where the marks are certain already: the ratio is read and
    compared, too. A kernel of 110 us on an H200 was graded 18 times with 20 blocks each, whose intervals were 0.8 % to
    either side; half of the range of its ratios was 0.9 %."""
    quiet: float = 0.01
    """A decision ends the measurement only if the baseline's interval beside itself lies within 1 +- this. Otherwise
    too few blocks could make a quiet machine seem noisy."""


def ratio(blocks: Sequence[Block], over: str, of: str, *, seed: int = 0) -> Estimate:
    """Time of the arm `over` divided by the time of the arm `of`: the median of the blocks' ratios.

    The interval is a percentile bootstrap in two levels, of rounds and then of blocks within them: blocks of one round
    share their buffers, and what those do to the time must count as uncertain, too. The same blocks and seed give the
    same estimate. Raises ValueError without blocks or for a time that is not above zero.
    """
    rng = np.random.default_rng(seed)
    of_both = _times(blocks, over, rng).sum(axis=1) / _times(blocks, of, rng).sum(axis=1)
    low, high = np.percentile(
        _resampled_medians(of_both, np.array([block.round for block in blocks]), rng), PERCENTILES
    )
    return Estimate(value=float(np.median(of_both)), low=float(low), high=float(high))


def milliseconds(blocks: Sequence[Block], arm: str) -> float:
    """Median time of a call of the arm. Raises ValueError as `ratio` does."""
    return float(np.median(_times(blocks, arm, np.random.default_rng(0))))


def stop(blocks: Sequence[Block], edges: Edges, rule: Rule, seconds: float) -> Stopped | None:
    """Why to stop after these blocks; None to go on. Meant to be asked after each round, as it costs milliseconds.

    `seconds` is the time spent on measuring so far. The blocks must have the arms KERNEL, BASELINE and AGAIN.
    """
    count, rounds = len(blocks), len({block.round for block in blocks})
    late = seconds >= rule.most_seconds
    if count < rule.floor_blocks or rounds < rule.floor_rounds:
        return None
    if count < rule.least_blocks or rounds < rule.least_rounds:
        return Stopped.CAPPED if late else None
    kernel = ratio(blocks, BASELINE, KERNEL)
    is_decided = seconds >= rule.decided_seconds and _decided(kernel, edges)
    if kernel.half_width <= rule.narrow or is_decided:
        again = ratio(blocks, BASELINE, AGAIN)
        if max(kernel.half_width, again.half_width) <= rule.narrow:
            return Stopped.NARROW
        if is_decided and 1 - rule.quiet <= again.low and again.high <= 1 + rule.quiet:
            return Stopped.DECIDED
    return Stopped.CAPPED if late or count >= rule.most_blocks else None


def steady(windows: Sequence[float], *, last: int = 3, within: float = 0.01, resolution: float = 0.0006) -> bool:
    """Whether a warm-up has brought the GPU to the clocks that it will keep.

    `windows` are the baseline's median times, in milliseconds, over successive stretches of the warm-up. The `last` of
    them must agree to a fraction `within`, or to `resolution` milliseconds: medians of short calls cannot agree to less
    than a tick of the events' clock (0.5 us). A caller gives up after some seconds: a GPU may never settle.
    """
    recent = windows[-last:]
    return len(recent) == last and max(recent) - min(recent) <= max(within * min(recent), resolution)


def _decided(kernel: Estimate, edges: Edges) -> bool:
    beyond = edges.full_at is not None and kernel.low > edges.full_at
    below = edges.pass_at is not None and kernel.high < LENIENCY * edges.pass_at
    return beyond or below


def _times(blocks: Sequence[Block], arm: str, rng: np.random.Generator) -> _Floats:
    """Milliseconds of the arm's calls, shape (blocks, 2), spread evenly over the ticks of the clock.

    A clock of 0.5 us gives calls of 20 us a handful of different times. The median would jump from one to the next, and
    its interval shrink to nothing between. Times spread over the tick that was rounded away have the median of grouped
    data instead.
    """
    if not blocks:
        raise ValueError(f"no blocks were measured of the arm {arm!r}")
    times = np.array([block.times[arm] for block in blocks], dtype=np.float64)
    if not (np.isfinite(times) & (times > 0)).all():
        raise ValueError(f"a call of the arm {arm!r} took {times.min()} ms to {times.max()} ms; times are above zero")
    return times + _tick(times) * (rng.random(times.shape) - 0.5)


def _tick(times: _Floats) -> float:
    """The clock's tick: the smallest distance of two different times; 0 if they are too few to tell."""
    apart = np.diff(np.unique(times))
    tick = float(apart.min(initial=np.inf))
    return tick if tick <= COARSEST_TICK else 0.0


def _resampled_medians(values: _Floats, rounds: NDArray[np.int64], rng: np.random.Generator) -> _Floats:
    """Medians of RESAMPLES draws with replacement, of rounds and then of as many blocks within each as it has."""
    values = values[np.argsort(rounds, kind="stable")]
    _, firsts, sizes = np.unique(np.sort(rounds), return_index=True, return_counts=True)
    drawn = rng.integers(len(sizes), size=(RESAMPLES, len(sizes)))
    first, size = firsts[drawn][..., None], sizes[drawn][..., None]
    slots = np.arange(sizes.max())
    within = (rng.random((*drawn.shape, len(slots)), dtype=np.float32) * size.astype(np.float32)).astype(np.int64)
    # Rounds shorter than the longest leave slots empty: sorted to the end, and not counted.
    samples = np.where(slots < size, values[first + within], np.inf).reshape(RESAMPLES, -1)
    samples.sort(axis=1)
    counts = sizes[drawn].sum(axis=1)
    middle = np.stack([(counts - 1) // 2, counts // 2], axis=1)
    medians: _Floats = np.take_along_axis(samples, middle, axis=1).mean(axis=1)
    return medians
