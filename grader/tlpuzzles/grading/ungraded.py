"""Which checks a grading did not make: the device cannot, nobody asked, or it did not come so far."""

from __future__ import annotations

from collections.abc import Sequence

from tlpuzzles.course.runs import Runs
from tlpuzzles.course.schedules import AGAIN, TUNING_CHECKS, WINNER
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.grading import checks
from tlpuzzles.grading.options import Options
from tlpuzzles.grading.plan import SPEED
from tlpuzzles.verdict.model import Check, Kind


def elsewhere(exercise: Exercise, *, on_cuda: bool) -> set[str]:
    """The checks that this device cannot make."""
    if on_cuda:
        return set()
    runs = {check.id: check.runs for check in exercise.functions} | {case.id: case.runs for case in exercise.cases}
    found = {id_ for id_, where in runs.items() if where is Runs.ON_CUDA}
    found |= {WINNER, AGAIN, *(one.case.id for one in exercise.timings)}
    return found | ({exercise.profiling.id} if exercise.profiling is not None else set())


def unasked(exercise: Exercise, options: Options, made: Sequence[Check]) -> set[str]:
    """Those of the checks made that the user did not ask for; without a single one asked for, what `--no-speed` leaves
    out."""
    only = options.only
    if only is None:
        return set() if options.speed else {one.case.id for one in exercise.timings}
    asked = {only} | {case.id for case in exercise.cases if only in (case.id, case.like)}
    asked |= {one.case.id for one in exercise.timings if only == SPEED}
    return {check.id for check in made} - asked


def unreached(exercise: Exercise, options: Options, made: Sequence[Check], *, on_cuda: bool) -> list[Check]:
    """The checks that the grading did not come to: they earn nothing, and have their share."""
    declared = {case.id: Kind.CORRECTNESS for case in exercise.cases}
    declared |= {check.id: Kind.FUNCTION for check in exercise.functions}
    declared |= {exercise.printing.id: Kind.OUTPUT} if exercise.printing is not None else {}
    declared |= {exercise.profiling.id: Kind.FUNCTION} if exercise.profiling is not None else {}
    if on_cuda and options.speed:
        declared |= {one.case.id: Kind.SPEED for one in exercise.timings}
    if exercise.proposed is not None:
        declared |= dict.fromkeys(TUNING_CHECKS[exercise.proposed.chosen_by], Kind.TUNING)
    known = {check.id for check in made} | elsewhere(exercise, on_cuda=on_cuda)
    return [checks.skipped(kind, id_, id_, "not reached") for id_, kind in declared.items() if id_ not in known]
