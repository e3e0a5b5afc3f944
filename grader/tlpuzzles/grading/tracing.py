"""The parent's side of tracing: from a submission to a capsule for each problem, or why there is none."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.grading.learners_errors import death, explained, output
from tlpuzzles.grading.plan import Problem as Posed
from tlpuzzles.grading.submission import Problem, Submission
from tlpuzzles.kernel.capsule import Capsule


@dataclass(frozen=True)
class Traced:
    """What the tracer sent for one architecture."""

    capsules: Mapping[str, Capsule] = field(default_factory=dict)
    """By kernel."""
    problems: Mapping[str, Problem] = field(default_factory=dict)
    """By kernel, for those without a capsule."""
    whole: Problem | None = None
    """What kept every case from being traced."""
    follows_arch: bool = False
    """Whether the kernel can depend on the architecture: the factory takes `arch`, or the file asks for the GPU."""
    output: str = ""


def trace(
    warm: Warm, submission: Submission, factory: str, arch: str, posed: Iterable[Posed], seconds: float, folder: Path
) -> Traced:
    """Traces every problem in one child, which can write to a new folder in `folder`. `seconds`: the time limit."""
    posed = list(posed)
    # Its name must not be foreseen: what a learner's process makes there first would be in the way.
    folder = Path(tempfile.mkdtemp(dir=folder))
    text = folder / "submission.py"
    text.write_text(submission.text, encoding="utf-8")
    job = {
        "path": str(submission.path),
        "text": str(text),
        "factory": factory,
        "arch": arch,
        "cases": [{"id": p.case.id, "arguments": p.arguments} for p in posed],
    }
    report = warm.run("trace", job, Limits(seconds), folder)
    return _read(report, submission, [p.case.id for p in posed])


def _read(report: Report, submission: Submission, cases: list[str]) -> Traced:
    capsules: dict[str, Capsule] = {}
    problems: dict[str, Problem] = {}
    whole: Problem | None = None
    asked = any(m.get("takes_arch") is True for m in report.of("loaded"))
    for message in report.of("capsule"):
        found = capsule(message, str(submission.path))
        if found is not None and message.get("case") in cases:
            capsules[message["case"]] = found
            asked = asked or message.get("asked_gpu") is True
    for message in report.of("error"):
        problem = explained(message)
        if message.get("case") in cases:
            problems[message["case"]] = problem
        else:
            whole = problem
    if report.end is not End.FINISHED and whole is None:
        doing = "tracing your kernel" if report.of("loaded") else "loading your file"
        end = death(report, doing)
        if not report.of("loaded"):
            whole = end
        else:
            problems.update({case: end for case in cases if case not in capsules and case not in problems})
    silent = Problem("Tracing the kernel gave no result.")
    if whole is None:
        problems.update({case: silent for case in cases if case not in capsules and case not in problems})
    return Traced(capsules, problems, whole, asked, output(report))


def capsule(message: Message, path: str) -> Capsule | None:
    """The capsule in a message of a learner's process; None if it is not formed like one."""
    ir, out_idx, configs = message.get("ir"), message.get("out_idx"), message.get("pass_configs")
    if not isinstance(ir, str) or not isinstance(configs, dict):
        return None
    if out_idx is not None and not (isinstance(out_idx, list) and all(type(i) is int for i in out_idx)):
        return None
    return Capsule(ir, None if out_idx is None else tuple(out_idx), configs, path)
