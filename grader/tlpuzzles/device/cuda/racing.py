"""Times a kernel beside its baselines in interleaved blocks: the measurement that speed is graded by.

A block runs every arm once forward and once backward (kernel, baseline, baseline again; again, baseline, kernel), so
that a clock that drifts meets all of them alike. Where it begins, and who therefore follows itself in the middle, goes
round from block to block. Blocks come in rounds, each with new buffers and new contents. Every output of the kernel is
looked at: the first of a round is compared with the library's, the others must equal it bit for bit.

The measurement is kept apart from the GPU (`Bench`), so that its rules can be tried on made-up times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tlpuzzles.verdict.measured import BASELINE, Stopped
from tlpuzzles.verdict.timing import Block, Edges, Rule, steady, stop

BLOCKS, SLOW = 5, 0.5
"""Blocks of a round; one, where a block and the rest after it take so many seconds."""
WARM_LEAST, WARM_MOST = 0.3, 3.0
"""Seconds of alternating work before the first block: at least as long as clocks take to rise (25 ms leave a kernel
30 % slow, triton#2306), at most until a GPU with a low power limit has come down to what it can keep up."""
WARM_WINDOW = 0.1
REST = 0.2
"""Seconds of rest before the warm-up: what ran before has left the clock higher or lower, and a kernel that takes more
power than its baseline suffers more from a lower one."""
UNRESTED, REST_AFTER, REST_MOST = 0.005, 2.0, 0.1
"""After a block that takes more than UNRESTED seconds the GPU rests: REST_AFTER times as long as what is beyond, and
for REST_MOST seconds at most. Large products, one after the other, take an H200 to its limit of 700 W: it then lowers
its clock by up to a quarter, at other moments in every measurement, and the ratio of two kernels moves by 1 % with
that. At rest for half of the time, it keeps its clock. Blocks of short calls leave the GPU to wait for the CPU anyway,
and a CPU that has slept queues its first calls too late for them."""


class Round(Protocol):
    """One set of buffers, with its contents."""

    def time(self, arm: str) -> float:
        """Milliseconds of one call of an arm, made now."""
        ...

    def wrong(self) -> str | None:
        """What was wrong with an output of the kernel so far."""
        ...


class Bench(Protocol):
    """Where calls are timed."""

    @property
    def arms(self) -> Sequence[str]:
        """The kernel first."""
        ...

    def round(self, number: int) -> Round:
        """New buffers with new contents."""
        ...

    def between_rounds(self) -> None:
        """Looks at the machine."""
        ...


@dataclass(frozen=True)
class Raced:
    """What was measured."""

    blocks: tuple[Block, ...]
    stopped: Stopped
    wrong: str | None = None


def race(
    bench: Bench,
    edges: Edges,
    rule: Rule,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    *,
    rests: bool = True,
) -> Raced:
    """Rests, warms up, then measures rounds of blocks until `stop` says that it is enough. `rests`: whether it must,
    for the GPU has been at work."""
    current = bench.round(0)
    wrong = current.wrong()
    if wrong is not None:
        return Raced((), Stopped.CAPPED, wrong)
    if rests:
        sleep(REST)

    def block(number: int, first: int) -> Block:
        begin = clock()
        measured = _block(current, bench.arms, number, first=first)
        over = clock() - begin - UNRESTED
        if over > 0:
            sleep(min(REST_AFTER * over, REST_MOST))
        return measured

    is_slow = _warm_up(lambda: block(0, 0), clock) > SLOW
    begin = clock()
    blocks: list[Block] = []
    number = 0
    while True:
        for _ in range(1 if is_slow else BLOCKS):
            blocks.append(block(number, len(blocks)))
        bench.between_rounds()
        wrong = current.wrong()
        if wrong is not None:
            return Raced(tuple(blocks), Stopped.CAPPED, wrong)
        stopped = stop(blocks, edges, rule, clock() - begin)
        if stopped is not None:
            return Raced(tuple(blocks), stopped)
        number += 1
        current = bench.round(number)
        wrong = current.wrong()
        if wrong is not None:
            return Raced(tuple(blocks), Stopped.CAPPED, wrong)
        if not is_slow:
            # What was drawn and compared has left the clock and the power where a block should not find them.
            block(number, 0)


def _warm_up(make_block: Callable[[], Block], clock: Callable[[], float]) -> float:
    """Makes blocks until the baseline's time has settled. Returns the seconds that one takes."""
    begin = clock()
    windows: list[float] = []
    blocks = 0
    while True:
        window = clock()
        times: list[float] = []
        while not times or clock() - window < WARM_WINDOW:
            times.append(sum(make_block().times[BASELINE]) / 2)
            blocks += 1
        windows.append(sorted(times)[len(times) // 2])
        spent = clock() - begin
        if spent >= WARM_MOST or (spent >= WARM_LEAST and steady(windows)):
            return spent / blocks


def _block(current: Round, arms: Sequence[str], number: int, *, first: int) -> Block:
    """`first`: which arm begins, counted round and round."""
    begin = first % len(arms)
    order = (*arms[begin:], *arms[:begin])
    forward = {arm: current.time(arm) for arm in order}
    backward = {arm: current.time(arm) for arm in reversed(order)}
    return Block(number, {arm: (forward[arm], backward[arm]) for arm in forward})
