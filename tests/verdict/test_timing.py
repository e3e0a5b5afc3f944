"""Speed verdicts that hold when the clock does not: simulated and written-down timings, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tlpuzzles.verdict import timing
from tlpuzzles.verdict.measured import AGAIN, BASELINE, KERNEL, Estimate, Stopped
from tlpuzzles.verdict.timing import LENIENCY, Block, Edges, Rule, milliseconds, ratio, steady, stop

Floats = NDArray[np.float64]
Clock = Callable[[np.random.Generator, int], Floats]
"""(random numbers, calls) -> how much longer than usual each call takes."""

ORDER = (KERNEL, BASELINE, AGAIN, AGAIN, BASELINE, KERNEL)
NO_EDGES = Edges(None, None)
RULE = Rule()


def quiet(_rng: np.random.Generator, calls: int) -> Floats:
    return np.ones(calls)


def ramp(_rng: np.random.Generator, calls: int) -> Floats:
    """A clock that falls by 15 % while it is measured."""
    return np.linspace(1.0, 1.15, calls)


def walk(rng: np.random.Generator, calls: int) -> Floats:
    return np.exp(np.cumsum(0.004 * rng.standard_normal(calls)))


def bursts(rng: np.random.Generator, calls: int) -> Floats:
    """Throttled by a quarter, now and then, for 30 calls and more."""
    return 1.0 + 0.25 * (np.repeat(rng.random(calls // 30 + 1), 30)[:calls] < 0.3)


def outliers(rng: np.random.Generator, calls: int) -> Floats:
    return 1.0 + 9.0 * (rng.random(calls) < 0.01)


@dataclass(frozen=True)
class Machine:
    """A simulated GPU: what a call takes there is its true time, times the clock, times noise."""

    clock: Clock = quiet
    noise: float = 0.02
    """Standard deviation of a call."""
    rounds_differ: float = 0.0
    """Standard deviation of an arm's time from round to round: where its buffers lie."""
    tick: float = 0.0
    """Milliseconds between two readings of the clock by which calls are timed."""

    def blocks(self, rng: np.random.Generator, count: int, a_round: int, kernel: float, baseline: float) -> list[Block]:
        rounds = np.arange(count) // a_round
        buffers = 1 + self.rounds_differ * rng.standard_normal((rounds[-1] + 1, 3))
        usual = np.array([kernel, baseline, baseline]) * buffers[rounds]
        took = np.concatenate([usual, usual[:, ::-1]], axis=1)
        clocks = self.clock(rng, took.size).reshape(took.shape)
        # Every other block starts from the other end, so that its calls meet the clocks in the other order.
        clocks[1::2] = clocks[1::2, [2, 1, 0, 5, 4, 3]]
        took = self._read(rng, took * clocks * (1 + self.noise * rng.standard_normal(took.shape)))
        return [
            Block(number, {arm: (row[place], row[5 - place]) for place, arm in enumerate(ORDER[:3])})
            for number, row in zip(rounds.tolist(), took.tolist(), strict=True)
        ]

    def one_after_the_other(self, rng: np.random.Generator, calls: int) -> float:
        """The ratio that medians of all calls of one and then of all of the other give; their true times are equal."""
        took = self.clock(rng, calls) * (1 + self.noise * rng.standard_normal(calls))
        first, second = np.split(took, 2)
        return float(np.median(second) / np.median(first))

    def _read(self, rng: np.random.Generator, took: Floats) -> Floats:
        if not self.tick:
            return took
        start = self.tick * rng.random(took.shape)
        return self.tick * np.floor((start + took) / self.tick)


def estimates(
    machine: Machine, trials: int, count: int, a_round: int, *, kernel: float = 0.028, baseline: float = 0.028
) -> list[Estimate]:
    rng = np.random.default_rng(4)
    return [
        ratio(machine.blocks(rng, count, a_round, kernel, baseline), BASELINE, KERNEL, seed=seed)
        for seed in range(trials)
    ]


def values(many: Sequence[Estimate]) -> Floats:
    return np.array([one.value for one in many])


def constant(count: int, a_round: int, kernel: float, baseline: float = 1.0) -> list[Block]:
    arms = {KERNEL: (kernel, kernel), BASELINE: (baseline, baseline), AGAIN: (baseline, baseline)}
    return [Block(number // a_round, arms) for number in range(count)]


def graded(
    machine: Machine, rng: np.random.Generator, edges: Edges, kernel: float, a_round: int = 10, rule: Rule = RULE
) -> tuple[Estimate, Stopped, int]:
    """As a grading does it: blocks in rounds until `stop` says why not to go on. No time passes."""
    blocks = machine.blocks(rng, rule.most_blocks, a_round, kernel, 0.028)
    for count in range(a_round, rule.most_blocks + 1, a_round):
        stopped = stop(blocks[:count], edges, rule, 0.0)
        if stopped is not None:
            return ratio(blocks[:count], BASELINE, KERNEL), stopped, count
    raise AssertionError("more blocks than the rule allows")


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of gradings in a second: fewer resamples make the intervals less exact, not narrower."""
    monkeypatch.setattr(timing, "RESAMPLES", 100)


# The ratio and its interval


def test_the_ratio_is_the_time_of_the_one_over_the_time_of_the_other() -> None:
    blocks = [Block(0, {"a": (2.0, 4.0), "b": (1.0, 2.0)}), Block(1, {"a": (6.0, 6.0), "b": (1.0, 2.0)})]
    assert ratio(blocks[:1], "a", "b").value == 2.0
    assert ratio(blocks, "a", "b").value == 3.0
    assert ratio(blocks, "b", "a").value == pytest.approx((0.5 + 0.25) / 2)


def test_linear_drift_cancels_within_a_block() -> None:
    drift = [Block(0, {"a": (t, t + 0.3), "b": (t + 0.1, t + 0.2)}) for t in (1.0, 1.4, 1.8)]
    assert ratio(drift, "a", "b").value == pytest.approx(1.0)


@pytest.mark.parametrize("clock", [quiet, ramp, walk, bursts, outliers])
def test_no_clock_moves_the_ratio(clock: Clock) -> None:
    """A call varies by 2 %: one standard error of a median over 40 blocks is 0.4 %."""
    found = values(estimates(Machine(clock), trials=60, count=40, a_round=8, kernel=0.04, baseline=0.028)) / 0.7
    assert abs(found.mean() - 1) < 0.002
    assert found.std() < 0.006
    assert abs(found - 1).max() < 0.02


@pytest.mark.parametrize(("clock", "wrong_by"), [(ramp, 0.05), (walk, 0.05), (bursts, 0.1)])
def test_timing_one_arm_after_the_other_would_be_wrong(clock: Clock, wrong_by: float) -> None:
    """Else the clocks above would prove nothing."""
    rng = np.random.default_rng(5)
    naive = np.array([Machine(clock).one_after_the_other(rng, calls=160) for _ in range(60)])
    assert abs(naive - 1).max() > wrong_by


def test_outliers_leave_the_interval_narrow() -> None:
    calm = estimates(Machine(), trials=20, count=40, a_round=8)
    disturbed = estimates(Machine(outliers), trials=20, count=40, a_round=8)
    assert np.mean([one.half_width for one in disturbed]) < 1.3 * np.mean([one.half_width for one in calm])


@pytest.mark.parametrize(
    ("machine", "count", "a_round"),
    [
        (Machine(), 20, 5),
        (Machine(rounds_differ=0.005), 40, 5),
        (Machine(walk, rounds_differ=0.005), 40, 5),
        (Machine(noise=0.002, rounds_differ=0.005), 60, 5),
    ],
    ids=["quiet", "rounds differ", "walk", "little but rounds"],
)
def test_the_interval_holds_the_true_ratio(machine: Machine, count: int, a_round: int) -> None:
    found = estimates(machine, trials=200, count=count, a_round=a_round)
    assert np.mean([one.low <= 1 <= one.high for one in found]) >= 0.9


def test_the_interval_has_the_differences_between_rounds() -> None:
    """Blocks are alike within a round, and rounds are not: a hundred blocks say no more than five rounds do."""
    blocks = Machine(noise=0.001, rounds_differ=0.01).blocks(np.random.default_rng(6), 100, 20, 0.2, 0.2)
    one_round = [replace(block, round=0) for block in blocks]
    whole = ratio(blocks, BASELINE, KERNEL)
    assert whole.half_width > 0.005
    assert whole.half_width > 1.5 * ratio(one_round, BASELINE, KERNEL).half_width
    in_turns = [block for first in range(20) for block in blocks[first::20]]
    assert ratio(in_turns, BASELINE, KERNEL).half_width == pytest.approx(whole.half_width, rel=0.001)


def test_rounds_of_unequal_length_count_by_their_blocks() -> None:
    short, long = constant(2, 2, kernel=2.0), [replace(block, round=1) for block in constant(18, 18, kernel=1.0)]
    mixed = ratio([*short, *long], BASELINE, KERNEL)
    assert mixed.value == 1.0
    assert (mixed.low, mixed.high) == (0.5, 1.0)


def test_the_same_blocks_give_the_same_estimate() -> None:
    blocks = Machine().blocks(np.random.default_rng(7), 40, 8, 0.03, 0.028)
    assert ratio(blocks, BASELINE, KERNEL) == ratio(blocks, BASELINE, KERNEL)
    assert ratio(blocks, BASELINE, KERNEL).low != ratio(blocks, BASELINE, KERNEL, seed=1).low


def test_two_hundred_blocks_take_milliseconds() -> None:
    blocks = Machine().blocks(np.random.default_rng(8), 200, 17, 0.03, 0.028)
    taken = []
    for _ in range(10):
        started = time.process_time()
        ratio(blocks, BASELINE, KERNEL)
        taken.append(time.process_time() - started)
    assert min(taken) < 0.03


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'kernel' took 0\.0 ms"):
        ratio(constant(4, 2, kernel=0.0), BASELINE, KERNEL)
    with pytest.raises(ValueError, match="no blocks were measured of the arm 'kernel'"):
        milliseconds([], KERNEL)


# Clocks with coarse ticks

TICKS = {
    KERNEL: """28.5 28.0 28.0 28.5 27.5 28.5 29.0 28.0 28.5 28.0 28.5 28.5 27.5 28.0 28.5 29.0 28.0 28.5 28.5 28.0
        28.5 29.0 28.0 28.0 28.5 27.5 28.5 28.5 28.0 28.5 29.5 28.0 28.5 28.0 28.5 28.5 28.0 27.5 28.5 281.5""",
    BASELINE: """28.0 27.5 28.0 28.0 28.5 27.5 28.0 28.0 27.0 28.5 28.0 27.5 28.0 28.5 28.0 28.0 27.5 28.0 28.0 28.5
        27.5 28.0 29.0 28.0 27.5 28.0 28.0 28.5 27.5 28.0 28.0 27.5 28.5 28.0 28.0 27.0 28.0 28.5 27.5 28.0""",
    AGAIN: """28.0 28.0 27.5 28.0 28.5 28.0 27.5 28.0 28.0 28.5 27.5 28.0 28.0 27.5 28.5 28.0 28.0 27.5 28.0 28.0
        28.5 27.5 28.0 28.0 28.5 28.0 27.5 28.0 28.0 27.0 28.0 28.5 28.0 27.5 28.0 29.0 28.0 28.0 27.5 28.0""",
}
"""Microseconds, as events with a resolution of 0.5 us show calls of 28 us; the last of the kernel was interrupted."""


def ticking() -> list[Block]:
    arms = {arm: np.array(written.split(), dtype=float).reshape(20, 2) / 1000 for arm, written in TICKS.items()}
    return [Block(n // 5, {arm: (float(t[n, 0]), float(t[n, 1])) for arm, t in arms.items()}) for n in range(20)]


def test_written_down_timings() -> None:
    found, again = ratio(ticking(), BASELINE, KERNEL), ratio(ticking(), BASELINE, AGAIN)
    assert found.value == pytest.approx(27.9 / 28.3, rel=0.004)
    assert 0.96 < found.low < found.value < found.high < 1.0
    assert again.value == pytest.approx(1.0, abs=0.005)
    assert again.low < 1 < again.high
    assert milliseconds(ticking(), KERNEL) == pytest.approx(0.0283, abs=0.0001)
    assert stop(ticking(), NO_EDGES, Rule(), 0.1) is None


@pytest.mark.parametrize("tick", [0.000032, 0.0005, 0.001024])
@pytest.mark.parametrize("noise", [0.005, 0.02])
def test_ticks_neither_hold_the_ratio_nor_make_it_sure(tick: float, noise: float) -> None:
    """The two differ by 0.15 us, less than a third of what the clock can tell."""
    found = estimates(Machine(noise=noise, tick=tick), trials=60, count=100, a_round=10, kernel=0.02, baseline=0.02015)
    away = values(found) / 1.0075 - 1
    assert abs(away.mean()) < 0.003
    assert abs(away).max() < 0.015
    assert min(one.half_width for one in found) > 0.0005
    assert np.mean([one.low <= 1.0075 <= one.high for one in found]) >= 0.9


def test_the_time_of_a_call_lies_between_ticks() -> None:
    blocks = Machine(tick=0.0005).blocks(np.random.default_rng(9), 200, 10, 0.02025, 0.02)
    assert milliseconds(blocks, KERNEL) == pytest.approx(0.02025, abs=0.0001)
    assert milliseconds(blocks, BASELINE) == pytest.approx(0.02, abs=0.0001)


def test_times_far_apart_are_no_ticks() -> None:
    assert milliseconds([Block(0, {"a": (1.0, 1.5)}), Block(0, {"a": (1.5, 2.0)})], "a") == 1.5


# When to stop


def test_a_quiet_machine_stops_early_and_a_noisy_one_goes_on() -> None:
    rng = np.random.default_rng(10)
    found, stopped, count = graded(Machine(noise=0.002, rounds_differ=0.001), rng, NO_EDGES, kernel=0.03)
    assert (stopped, count) == (Stopped.NARROW, 40)
    assert found.half_width <= 0.004
    found, stopped, count = graded(Machine(noise=0.03), rng, NO_EDGES, kernel=0.03)
    assert (stopped, count) == (Stopped.CAPPED, 200)
    assert found.half_width > 0.004


def test_nothing_is_narrow_while_the_baseline_beside_itself_is_not() -> None:
    wild = Machine(noise=0.05).blocks(np.random.default_rng(11), 40, 10, 1.0, 1.0)
    blocks = [
        replace(calm, times={**calm.times, AGAIN: noisy.times[AGAIN]})
        for calm, noisy in zip(constant(40, 10, kernel=1.0), wild, strict=True)
    ]
    assert stop(constant(40, 10, kernel=1.0), NO_EDGES, Rule(), 0.0) is Stopped.NARROW
    assert stop(blocks, NO_EDGES, Rule(), 0.0) is None
    assert stop(blocks, Edges(pass_at=0.5, full_at=0.6), Rule(), 2.0) is None


@pytest.mark.parametrize(
    ("true", "stopped"),
    [
        (0.60, Stopped.DECIDED),
        (0.7 * LENIENCY - 0.02, Stopped.DECIDED),
        (0.7 * LENIENCY, None),
        (0.7, None),
        (0.8, None),
        (0.9, None),
        (0.93, Stopped.DECIDED),
    ],
)
def test_decided_below_the_edge_that_grades_and_beyond_full_marks(true: float, stopped: Stopped | None) -> None:
    """A call varies by 1 %: after 80 blocks, a ratio is known to about 0.5 % and not yet to 0.4 %."""
    blocks = Machine(noise=0.01).blocks(np.random.default_rng(12), 80, 10, 0.028 / true, 0.028)
    rule = Rule(narrow=0.002)
    assert stop(blocks, Edges(pass_at=0.7, full_at=0.9), rule, rule.decided_seconds) is stopped
    assert stop(blocks, NO_EDGES, rule, rule.decided_seconds) is None


def test_what_is_decided_is_measured_on_for_a_while_so_that_the_ratio_is_the_same_again() -> None:
    blocks = Machine(noise=0.01).blocks(np.random.default_rng(12), 80, 10, 0.028 / 0.6, 0.028)
    edges, rule = Edges(pass_at=0.7, full_at=0.9), Rule(narrow=0.002)
    assert stop(blocks, edges, rule, rule.decided_seconds - 0.1) is None
    assert stop(blocks, edges, rule, rule.decided_seconds) is Stopped.DECIDED
    assert stop(blocks, edges, Rule(narrow=0.01), rule.decided_seconds) is Stopped.NARROW


def test_an_edge_may_be_missing() -> None:
    blocks = Machine(noise=0.01).blocks(np.random.default_rng(13), 80, 10, 0.028, 0.028)
    rule = Rule(narrow=0.002)
    assert stop(blocks, Edges(pass_at=None, full_at=0.9), rule, 2.0) is Stopped.DECIDED
    assert stop(blocks, Edges(pass_at=0.9, full_at=None), rule, 2.0) is None
    assert stop(blocks, Edges(pass_at=1.1, full_at=None), rule, 2.0) is Stopped.DECIDED


@pytest.mark.parametrize(
    ("count", "a_round", "seconds", "stopped"),
    [
        (19, 4, 0.0, None),  # too few blocks, although nothing varies
        (20, 5, 0.0, Stopped.NARROW),
        (60, 20, 0.0, None),  # too few rounds
        (300, 100, 0.0, None),
        (6, 3, 5.9, None),
        (6, 3, 6.0, Stopped.CAPPED),  # a slow GPU: the seconds are used up
        (5, 3, 60.0, None),  # ... but not for fewer than this
        (12, 12, 60.0, None),
        (20, 5, 60.0, Stopped.NARROW),
    ],
)
def test_least_and_most(count: int, a_round: int, seconds: float, stopped: Stopped | None) -> None:
    assert stop(constant(count, a_round, kernel=1.0), NO_EDGES, Rule(), seconds) is stopped


def test_capped_by_blocks_and_by_seconds() -> None:
    noisy = Machine(noise=0.03).blocks(np.random.default_rng(14), 200, 10, 0.028, 0.028)
    assert stop(noisy[:190], NO_EDGES, Rule(), 5.9) is None
    assert stop(noisy[:190], NO_EDGES, Rule(), 6.0) is Stopped.CAPPED
    assert stop(noisy, NO_EDGES, Rule(), 0.0) is Stopped.CAPPED


# Whole gradings


def test_a_kernel_like_its_baseline_is_never_seen_one_percent_apart(coarse: None) -> None:
    rng = np.random.default_rng(15)
    found = values([graded(Machine(), rng, NO_EDGES, kernel=0.028, a_round=20)[0] for _ in range(200)])
    assert abs(found - 1).max() < 0.01


@pytest.mark.parametrize("clock", [quiet, walk])
@pytest.mark.parametrize(("true", "passes"), [(0.95, False), (1.05, True)])
def test_no_verdict_flips_five_percent_from_a_threshold(coarse: None, clock: Clock, true: float, passes: bool) -> None:
    """Beside pass_at and, for the faster one, full marks that it exceeds."""
    rng = np.random.default_rng(16)
    edges = Edges(pass_at=0.8, full_at=0.81)
    for _ in range(200):
        rule = Rule(decided_seconds=0.0)
        found, stopped, _count = graded(Machine(clock), rng, edges, kernel=0.028 / (0.8 * true), rule=rule)
        assert stopped is Stopped.DECIDED
        assert (found.high >= LENIENCY * 0.8) is passes


# Warm-up


@pytest.mark.parametrize(
    ("windows", "settled"),
    [
        ([], False),
        ([1.0, 1.0], False),
        ([1.0, 1.0, 1.0], True),
        ([1.000, 1.004, 0.998], True),
        ([1.00, 1.05, 1.10, 1.15], False),  # the clock still falls
        ([1.00, 1.05, 1.10, 1.15, 1.15, 1.152], True),
        ([1.00, 1.00, 1.00, 1.15], False),  # ... or falls again
        ([0.0200, 0.0205, 0.0200], True),  # no more than a tick of 0.5 us
        ([0.0200, 0.0210, 0.0200], False),
        ([2.00, 2.01, 2.03], False),
    ],
)
def test_a_warm_up_has_settled_when_the_last_windows_agree(windows: list[float], settled: bool) -> None:
    assert steady(windows) is settled
