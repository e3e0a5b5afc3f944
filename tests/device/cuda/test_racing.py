"""The order of what is timed, when it begins and when it ends: on a GPU whose clock is made up."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from tlpuzzles.device.cuda.racing import BLOCKS, REST, REST_MOST, WARM_LEAST, WARM_MOST, Raced, race
from tlpuzzles.verdict.measured import AGAIN, BASELINE, KERNEL, Stopped
from tlpuzzles.verdict.timing import Edges, Rule, ratio

OTHER = "torch-add"
MILLISECONDS = {KERNEL: 0.5, BASELINE: 0.4, AGAIN: 0.4, OTHER: 0.8}
RATIO = MILLISECONDS[BASELINE] / MILLISECONDS[KERNEL]
FLUSH = 1e-4
"""Seconds between two calls."""
NO_MARKS = Edges(None, None)


@dataclass
class Played:
    """A GPU on which nothing runs and time passes."""

    slowness: Callable[[str, float], float] = lambda arm, now: 1.0
    """Factor by which a call takes longer, by the arm and the seconds since the beginning."""
    wrong: Callable[[int, int], str | None] = lambda number, calls: None
    """By the round, and how often its kernel was timed."""
    arms: Sequence[str] = (KERNEL, BASELINE, AGAIN, OTHER)
    now: float = 0.0
    rounds: list[PlayedRound] = field(default_factory=list)
    looks: list[int] = field(default_factory=list)
    """How many rounds there were when the machine was looked at."""

    def round(self, number: int) -> PlayedRound:
        assert number == len(self.rounds)
        self.rounds.append(PlayedRound(self, number))
        return self.rounds[-1]

    def between_rounds(self) -> None:
        self.looks.append(len(self.rounds))

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class PlayedRound:
    bench: Played
    number: int
    calls: list[str] = field(default_factory=list)
    """The arms, in the order in which they were called."""
    begins: list[float] = field(default_factory=list)
    """When each call was."""

    def time(self, arm: str) -> float:
        bench = self.bench
        bench.now += FLUSH
        self.begins.append(bench.now)
        took = MILLISECONDS[arm] * bench.slowness(arm, bench.now)
        bench.now += took / 1e3
        self.calls.append(arm)
        return took

    def wrong(self) -> str | None:
        return self.bench.wrong(self.number, self.calls.count(KERNEL))

    @property
    def counted(self) -> list[list[str]]:
        size = 2 * len(self.bench.arms)
        last = self.calls[-BLOCKS * size :]
        return [last[begin : begin + size] for begin in range(0, len(last), size)]


def noise(spread: float, *arms: str) -> Callable[[str, float], float]:
    rng = random.Random(11)
    return lambda arm, _: rng.lognormvariate(0, spread) if not arms or arm in arms else 1.0


def run(bench: Played, edges: Edges = NO_MARKS, rule: Rule | None = None) -> Raced:
    return race(bench, edges, rule or Rule(), bench.clock, bench.sleep)


def test_on_a_quiet_machine_few_blocks_are_enough() -> None:
    bench = Played(noise(0.002))
    raced = run(bench)

    assert raced.stopped is Stopped.NARROW
    assert raced.wrong is None
    assert len(raced.blocks) == Rule().least_blocks
    assert ratio(raced.blocks, BASELINE, KERNEL).value == pytest.approx(RATIO, rel=0.002)
    assert ratio(raced.blocks, OTHER, KERNEL).value == pytest.approx(1.6, rel=0.002)


@pytest.mark.parametrize("arms", [3, 4])
def test_every_arm_is_called_on_the_way_forward_and_back_and_each_turns_round_as_often(arms: int) -> None:
    bench = Played(arms=(KERNEL, BASELINE, AGAIN, OTHER)[:arms])
    raced = run(bench, rule=Rule(least_rounds=12, least_blocks=60))

    blocks = [block for one in bench.rounds for block in one.counted]
    assert len(blocks) == len(raced.blocks) == 60
    assert all(block[arms:] == block[:arms][::-1] for block in blocks)
    turning = Counter(block[arms] for block in blocks)
    assert turning == dict.fromkeys(bench.arms, 60 // arms)


def test_every_round_has_new_buffers_and_the_machine_is_looked_at_after_each() -> None:
    bench = Played()
    raced = run(bench)

    assert [block.round for block in raced.blocks] == [number for number in range(4) for _ in range(BLOCKS)]
    assert bench.looks == [1, 2, 3, 4]


def test_the_gpu_rests_before_it_is_warmed_up() -> None:
    """What ran before, such as the last case, must not decide at which clock this one is measured."""
    bench = Played()
    run(bench)

    assert REST <= bench.rounds[0].begins[0] < REST + 0.01


def test_a_power_limit_that_two_kernels_meet_unlike_does_not_move_the_ratio() -> None:
    """Work heats an account that rest cools. Where it is full the clock falls, and the kernel suffers from that more
    than the baseline does."""
    account, last = 0.0, 0.0

    def slowness(arm: str, now: float) -> float:
        nonlocal account, last
        worked = min(now - last, 4 * MILLISECONDS[arm] / 1e3 + FLUSH)
        account = max(0.0, account + worked - (now - last - worked))
        last = now
        return 4.0 if account < 0.05 else 5.2 if arm == KERNEL else 4.8

    raced = run(Played(slowness))

    assert ratio(raced.blocks, BASELINE, KERNEL).value == pytest.approx(RATIO, rel=1e-6)


@pytest.mark.parametrize(("milliseconds", "most"), [(0.1, REST), (1.0, REST), (1000.0, max(REST, REST_MOST))])
def test_the_rest_after_a_block_has_an_end(milliseconds: float, most: float) -> None:
    """There is none after short blocks, but for the one before all of them."""
    slept: list[float] = []
    bench = Played(lambda arm, now: milliseconds / MILLISECONDS[arm])

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        bench.now += seconds

    race(bench, NO_MARKS, Rule(), bench.clock, sleep)

    assert max(slept) == most
    assert (len(slept) == 1) is (milliseconds < 0.5)


def test_blocks_begin_when_the_clock_has_risen() -> None:
    """A GPU that was idle is slow for a while, and its kernels differ in how slow: one bound by memory is not."""
    bench = Played(lambda arm, now: 1.4 if arm == KERNEL and now < REST + 0.9 * WARM_LEAST else 1.0)
    raced = run(bench)

    assert all(time == MILLISECONDS[KERNEL] for block in raced.blocks for time in block.times[KERNEL])


def test_warming_up_goes_on_until_the_baseline_has_settled() -> None:
    """It comes down to what its power allows: by 3 % in each tenth of a second, for 1.5 s."""
    bench = Played(lambda arm, now: 1 + 0.3 * min(now, 1.5))
    raced = run(bench)

    settled = MILLISECONDS[BASELINE] * (1 + 0.3 * 1.5)
    assert all(time == pytest.approx(settled) for block in raced.blocks for time in block.times[BASELINE])


def test_a_machine_that_never_settles_is_measured_all_the_same() -> None:
    bench = Played(lambda arm, now: 1 + 0.5 * now)
    raced = run(bench)

    begin = bench.rounds[0].begins[-2 * len(bench.arms) * BLOCKS]
    assert REST + WARM_MOST <= begin < REST + WARM_MOST + 0.2
    assert len(raced.blocks) >= Rule().least_blocks


def test_the_first_calls_of_a_round_do_not_count() -> None:
    """What was drawn and compared before them has left the clock elsewhere."""
    bench = Played()
    bench.slowness = lambda arm, now: 1.5 if len(bench.rounds[-1].calls) < 2 * len(bench.arms) else 1.0
    raced = run(bench)

    assert {time for block in raced.blocks for time in block.times[KERNEL]} == {MILLISECONDS[KERNEL]}


def test_a_clock_that_drifts_meets_all_arms_alike() -> None:
    bench = Played(lambda arm, now: 1 + 0.5 * now)
    raced = run(bench)

    times = [time for block in raced.blocks for time in block.times[KERNEL]]
    assert max(times) > 1.01 * min(times)
    assert ratio(raced.blocks, BASELINE, KERNEL).value == pytest.approx(RATIO, rel=1e-4)
    assert ratio(raced.blocks, AGAIN, BASELINE).value == pytest.approx(1, rel=1e-4)


def test_bursts_of_somebody_else_do_not_move_the_ratio() -> None:
    quiet = noise(0.003)
    bench = Played(lambda arm, now: quiet(arm, now) * (1.25 if now % 0.1 < 0.02 else 1.0))

    assert ratio(run(bench).blocks, BASELINE, KERNEL).value == pytest.approx(RATIO, rel=0.005)


def test_a_kernel_beyond_the_marks_is_decided_with_a_wide_interval() -> None:
    """Its own time varies by 5 %, at 0.8 of the baseline; passing takes twice as much. The baseline is quiet."""
    rule = Rule(decided_seconds=0.2)
    slow = run(Played(noise(0.05, KERNEL)), Edges(pass_at=1.6, full_at=2.0), rule)
    fast = run(Played(noise(0.05, KERNEL)), Edges(pass_at=0.2, full_at=0.4), rule)
    between = run(Played(noise(0.05, KERNEL)), Edges(pass_at=0.7, full_at=0.9), rule)

    assert slow.stopped is fast.stopped is Stopped.DECIDED
    assert rule.least_blocks < len(slow.blocks) == len(fast.blocks) < len(between.blocks)


def test_a_baseline_that_differs_from_itself_is_measured_for_longer() -> None:
    raced = run(Played(noise(0.1, AGAIN)), Edges(pass_at=1.6, full_at=2.0))

    assert raced.stopped is Stopped.CAPPED
    assert len(raced.blocks) == Rule().most_blocks


def test_time_that_is_used_up_ends_it() -> None:
    bench = Played(noise(0.05))
    raced = run(bench, rule=Rule(most_seconds=0.5))

    assert raced.stopped is Stopped.CAPPED
    assert len(raced.blocks) < Rule().most_blocks
    begin = bench.rounds[0].begins[-2 * len(bench.arms) * BLOCKS]
    assert 0.5 <= bench.now - begin < 0.6


def test_a_wrong_first_output_ends_it_before_anything_is_timed() -> None:
    bench = Played(wrong=lambda number, calls: "not a number")

    assert run(bench) == Raced((), Stopped.CAPPED, "not a number")
    assert bench.now == 0


def test_a_wrong_output_of_a_later_round_ends_it() -> None:
    """As of a kernel that hands out what it computed for the inputs before."""
    bench = Played(wrong=lambda number, calls: "that of the first inputs" if number == 2 else None)
    raced = run(bench)

    assert raced.wrong == "that of the first inputs"
    assert len(bench.rounds) == 3
    assert bench.rounds[2].begins == []


def test_a_wrong_output_of_a_timed_call_ends_it() -> None:
    """As of a race that shows once in a while; also in the last round, which would have been enough."""
    bench = Played(wrong=lambda number, calls: "other values" if number == 3 and calls else None)
    raced = run(bench)

    assert raced.wrong == "other values"
    assert len(bench.rounds) == 4


def test_a_very_slow_kernel_is_measured_in_few_blocks() -> None:
    """A second a call: six blocks of eight calls, and a few to warm up, where rounds of five would take minutes."""
    bench = Played(lambda arm, now: 1000 / MILLISECONDS[arm])
    raced = run(bench)

    assert raced.stopped is Stopped.CAPPED
    assert len(raced.blocks) == Rule().floor_blocks
    assert bench.now < 10 * 2 * len(bench.arms) * 1.1
