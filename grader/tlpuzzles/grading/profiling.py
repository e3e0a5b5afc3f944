"""A learner's function that measures a kernel, beside the grader's own measurement of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.course.functions import Call, Fault
from tlpuzzles.course.vocabulary import Exercise, Profiling
from tlpuzzles.grading import building, caches, calling, checks, measuring, tracing
from tlpuzzles.grading.plan import Plan
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.verdict.model import Check, Kind

LIMITS = Limits(seconds=120, memory=None)


def check(
    warm: Warm,
    exercise: Exercise,
    profiling: Profiling,
    submission: Submission,
    arch: str,
    gpu: str,
    seed: int,
    scratch: Path,
) -> tuple[Check, str]:
    """The check, and what the file printed. `gpu`: its name."""
    # Sources are read from this path: it is nobody's file.
    ours = Submission(Path("/tlpuzzles/profiled.py"), "profiled.py", profiling.source(), None)
    call = Call(profiling.function).to_json()
    live = {
        "stand_in": "live",
        "path": str(ours.path),
        "source": ours.text,
        "factory": profiling.factory,
        "arguments": dict(profiling.sizes),
    }
    called = calling.call(
        warm,
        submission,
        arch,
        {"profile": {**call, "arguments": {"kernel": live}, "positional": True}},
        LIMITS,
        scratch,
        real=True,
        cache=caches.profiled(submission.text, gpu, scratch),
    )
    failed = called.whole or called.problems.get("profile")
    if failed is not None:
        problem = checks.failed(Kind.FUNCTION, profiling.id, profiling.title, failed, submission, {})
        return problem, called.output
    value = called.answers["profile"].value
    measured = _measured(warm, exercise, profiling, ours, arch, seed, scratch)
    if isinstance(measured, Problem):
        return checks.failed(Kind.FUNCTION, profiling.id, profiling.title, measured, submission, {}), called.output
    fault = _fault(profiling, value, measured)
    if fault is not None:
        return checks.faulty(Kind.FUNCTION, profiling.id, profiling.title, fault, {}), called.output
    told = f"{profiling.function} says {value:.4f} ms, the grader measured {measured:.4f} ms"
    return checks.passed(Kind.FUNCTION, profiling.id, profiling.title, told), called.output


def _fault(profiling: Profiling, value: object, measured: float) -> Fault | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Fault(f"{profiling.function} returned {value!r}; it must return milliseconds, a number.")
    if measured / profiling.within <= value <= measured * profiling.within:
        return None
    units = {"seconds": 1e3, "microseconds": 1e-3}
    wrong_unit = next((unit for unit, factor in units.items() if _near(value * factor, measured)), None)
    unit = f" That looks like {wrong_unit}; return milliseconds." if wrong_unit else ""
    return Fault(
        f"{profiling.function} says {value:.4g} ms for a kernel that takes {measured:.4f} ms by the grader's "
        f"measurement.{unit}"
    )


def _near(value: float, measured: float) -> bool:
    return measured / 2 <= value <= measured * 2


def _measured(
    warm: Warm, exercise: Exercise, profiling: Profiling, ours: Submission, arch: str, seed: int, scratch: Path
) -> float | Problem:
    case = exercise.cases[0]
    posed = Posed(case, dict(profiling.sizes), case.id)
    traced = tracing.trace(warm, ours, profiling.factory, arch, [posed], LIMITS.seconds, scratch)
    if case.id not in traced.capsules:
        problem = traced.whole or traced.problems[case.id]
        return Problem(f"The grader's own kernel cannot be traced: {problem.message}", ours=True)
    inside = Path(tempfile.mkdtemp(dir=scratch))
    plan = Plan(seed, (posed,), ())
    built = building.build(warm, exercise, plan, traced.capsules, inside, emit_cpu=False).built
    times = measuring.measure(warm, exercise, case, posed.sizes, arch, built, inside, of_exercise=False)
    if case.id not in times.kernels:
        why = times.refused.get(case.id, "it was refused")
        return Problem(f"The grader's own kernel cannot be measured: {why}", ours=True)
    return times.kernels[case.id]
