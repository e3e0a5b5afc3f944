"""What is known of kernels that were graded a moment ago: the same kernel need not be run again for the same case.

For one process, such as `watch`, that grades a file over and over. Nothing of it outlives the process: a grading by
itself always runs every case.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading.checks import order_check
from tlpuzzles.grading.plan import Problem
from tlpuzzles.grading.stages import Built, fetch
from tlpuzzles.verdict.model import Check, Kind, Verdict

_Key = tuple[str, str, str]


@dataclass
class Memory:
    """Checks of cases that have passed, by exercise, case and kernel: in any order, where that was tried."""

    _passed: dict[_Key, Check] = field(default_factory=dict)
    _in_any_order: set[_Key] = field(default_factory=set)
    """Those whose kernel gave the same with blocks and threads in reverse. On a GPU there is no such run."""

    def known(self, exercise: Exercise, problems: Iterable[Problem], built: Mapping[str, Built]) -> dict[str, Check]:
        """Checks of the problems whose kernel has passed them before, by case.

        None where a kernel's prints are graded: those are of all cases together.
        """
        if exercise.printing is not None:
            return {}
        keys = _keys(exercise, problems, built)
        return {case: self._passed[key] for case, key in keys.items() if key in self._passed}

    def completed(
        self, exercise: Exercise, problems: Iterable[Problem], built: Mapping[str, Built], judged: list[Check]
    ) -> list[Check]:
        """What was judged, remembered, and with the check of the order if all that it would be of is known.

        Nothing of a kernel is remembered whose result depends on the order: that check names one case, and may be about
        any of them.
        """
        order = next((check for check in judged if check.kind is Kind.ORDER), None)
        if order is not None and order.verdict is not Verdict.PASSED:
            for key in _keys(exercise, problems, built).values():
                self._passed.pop(key, None)
            return judged
        passed = {c.id: c for c in judged if c.kind is Kind.CORRECTNESS and c.verdict is Verdict.PASSED}
        keys = {case: key for case, key in _keys(exercise, problems, built).items() if case in passed}
        if order is None and any(key in self._in_any_order for key in keys.values()):
            return [*judged, order_check(Verdict.PASSED, "")]
        self._passed |= {key: passed[case] for case, key in keys.items()}
        if order is not None:
            self._in_any_order |= set(keys.values())
        return judged


def _keys(exercise: Exercise, problems: Iterable[Problem], built: Mapping[str, Built]) -> dict[str, _Key]:
    """By case, of those whose kernel was built."""
    return {p.case.id: _key(exercise, p, built[p.kernel]) for p in problems if p.kernel in built}


def _key(exercise: Exercise, problem: Problem, built: Built) -> _Key:
    settings = fetch(built.capsule)
    kernel = [built.digest, settings.out_idx, dict(settings.pass_configs), dict(problem.sizes), built.parameters]
    return exercise.slug, problem.case.id, hashlib.sha256(json.dumps(kernel, sort_keys=True).encode()).hexdigest()
