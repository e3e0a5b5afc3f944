"""Exercise 3: what is asked of a list of candidate schedules."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, Json, shown
from tlpuzzles.course.legality import DEFAULTS, does_not_compile, does_not_fit, malformed
from tlpuzzles.course.schedules import Schedule
from tlpuzzles.course.vocabulary import Sizes
from tlpuzzles.device.limits import ARCHITECTURES, H100, Architecture

AT_LEAST, AT_MOST = 8, 32
"""Schedules in a list: with a GPU each of them is compiled, 2 to 4 seconds of a fast core, and measured."""

LARGE = 128
"""The side of a square tile that a large product is worth. It fits on every GPU: with two stages of depth 32, it takes
32 KiB."""

SMALLEST, LARGEST = 64, 8192
"""Sides of the problems that are asked for."""

_TILE = ("block_M", "block_N", "block_K")


def ask(sizes: Sizes, architecture: Architecture) -> Call:
    """The call whose answer is the list for this problem and architecture."""
    return Call("candidates", {**sizes, "smem_limit": architecture.shared_bytes}, arch=architecture.name)


def read(answer: Answer) -> Sequence[Schedule]:
    """The schedules that are graded: dicts of make_matmul's six tunables, none twice, `AT_MOST` of them."""
    found: list[Schedule] = []
    for schedule in _schedules(answer):
        if schedule not in found:
            found.append(schedule)
    return found[:AT_MOST]


def _schedules(answer: Answer) -> list[Schedule]:
    """Of a list that is far too long, as much as shows it."""
    items = answer.value[: 8 * AT_MOST] if isinstance(answer.value, list) else []
    return [item for item in items if _misshapen(item) is None]


def _misshapen(item: Json) -> str | None:
    """What is wrong with the form of one schedule."""
    wrong = malformed(item)
    if wrong is not None:
        return wrong
    missing = [name for name in DEFAULTS if name not in item]
    return f"it has no {missing[0]}" if missing else None


def _asked(rng: random.Random) -> Sequence[Call]:
    """Three problems for each architecture: large, small, and long and thin."""

    def sides(low: int, high: int) -> Sizes:
        return dict(zip("MNK", (rng.randint(low, high) for _ in "MNK"), strict=True))

    thin = {"M": rng.randint(SMALLEST, 2 * SMALLEST), "N": rng.randint(4096, LARGEST), "K": rng.randint(512, 4096)}
    problems = (sides(2048, LARGEST), sides(SMALLEST, 2 * SMALLEST), thin)
    return [ask(sizes, architecture) for architecture in ARCHITECTURES for sizes in problems]


def _architecture(call: Call) -> Architecture:
    limit = call.arguments["smem_limit"]
    return next(architecture for architecture in ARCHITECTURES if architecture.shared_bytes == limit)


def _has_form(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        if not isinstance(answer.value, list):
            return Fault(f"{shown(call)} gives {short(answer.value)}: return a list of dicts.", "no-list", 1)
        for item in answer.value:
            wrong = _misshapen(item)
            if wrong is not None:
                return Fault(
                    f"In the list of {shown(call)}, {short(item)} is no schedule: {wrong}. A schedule is a dict with "
                    f"the keys {', '.join(DEFAULTS)}.",
                    "no-schedule",
                    1,
                )
    return _nothing_to_look_at(calls, answers)


def _nothing_to_look_at(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    for call, answer in zip(calls, answers, strict=True):
        if not _schedules(answer):
            return Fault(
                f"{shown(call)} gives no schedule that can be looked at. Return a list of dicts with the keys "
                f"{', '.join(DEFAULTS)}.",
                hint=1,
            )
    return None


def _refused(
    why: Callable[[Schedule, Architecture], str | None], calls: Sequence[Call], answers: Sequence[Answer]
) -> list[tuple[Call, Schedule, str]]:
    """The schedules that cannot be, each with its call and the reason."""
    return [
        (call, schedule, reason)
        for call, answer in zip(calls, answers, strict=True)
        for schedule in _schedules(answer)
        if (reason := why(schedule, _architecture(call))) is not None
    ]


def _fits(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    missing = _nothing_to_look_at(calls, answers)
    if missing is not None:
        return missing
    over = _refused(does_not_fit, calls, answers)
    if not over:
        return None
    call, schedule, reason = over[0]
    message = f"{shown(call)} proposes {short(schedule)}: {reason}."
    if _same_for_every_limit(calls, answers):
        return Fault(f"{message} The list is the same whatever smem_limit is.", "limit-ignored", 2)
    return Fault(f"{message} Compare smem_bytes of the schedule with smem_limit; both are bytes.", hint=2)


def _same_for_every_limit(calls: Sequence[Call], answers: Sequence[Answer]) -> bool:
    lists: dict[str, list[Json]] = {}
    for call, answer in zip(calls, answers, strict=True):
        problem = str([call.arguments[side] for side in "MNK"])
        lists.setdefault(problem, []).append(answer.value)
    return all(value == values[0] for values in lists.values() for value in values)


def _compiles(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    missing = _nothing_to_look_at(calls, answers)
    if missing is not None:
        return missing
    refused = _refused(does_not_compile, calls, answers)
    if not refused:
        return None
    call, schedule, reason = refused[0]
    message = f"{shown(call)} proposes {short(schedule)}, which cannot run on {_architecture(call).gpus}: {reason}."
    if all(_architecture(call) is H100 for call, _, _ in refused):
        return Fault(f"{message} On other GPUs it can.", "hopper-forgotten", 2)
    return Fault(message, hint=2)


def _differ(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    missing = _nothing_to_look_at(calls, answers)
    if missing is not None:
        return missing
    for call, answer in zip(calls, answers, strict=True):
        schedules = _schedules(answer)
        for number, schedule in enumerate(schedules):
            if schedule in schedules[:number]:
                return Fault(f"{shown(call)} proposes {short(schedule)} twice.", "repeated", 2)
        if not AT_LEAST <= len(schedules) <= AT_MOST:
            count = len(answer.value) if isinstance(answer.value, list) else len(schedules)
            return Fault(
                f"{shown(call)} proposes {count} schedules: {AT_LEAST} to {AT_MOST} are asked for. Too few "
                "are not worth a sweep, and each of too many would have to be compiled.",
                hint=2,
            )
        for what, values in _varied(schedules):
            if len(set(values)) < 2:
                return Fault(
                    f"All schedules of {shown(call)} have the same {what}, {values[0]}: let it vary, too.",
                    f"one-{what.replace('_', '-')}",
                    2,
                )
    return None


def _large(rng: random.Random) -> Sequence[Call]:
    """A large problem for each architecture, with room for hundreds of large tiles."""
    sizes = {side: 4096 + 64 * rng.randint(0, 32) for side in "MNK"}
    return [ask(sizes, architecture) for architecture in ARCHITECTURES]


def _has_a_large_tile(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
    missing = _nothing_to_look_at(calls, answers)
    if missing is not None:
        return missing
    for call, answer in zip(calls, answers, strict=True):
        largest = max(_schedules(answer), key=_area)
        if _area(largest) < LARGE * LARGE:
            return Fault(
                f"The largest tile of {shown(call)} is {largest['block_M']} x {largest['block_N']}. A C of this "
                f"size is worth larger ones: in one of {LARGE} x {LARGE}, each number that is fetched serves {LARGE} "
                f"products. Propose one of at least {LARGE} x {LARGE} for large problems, too; with block_K = 32 and 2 "
                "stages it takes 32 KiB, which every GPU has.",
                "small-tiles-only",
                2,
            )
    return None


def _area(schedule: Schedule) -> int:
    return int(schedule["block_M"] * schedule["block_N"])


def _varied(schedules: Sequence[Schedule]) -> Iterator[tuple[str, list[object]]]:
    yield "tile", [" x ".join(str(schedule[side]) for side in _TILE) for schedule in schedules]
    for name in ("num_stages", "threads", "use_swizzle"):
        yield name, [schedule[name] for schedule in schedules]


def short(value: Json) -> str:
    """The value as Python writes it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 140 else text[:137] + "..."


CHECKS = (
    FunctionCheck("candidates-form", "candidates are dicts of the six tunables", _asked, _has_form),
    FunctionCheck("candidates-fit", "candidates fit into shared memory on every GPU", _asked, _fits),
    FunctionCheck("candidates-compile", "candidates suit the warps of every GPU", _asked, _compiles),
    FunctionCheck("candidates-differ", "candidates are 8 to 32, and differ", _asked, _differ),
    FunctionCheck("candidates-large", "candidates have a large tile for a large problem", _large, _has_a_large_tile),
)
