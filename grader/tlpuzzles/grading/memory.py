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
from tlpuzzles.grading.plan import Problem
from tlpuzzles.grading.stages import Built, fetch
from tlpuzzles.verdict.model import Check, Kind, Verdict

_Key = tuple[str, str, str]


@dataclass
class Memory:
    """Checks of cases that have passed, by exercise, case and kernel."""

    _passed: dict[_Key, Check] = field(default_factory=dict)
    _order: dict[str, Check] = field(default_factory=dict)
    """By exercise, the last check of the order of blocks and threads."""

    def known(self, exercise: Exercise, problems: Iterable[Problem], built: Mapping[str, Built]) -> dict[str, Check]:
        """Checks of the problems whose kernel has passed them before, by case.

        None where the order of things was not right, or a kernel's prints are graded: those are of all cases together.
        """
        order = self._order.get(exercise.slug)
        if exercise.printing is not None or (order is not None and order.verdict is not Verdict.PASSED):
            return {}
        keys = {p.case.id: _key(exercise, p, built[p.kernel]) for p in problems if p.kernel in built}
        return {case: self._passed[key] for case, key in keys.items() if key in self._passed}

    def completed(
        self, exercise: Exercise, problems: Iterable[Problem], built: Mapping[str, Built], judged: list[Check]
    ) -> list[Check]:
        """What was judged, remembered and with the check of the order, which a grading of known cases alone lacks. (On
        a GPU there is none: see `verdict.order`.)"""
        order = next((check for check in judged if check.kind is Kind.ORDER), None)
        if order is not None:
            self._order[exercise.slug] = order
        elif exercise.slug in self._order:
            judged = [*judged, self._order[exercise.slug]]
        passed = {c.id: c for c in judged if c.kind is Kind.CORRECTNESS and c.verdict is Verdict.PASSED}
        for problem in problems:
            if problem.case.id in passed and problem.kernel in built:
                self._passed[_key(exercise, problem, built[problem.kernel])] = passed[problem.case.id]
        return judged


def _key(exercise: Exercise, problem: Problem, built: Built) -> _Key:
    settings = fetch(built.capsule)
    kernel = [built.digest, settings.out_idx, dict(settings.pass_configs), dict(problem.sizes), built.parameters]
    return exercise.slug, problem.case.id, hashlib.sha256(json.dumps(kernel, sort_keys=True).encode()).hexdigest()
