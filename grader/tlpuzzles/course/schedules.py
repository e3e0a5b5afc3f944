"""What an exercise is made of whose learner proposes schedules: each of them is a kernel to grade."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tlpuzzles.course.functions import Answer, Call, Fault, Measure
from tlpuzzles.device.limits import Architecture

Schedule = Mapping[str, Any]
"""Values for the factory's tunable parameters, e.g. {"block_M": 64, "block_N": 128, ..., "threads": 128}."""


class ChosenBy(Enum):
    """Who picks the winner on a GPU."""

    FUNCTION = "a function of the learner's, from times that the grader measured"
    AUTOTUNE = "TileLang's autotuner, in a process that sees the GPU"


WINNER, AGAIN = "tuned", "cached"
TUNING_CHECKS = {ChosenBy.FUNCTION: (WINNER,), ChosenBy.AUTOTUNE: (WINNER, AGAIN)}
"""Identifiers of the checks that a tuning on a GPU makes."""


@dataclass(frozen=True)
class Proposed:
    """The schedules that a learner's function proposes for one problem and architecture."""

    case: str
    """The case that every schedule is graded with: its sizes, dtype and inputs."""
    ask: Callable[[Mapping[str, int], Architecture], Call]
    """(problem sizes, architecture) -> the call whose answer is a list of schedules."""
    read: Callable[[Answer], Sequence[Schedule]]
    """The schedules in an answer that can be traced: those that are no dicts of the factory's tunables are left out,
    for a function check has said so."""
    sample: int
    """How many are graded for correctness, drawn from the seed."""
    chosen_by: ChosenBy
    tuned_sizes: Mapping[str, int]
    """Problem sizes that are tuned for on a GPU."""
    least: int = 1
    """So many schedules must be proposed for the problem that they are graded on, too."""
    choose: Callable[[Sequence[Schedule], Measure], Call] | None = None
    """The call that picks the winner; for ChosenBy.FUNCTION."""
    chosen: Callable[[Sequence[Schedule], Measure, Answer], Fault | None] | None = None
    """What is wrong with the winner that came back; for ChosenBy.FUNCTION."""

    def too_few(self, answer: Answer | None) -> bool:
        """Whether fewer schedules were proposed than must be."""
        return answer is not None and len(self.read(answer)) < self.least

    def sampled(self, schedules: Sequence[Schedule], rng: random.Random) -> list[Schedule]:
        """`sample` of the schedules, in their order: the first, for it is what a GPU would be given untuned, and
        others at random."""
        if len(schedules) <= self.sample:
            return list(schedules)
        others = rng.sample(range(1, len(schedules)), self.sample - 1)
        return [schedules[i] for i in (0, *sorted(others))]
