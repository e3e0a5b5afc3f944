"""The parent's side of calling a learner's functions: from calls to answers, or why there are none."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.course.functions import Answer, Call
from tlpuzzles.grading import untrusted
from tlpuzzles.grading.learners_errors import death, explained, output
from tlpuzzles.grading.submission import Problem, Submission

CHILDREN = 3
"""How often the time limit of one child may pass in all."""


@dataclass(frozen=True)
class Called:
    """What came of calls, by their names."""

    answers: Mapping[str, Answer] = field(default_factory=dict)
    problems: Mapping[str, Problem] = field(default_factory=dict)
    """For those without an answer."""
    whole: Problem | None = None
    """What kept the file from being loaded."""
    output: str = ""


def call(
    warm: Warm,
    submission: Submission,
    arch: str,
    calls: Mapping[str, Call | Mapping[str, Any]],
    limits: Limits,
    folder: Path,
    *,
    real: bool = False,
    cache: Path | None = None,
) -> Called:
    """Makes the calls in one child, and in another one what is left when a call ends it.

    New folders in `folder` are what the children can write to. `real`: with the GPU at hand instead of stand-ins for
    it. `cache`: where TileLang keeps what the children compile.
    """
    deadline = time.monotonic() + CHILDREN * limits.seconds
    waiting = {name: one.to_json() if isinstance(one, Call) else dict(one) for name, one in calls.items()}
    answers: dict[str, Answer] = {}
    problems: dict[str, Problem] = {}
    printed = ""
    while waiting:
        if time.monotonic() > deadline:
            late = Problem("Calling the functions of your file took too long altogether.")
            problems.update(dict.fromkeys(waiting, late))
            break
        report = _run(warm, submission, arch, waiting, limits, Path(tempfile.mkdtemp(dir=folder)), real, cache)
        printed += output(report)
        found, failed, whole = _read(report, waiting)
        if whole is not None:
            return Called(answers, problems, whole, printed)
        answers.update(found)
        problems.update(failed)
        hopeless = _hopeless(report, waiting)
        rest = {name: item for name, item in waiting.items() if name not in found and name not in failed}
        if not found and not failed:
            problems.update({name: Problem("Calling the function gave no answer.") for name in rest})
            break
        problems.update({n: hopeless[i["function"]] for n, i in rest.items() if i["function"] in hopeless})
        waiting = {name: item for name, item in rest.items() if item["function"] not in hopeless}
    return Called(answers, problems, None, printed)


def _run(
    warm: Warm,
    submission: Submission,
    arch: str,
    calls: Mapping[str, Mapping[str, Any]],
    limits: Limits,
    folder: Path,
    real: bool,
    cache: Path | None,
) -> Report:
    text = folder / "submission.py"
    text.write_text(submission.text, encoding="utf-8")
    listed = folder / "calls.json"
    job = {
        "path": str(submission.path),
        "text": str(text),
        "arch": arch,
        "real": real,
        "calls": [{"id": name, **item} for name, item in calls.items()],
    }
    # Recorded sources can be long, and a job has to fit into one message.
    listed.write_text(json.dumps(job), encoding="utf-8")
    return warm.run("call", {"job": str(listed)}, limits, folder, sees_gpu=real, cache=cache)


def _read(
    report: Report, waiting: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Answer], dict[str, Problem], Problem | None]:
    answers: dict[str, Answer] = {}
    problems: dict[str, Problem] = {}
    for message in report.of("answer"):
        name, value, uses = _name(message, waiting), message.get("value"), message.get("uses")
        if name is None or not isinstance(uses, list):
            continue
        if untrusted.is_plain([value, uses]):
            answers[name] = Answer(value, tuple(uses))
        else:
            function = waiting[name]["function"]
            problems[name] = Problem(f"What {function} returned is too large, or too deeply nested, to be looked at.")
    for message in report.of("error"):
        name = _name(message, waiting)
        if name is not None:
            problems[name] = explained(message, f"Calling {waiting[name]['function']}")
        elif message.get("id") is None:
            return {}, {}, explained(message)
    if _is_death(report):
        if not report.of("loaded"):
            return {}, {}, death(report, "loading your file")
        for name in _begun(report, waiting)[-1:]:
            if name not in answers:
                problems.setdefault(name, death(report, f"calling {waiting[name]['function']}"))
    return answers, problems, None


def _name(message: Message, waiting: Mapping[str, object]) -> str | None:
    """Which call a message is about; None for none that was made."""
    name = message.get("id")
    return name if isinstance(name, str) and name in waiting else None


def _hopeless(report: Report, waiting: Mapping[str, Mapping[str, Any]]) -> dict[str, Problem]:
    """The function that ended the process, whatever it answered before: it would end the next one too."""
    if not _is_death(report):
        return {}
    functions = [waiting[name]["function"] for name in _begun(report, waiting)[-1:]]
    return {function: death(report, f"calling {function}") for function in functions}


def _begun(report: Report, waiting: Mapping[str, object]) -> list[str]:
    return [name for message in report.of("calling") if (name := _name(message, waiting)) is not None]


def _is_death(report: Report) -> bool:
    return report.end is not End.FINISHED
