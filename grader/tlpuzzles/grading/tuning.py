"""Choosing the best schedule on the GPU at hand. Every time in it is measured by the grader.

Either a function of the learner's chooses among times that it is played, or TileLang's autotuner chooses by itself and
its choice is measured beside others.
"""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End
from tlpuzzles.course.functions import Fault, Measure
from tlpuzzles.course.schedules import AGAIN, TUNING_CHECKS, WINNER, ChosenBy, Proposed, Schedule
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.cuda.side_by_side import at_once
from tlpuzzles.device.limits import Architecture
from tlpuzzles.grading import building, caches, calling, checks, measuring, tracing, untrusted
from tlpuzzles.grading.ahead import compile_ahead, tune_ahead
from tlpuzzles.grading.learners_errors import death, explained, output
from tlpuzzles.grading.measuring import Times
from tlpuzzles.grading.plan import Plan
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.proposals import in_words
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.kernel.capsule import Capsule
from tlpuzzles.verdict.model import Check, Kind, Verdict

TITLES = {
    WINNER: "finds the fastest schedule on this GPU",
    AGAIN: "tuning again is served from the cache",
}
BUDGET = Limits(seconds=300, memory=None)
"""What tuning may take: on two cores 24 configurations of 2 to 4 s each, twice over, and the benchmarks."""
SLACK = 1.15
"""How much slower than the best of the others an autotuned winner may be: TileLang times it with few launches, at
another clock and with other inputs."""
BESIDE = 7
"""How many other configurations the autotuned winner is measured beside."""
CACHED_FRACTION, CACHED_SECONDS = 0.5, 10.0
"""A second run from the cache takes at most so much of the first, or so many seconds with its start. Little time alone
does not show it: what is tuned again finds its kernels compiled."""

_LOGGED = re.compile(
    r"\d{4}-\d\d-\d\d [\d:,]+ (DEBUG|INFO|WARNING):|[-\d]+ [:\d]+  \[TileLang:tilelang\.cache\.|Tuned Latency|\s*$"
)


@dataclass(frozen=True)
class Tuned:
    """What became of the tuning."""

    checks: tuple[Check, ...]
    winner: Schedule | None = None
    output: str = ""


@dataclass(frozen=True)
class _Found:
    """What one run of the autotuner found."""

    config: Schedule
    capsule: Capsule
    seconds: float
    """By the grader's clock."""
    cached: bool
    """Whether the autotuner found it among its earlier results."""


@dataclass
class Tuning:
    """Tunes one exercise on the GPU at hand."""

    warm: Warm
    exercise: Exercise
    proposed: Proposed
    submission: Submission
    goal: Architecture
    seed: int
    scratch: Path
    """Gets a folder for every process, of which those of the learner's file can write to theirs alone."""
    gpu: str = ""
    """Its name, for the results that are kept until the file is tuned again."""
    _output: str = field(default="", init=False)

    def run(self, seconds: float) -> Tuned:
        """`seconds`: the limit for tracing and for calls."""
        if self.proposed.chosen_by is ChosenBy.AUTOTUNE:
            return self._autotuned(seconds)
        return self._chosen(seconds)

    def _chosen(self, seconds: float) -> Tuned:
        """The learner's function chooses among times that the grader measured."""
        schedules = self._asked_for(seconds)
        if isinstance(schedules, Problem):
            return self._tuned(self._failed(WINNER, schedules))
        assert self.proposed.choose is not None
        assert self.proposed.chosen is not None
        times = self._measured(schedules, seconds)
        measure = Measure(tuple((s, times.kernels.get(str(i))) for i, s in enumerate(schedules)))
        if not times.kernels:
            why = next(iter(times.refused.values()), "none could be traced")
            return self._tuned(self._failed(WINNER, Problem(f"No candidate could be measured on this GPU: {why}")))
        call = self.proposed.choose(schedules, measure)
        called = calling.call(self.warm, self.submission, self.goal.name, {WINNER: call}, Limits(seconds), self.scratch)
        self._output += called.output
        problem = called.whole or called.problems.get(WINNER)
        if problem is not None:
            return self._tuned(self._failed(WINNER, problem))
        fault = self.proposed.chosen(schedules, measure, called.answers[WINNER])
        if fault is not None:
            return self._tuned(self._faulty(fault))
        best = min(times.kernels, key=lambda key: times.kernels[key])
        winner = schedules[int(best)]
        told = self._told(winner, times.kernels[best], times, len(schedules))
        return self._tuned(self._passed(WINNER, told), winner=winner)

    def _autotuned(self, seconds: float) -> Tuned:
        """TileLang's autotuner chooses; the grader measures its choice beside other configurations."""
        kept = caches.tuned(self.submission.text, self.proposed.tuned_sizes, self.gpu, self.scratch)
        first, again = self._tune_twice(kept)
        if isinstance(first, Problem):
            return self._tuned(self._failed(WINNER, first), again)
        check, winner = self._compare(first, seconds)
        if check.verdict is not Verdict.PASSED:
            kept.forget()  # Tuned anew next time: what is kept must not make a failure last.
        return self._tuned(check, again, winner=winner)

    def _tune_twice(self, kept: caches.Tuned) -> tuple[_Found | Problem, Check]:
        """What the first run found, and the check that the second is served from the cache.

        Where an earlier grading tuned this file and kept the results, the first run here is the second.
        """
        before = kept.seconds
        if before is not None:
            found = self._tune(kept, ahead=False)
            if isinstance(found, _Found) and found.cached:
                return found, self._judge_again(before, found)
        kept.forget()
        first = self._tune(kept, ahead=True)
        if isinstance(first, Problem):
            return first, checks.skipped(Kind.TUNING, AGAIN, TITLES[AGAIN], "the first run found no winner")
        again = self._judge_again(first.seconds, self._tune(kept, ahead=False))
        if again.verdict is Verdict.PASSED:
            kept.remember(first.seconds)
        return first, again

    def _compare(self, found: _Found, seconds: float) -> tuple[Check, Schedule | None]:
        """The check of the autotuner's choice, measured beside others; and that choice, if it was one of the listed."""
        listed = self._asked_for(seconds)
        if isinstance(listed, Problem):
            return self._failed(WINNER, listed), None
        others = [schedule for schedule in listed if dict(schedule) != found.config]
        if len(others) == len(listed):
            told = f"The autotuner's winner is none of the configurations listed: {in_words(found.config)}."
            return self._failed(WINNER, Problem(told)), None
        # The same ones for the same file: its verdict repeats, and their kernels are in the cache.
        beside = random.Random(self.submission.text).sample(others, min(BESIDE, len(others)))
        times = self._measured([found.config, *beside], seconds, found.capsule)
        return self._judge_winner(found.config, beside, times), found.config

    def _judge_winner(self, config: Schedule, beside: Sequence[Schedule], times: Times) -> Check:
        if "0" not in times.kernels:
            why = times.refused.get("0", "it could not be built")
            problem = Problem(f"The autotuner's winner ({in_words(config)}) could not be measured: {why}")
            return self._failed(WINNER, problem)
        best = min(times.kernels, key=lambda key: times.kernels[key])
        mine, least = times.kernels["0"], times.kernels[best]
        if mine > SLACK * least:
            other = in_words(beside[int(best) - 1])
            fault = Fault(
                f"The autotuner chose {in_words(config)}, which takes {mine:.3f} ms here; {other}, also one of your "
                f"configs, takes {least:.3f} ms. Give it enough repetitions (rep) to tell them apart.",
            )
            return self._faulty(fault)
        return self._passed(WINNER, self._told(config, mine, times, 1 + len(beside)))

    def _judge_again(self, first: float, second: _Found | Problem) -> Check:
        if isinstance(second, Problem):
            return self._failed(AGAIN, second)
        took = second.seconds
        if second.cached and took <= max(CACHED_FRACTION * first, CACHED_SECONDS):
            return self._passed(AGAIN, f"tuned in {first:.0f} s, and again in {took:.1f} s")
        problem = Problem(
            f"Tuning took {first:.0f} s, and the same again in a new process {took:.0f} s: it was not served from the "
            "cache. TileLang 0.1.15 keeps no result when the inputs or a check of results are given (ref_prog, "
            "supply_prog, manual_check_prog, set_autotune_inputs): leave them out, and list the same configs "
            "each time.",
        )
        return self._failed(AGAIN, problem)

    def _tune(self, kept: caches.Tuned, *, ahead: bool) -> _Found | Problem:
        """Runs TileLang's autotuner. `ahead`: the configurations are compiled side by side first."""
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        text = folder / "submission.py"
        text.write_text(self.submission.text, encoding="utf-8")
        job = {
            "path": str(self.submission.path),
            "text": str(text),
            "factory": self.exercise.factory,
            "sizes": dict(self.proposed.tuned_sizes),
            "ahead": at_once() if ahead else 0,
        }
        begin = time.monotonic()
        shares = tune_ahead(self.warm, job, BUDGET, self.scratch, kept.folder) if ahead else []
        # A file that hangs would hang again, for as long.
        report = next((share for share in shares if share.end is End.TIMED_OUT), None) or self.warm.run(
            "tune", job, BUDGET, folder, sees_gpu=True, cache=kept.folder
        )
        took = time.monotonic() - begin
        self._output += _without_progress(output(report))
        for message in report.of("error"):
            return explained(message, f"Tuning {self.exercise.factory}")
        if report.end is End.TIMED_OUT:
            return Problem(
                f"Tuning took longer than {BUDGET.seconds:.0f} s and was stopped. Try fewer configurations, or smaller "
                "tiles: they compile faster."
            )
        if report.end is not End.FINISHED:
            return death(report, f"tuning {self.exercise.factory}")
        for message in report.of("tuned"):
            capsule, config = tracing.capsule(message, str(self.submission.path)), message.get("config")
            if capsule is not None and isinstance(config, dict) and untrusted.is_plain(config):
                return _Found(config, capsule, took, message.get("cached") is True)
        return Problem(f"{self.exercise.factory} gave no tuned kernel.")

    def _asked_for(self, seconds: float) -> list[Schedule] | Problem:
        call = self.proposed.ask(self.proposed.tuned_sizes, self.goal)
        called = calling.call(self.warm, self.submission, self.goal.name, {"ask": call}, Limits(seconds), self.scratch)
        self._output += called.output
        if "ask" not in called.answers:
            return called.whole or called.problems["ask"]
        schedules = list(self.proposed.read(called.answers["ask"]))
        return schedules or Problem(f"{call.function} gave no schedule for {self.goal.gpus}.")

    def _measured(self, schedules: Sequence[Schedule], seconds: float, tuned: Capsule | None = None) -> Times:
        """The times of schedules, by their number in the list.

        `tuned`: what the first of them became where it was tuned; it must be the kernel that it becomes here, for
        where it was tuned it could have been any.
        """
        template = self.exercise.case(self.proposed.case)
        sizes = self.proposed.tuned_sizes
        posed = [
            Posed(replace(template, id=str(i), like=template.id, schedule=dict(schedule)), sizes, str(i))
            for i, schedule in enumerate(schedules)
        ]
        limit = max(seconds, 3.0 * len(posed))
        traced = tracing.trace(
            self.warm, self.submission, self.exercise.factory, self.goal.name, posed, limit, self.scratch
        )
        self._output += traced.output
        inside = Path(tempfile.mkdtemp(dir=self.scratch))
        capsules = dict(traced.capsules)
        if tuned is not None:
            posed.append(replace(posed[0], case=replace(posed[0].case, id=WINNER), kernel=WINNER))
            capsules[WINNER] = tuned
        plan = Plan(self.seed, tuple(posed), ())
        outcome = building.build(self.warm, self.exercise, plan, capsules, inside, emit_cpu=False)
        refused = {key: problem.message for key, problem in {**traced.problems, **outcome.problems}.items()}
        built = dict(outcome.built)
        if tuned is not None and (WINNER not in built or "0" not in built):
            refused.setdefault("0", refused.get(WINNER, "it could not be built"))
        elif tuned is not None and built.pop(WINNER).digest != built["0"].digest:
            del built["0"]
            refused["0"] = (
                "where it was tuned it became another kernel than where it was traced. Let nothing but the sizes, the "
                "configuration and torch.cuda.get_device_capability() decide what it is"
            )
        built.pop(WINNER, None)
        if not built:
            return Times(refused=refused)
        compile_ahead(self.warm, self.goal.name, [one.capsule for one in built.values()], inside)
        times = measuring.measure(self.warm, self.exercise, template, sizes, self.goal.name, built, inside)
        return Times(times.kernels, {**refused, **times.refused})

    def _told(self, winner: Schedule, took: float, times: Times, proposed: int) -> str:
        flags = self.exercise.case(self.proposed.case).flags
        rate = self.exercise.flops(self.proposed.tuned_sizes, flags) / took / 1e9
        return f"{in_words(winner)}: {took:.3f} ms, {rate:.0f} TFLOP/s ({len(times.kernels)} of {proposed} measured)"

    def _passed(self, id_: str, told: str) -> Check:
        return checks.passed(Kind.TUNING, id_, TITLES[id_], told)

    def _failed(self, id_: str, problem: Problem) -> Check:
        return checks.failed(Kind.TUNING, id_, TITLES[id_], problem, self.submission, {})

    def _faulty(self, fault: Fault) -> Check:
        return checks.faulty(Kind.TUNING, WINNER, TITLES[WINNER], fault, {})

    def _tuned(self, *made: Check, winner: Schedule | None = None) -> Tuned:
        return Tuned(made, winner, self._output)


def _without_progress(printed: str) -> str:
    """What the autotuner prints besides, its bars and log lines, left out."""
    kept = [line for line in printed.split("\n") if "\r" not in line and not _LOGGED.match(line)]
    return "\n".join(kept)


def skipped(proposed: Proposed, reason: str) -> list[Check]:
    """The checks of a tuning that is not made."""
    return [checks.skipped(Kind.TUNING, id_, TITLES[id_], reason) for id_ in TUNING_CHECKS[proposed.chosen_by]]
