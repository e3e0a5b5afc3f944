"""Schedules that a learner's function proposes: each becomes a case of its own."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from tlpuzzles.course.functions import Answer, Call
from tlpuzzles.course.schedules import Schedule
from tlpuzzles.course.vocabulary import Case, Exercise
from tlpuzzles.device.limits import A100, Architecture, architecture
from tlpuzzles.grading.plan import draw, of_sizes

NAME = "schedules"
"""Name of the call that asks for them; no function check has it, for theirs have a number."""


def target(arch: str, class_arch: str | None) -> Architecture:
    """The architecture that schedules are asked for. Without a GPU at hand it is the class's, else an A100, whose
    questions the tracer answers."""
    return architecture(arch) or architecture(class_arch or "") or A100


def ask(exercise: Exercise, seed: int, goal: Architecture) -> dict[str, Call]:
    """The call whose answer is the schedules; none for an exercise without."""
    if exercise.proposed is None:
        return {}
    case = exercise.case(exercise.proposed.case)
    return {NAME: exercise.proposed.ask(draw(exercise, case, seed), goal)}


def read(exercise: Exercise, answer: Answer | None, seed: int, *, winner: Schedule | None = None) -> list[Schedule]:
    """The schedules to grade: the winner, where there is one, and some of the others."""
    proposed = exercise.proposed
    if proposed is None or answer is None:
        return []
    chosen = proposed.sampled(proposed.read(answer), random.Random(f"{of_sizes(seed)}/{NAME}"))
    if winner is None:
        return chosen
    return [winner, *(schedule for schedule in chosen if schedule != winner)]


def with_cases(exercise: Exercise, schedules: Sequence[Schedule]) -> Exercise:
    """The exercise with a case for every schedule in place of the one that they are graded with."""
    if exercise.proposed is None or not schedules:
        return exercise
    cases: list[Case] = []
    for case in exercise.cases:
        if case.id == exercise.proposed.case:
            cases += [_case(case, number, schedule) for number, schedule in enumerate(schedules, 1)]
        else:
            cases.append(case)
    return replace(exercise, cases=tuple(cases))


def ignored(exercise: Exercise, digests: Mapping[str, str]) -> str | None:
    """Two different schedules that gave one kernel, in a sentence; None if there are none. `digests`: by case."""
    cases = [case for case in exercise.cases if case.like and case.id in digests]
    for first, second in combinations(cases, 2):
        if digests[first.id] == digests[second.id]:
            return (
                f"Two schedules gave the same kernel: {first.title}, and {second.title}. Use every parameter of "
                f"{exercise.factory} in its kernel, and set none of them anew."
            )
    return None


def _case(case: Case, number: int, schedule: Schedule) -> Case:
    return replace(case, id=f"{case.id}-{number}", title=in_words(schedule), schedule=dict(schedule), like=case.id)


def in_words(schedule: Schedule) -> str:
    """A schedule in a few words: "128 x 256 x 64, 3 stages, 256 threads, swizzle"."""
    rest = dict(schedule)
    tile = [str(rest.pop(name)) for name in ("block_M", "block_N", "block_K") if name in rest]
    words = [" x ".join(tile)] if tile else []
    if "num_stages" in rest:
        stages = rest.pop("num_stages")
        words.append(f"{stages} stage{'' if stages == 1 else 's'}")
    if "threads" in rest:
        words.append(f"{rest.pop('threads')} threads")
    if "use_swizzle" in rest:
        words.append("swizzle" if rest.pop("use_swizzle") else "no swizzle")
    return ", ".join([*words, *(f"{name}={value}" for name, value in rest.items())])
