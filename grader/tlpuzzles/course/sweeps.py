"""Exercise 3: what is asked of a sweep, played from tables of times."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from tlpuzzles.course.candidates import short
from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, Json, Measure
from tlpuzzles.course.schedules import Schedule

Times = list[float | None]
"""Milliseconds in the order of the schedules; NaN, or None where measuring raises."""

_HOW_TO_RETURN = "Return (best, table): a schedule, and a list of (milliseconds, schedule)."


def choose(schedules: Sequence[Schedule], measure: Measure) -> Call:
    """The call that picks a winner."""
    return Call("sweep", {"schedules": [dict(schedule) for schedule in schedules], "measure": measure})


def chosen(_schedules: Sequence[Schedule], measure: Measure, answer: Answer) -> Fault | None:
    """What is wrong with the winner that came back: it must be the fastest of those that could be measured."""
    return _shape(answer) or _best_fault("The sweep over measured times", _rows(measure), answer.value[0])


# What is played


def _schedules(rng: random.Random, count: int) -> list[dict[str, Json]]:
    """Different schedules that a GPU could run, in no order that says anything."""
    pool = [
        {
            "block_M": block_M,
            "block_N": block_N,
            "block_K": block_K,
            "num_stages": num_stages,
            "threads": threads,
            "use_swizzle": use_swizzle,
        }
        for block_M, block_N in ((64, 64), (128, 64), (128, 128), (128, 256))
        for block_K in (32, 64)
        for num_stages in (1, 2, 3)
        for threads in (128, 256)
        for use_swizzle in (False, True)
    ]
    return rng.sample(pool, count)


def _times(rng: random.Random, count: int) -> Times:
    """Different times, no two within a hundredth of each other."""
    unit = rng.choice((1, 1, 10, 40))
    steps: list[float | None] = [round(unit * (0.11 + 0.013 * step), 3) for step in rng.sample(range(200), count)]
    return steps


def _played(rng: random.Random, times: Times) -> Call:
    schedules = _schedules(rng, len(times))
    return choose(schedules, Measure(tuple(zip(schedules, times, strict=True))))


def _all_run(rng: random.Random) -> Sequence[Call]:
    """The fastest comes first, last, and in between."""
    calls = []
    for place in (rng.randint(1, 5), 0, 6, rng.randint(1, 5)):
        times = sorted(_times(rng, 7), key=float)  # type: ignore[arg-type]
        fastest, others = times[0], times[1:]
        rng.shuffle(others)
        calls.append(_played(rng, [*others[:place], fastest, *others[place:]]))
    return calls


def _with_ties(rng: random.Random) -> Sequence[Call]:
    calls = []
    for _ in range(3):
        times = _times(rng, 6)
        calls.append(_played(rng, rng.sample([*times, times[0], min(times, key=float)], 8)))  # type: ignore[arg-type]
    return calls


def _some_fail(rng: random.Random) -> Sequence[Call]:
    calls = []
    for first, middle, last in ((math.nan, None, None), (None, math.nan, math.nan), (None, None, math.nan)):
        times = _times(rng, 6)
        calls.append(_played(rng, [first, *times[:3], middle, *times[3:], last]))
    calls.append(_played(rng, [*_times(rng, 2), math.nan, *_times(rng, 1)]))
    return calls


def _none_runs(rng: random.Random) -> Sequence[Call]:
    return [_played(rng, [None] * 3), _played(rng, [math.nan] * 3), _played(rng, [None, math.nan]), _played(rng, [])]


# What must come of it


def _rows(measure: Measure) -> list[tuple[float, Mapping[str, Json]]]:
    """(milliseconds, schedule) of what can be measured, in the order of measuring."""
    return [(time, schedule) for schedule, time in measure.times if time is not None and not math.isnan(time)]


def _measure(call: Call) -> Measure:
    measure = call.arguments["measure"]
    assert isinstance(measure, Measure)
    return measure


def _told(call: Call) -> str:
    times = ", ".join("fails" if time is None else f"{time:g}" for _, time in _measure(call).times)
    return f"In a sweep over schedules that take {times} ms" if times else "In a sweep over an empty list"


def _shape(answer: Answer) -> Fault | None:
    value = answer.value
    if isinstance(value, list) and len(value) == 2 and (value[0] is None or isinstance(value[0], dict)):
        return None
    mistake = None
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], (int, float, list)):
        mistake = "time-for-schedule"
    return Fault(f"sweep returned {short(value)}. {_HOW_TO_RETURN}", mistake, 1)


def _best_fault(told: str, rows: Sequence[tuple[float, Mapping[str, Json]]], best: Json) -> Fault | None:
    if not rows:
        return None if best is None else Fault(f"{told}, none could be measured, and best is {short(best)}, not None.")
    fastest = min(time for time, _ in rows)
    if best is None:
        return Fault(f"{told}, best is None, though a schedule took {fastest:g} ms.", hint=3)
    times = [time for time, schedule in rows if schedule == best]
    if not times:
        return Fault(f"{told}, best is {short(best)}, which is none of the schedules that could be measured.", hint=2)
    if times[0] == fastest:
        return None
    return Fault(f"{told}, best is one that takes {times[0]:g} ms; the fastest takes {fastest:g} ms.", hint=2)


def _finds_best(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    fault = next((fault for answer in answers if (fault := _shape(answer))), None)
    if fault is not None:
        return fault
    rows = [_rows(_measure(call)) for call in calls]
    best = [answer.value[0] for answer in answers]
    faults = (_best_fault(_told(call), row, one) for call, row, one in zip(calls, rows, best, strict=True))
    fault = next((fault for fault in faults if fault), None)
    if fault is None:
        return None
    picks = {
        "slowest": ("This takes the slowest.", [max(row, key=_time)[1] for row in rows]),
        "first": ("This takes the first of the list.", [row[0][1] for row in rows]),
        "last": ("This takes the last of the list.", [row[-1][1] for row in rows]),
    }
    for mistake, (says, wrong) in picks.items():
        if wrong == best:
            return Fault(f"{fault.message} {says}", f"takes-the-{mistake}", 2)
    return fault


def _time(row: tuple[float, object]) -> float:
    return row[0]


def _has_table(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        fault = _shape(answer) or _table_fault(call, answer) or _measuring_fault(call, answer)
        if fault is not None:
            return fault
    return None


def _table_fault(call: Call, answer: Answer) -> Fault | None:
    told, rows, table = _told(call), _rows(_measure(call)), answer.value[1]
    if not isinstance(table, list) or not all(isinstance(row, list) and len(row) == 2 for row in table):
        return Fault(f"{told}, table is {short(table)}. {_HOW_TO_RETURN}", hint=1)
    found = [(time, schedule) for time, schedule in table]
    if found and all(isinstance(time, dict) for time, _ in found):
        return Fault(
            f"{told}, the rows of table are (schedule, milliseconds). {_HOW_TO_RETURN}", "rows-turned-round", 1
        )
    if _failed_rows(call, found):
        return _failed_rows(call, found)
    absent = [time for time, schedule in rows if (time, schedule) not in found]
    if absent:
        return _absent_fault(call, rows, found, absent)
    if len(found) != len(rows):
        return Fault(f"{told}, table has {len(found)} rows for {len(rows)} schedules that could be measured.", hint=2)
    times = [time for time, _ in found]
    if times == sorted(times):
        return None
    message = f"{told}, the times in table are {', '.join(f'{time:g}' for time in times)}: put the fastest first."
    if times == sorted(times, reverse=True):
        return Fault(f"{message} They fall.", "slowest-first", 2)
    if times == [time for time, _ in rows]:
        return Fault(f"{message} They are as they were measured.", "not-sorted", 2)
    return Fault(message, hint=2)


def _failed_rows(call: Call, found: Sequence[tuple[Json, Json]]) -> Fault | None:
    failed = [schedule for schedule, time in _measure(call).times if time is None or math.isnan(time)]
    kept = [time for time, schedule in found if schedule in failed]
    if not kept:
        return None
    message = f"{_told(call)}, table has a row for a schedule that could not be measured, with {kept[0]!r} for its time"
    if any(isinstance(time, float) and math.isnan(time) for time in kept):
        return Fault(f"{message}. Leave out what gives NaN, too: math.isnan tells.", "nan-kept", 2)
    return Fault(f"{message}. Leave such a schedule out.", "failure-kept", 2)


def _absent_fault(
    call: Call,
    rows: Sequence[tuple[float, Mapping[str, Json]]],
    found: Sequence[tuple[Json, Json]],
    absent: Sequence[float],
) -> Fault:
    message = f"{_told(call)}, table lacks the schedule that takes {absent[0]:g} ms"
    if len(found) == 1 and found[0] in rows:
        return Fault(f"{message}: it has the best alone.", "best-alone", 1)
    return Fault(f"{message}. Every schedule that could be measured has a row, with its own time.", hint=2)


def _measuring_fault(call: Call, answer: Answer) -> Fault | None:
    for schedule, _ in _measure(call).times:
        if schedule not in answer.uses:
            return Fault(f"{_told(call)}, {short(schedule)} was never measured: call measure with every one.", hint=2)
    return None


def _survives(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    ended = [(call, answer) for call, answer in zip(calls, answers, strict=True) if _ends_early(call, answer)]
    if ended and all(_ends_at_failure(call, answer) for call, answer in ended):
        return Fault(
            f"{_told(ended[0][0])}, the sweep stops at a failure, and the rest is never measured. Go on with the next.",
            "stops-at-failure",
            2,
        )
    for call, answer in zip(calls, answers, strict=True):
        fault = _shape(answer) or _nan_fault(call, answer)
        fault = fault or _table_fault(call, answer) or _measuring_fault(call, answer)
        fault = fault or _best_fault(_told(call), _rows(_measure(call)), answer.value[0])
        if fault is not None:
            return fault
    return None


def _ends_early(call: Call, answer: Answer) -> bool:
    return any(schedule not in answer.uses for schedule, _ in _measure(call).times)


def _ends_at_failure(call: Call, answer: Answer) -> bool:
    failed = [schedule for schedule, time in _measure(call).times if time is None or math.isnan(time)]
    return bool(answer.uses) and answer.uses[-1] in failed


def _nan_fault(call: Call, answer: Answer) -> Fault | None:
    times = [time for schedule, time in _measure(call).times if schedule == answer.value[0]]
    if times and times[0] is not None and math.isnan(times[0]):
        return Fault(
            f"{_told(call)}, best is the one that takes nan ms. No number is less than NaN, so min() and sort() leave "
            "it where it is. Leave out what gives NaN before you compare.",
            "nan-wins",
            2,
        )
    return None


def _says_none(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        if answer.value != [None, []]:
            return Fault(
                f"{_told(call)}, none could be measured, and sweep returned {short(answer.value)}. Return None and an "
                "empty list.",
                hint=1,
            )
    return None


CHECKS = (
    FunctionCheck("sweep-best", "sweep finds the fastest schedule", _all_run, _finds_best),
    FunctionCheck("sweep-table", "sweep's table has every schedule, fastest first", _with_ties, _has_table),
    FunctionCheck("sweep-survives", "sweep goes on where a schedule raises or gives NaN", _some_fail, _survives),
    FunctionCheck("sweep-none", "sweep returns None and an empty table if nothing runs", _none_runs, _says_none),
)
