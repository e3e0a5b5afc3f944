"""The parent's side of tracing: from a submission to a capsule for each problem, or why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End, Message, Report
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
    """Traces every problem in one child, which can write to `folder`. `seconds`: the time limit."""
    posed = list(posed)
    folder.mkdir()
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
        capsule = _capsule(message, str(submission.path))
        if capsule is not None and message.get("case") in cases:
            capsules[message["case"]] = capsule
            asked = asked or message.get("asked_gpu") is True
    for message in report.of("error"):
        problem = _problem(message)
        if message.get("case") in cases:
            problems[message["case"]] = problem
        else:
            whole = problem
    if report.end is not End.FINISHED and whole is None:
        death = _death(report)
        if not report.of("loaded"):
            whole = death
        else:
            problems.update({case: death for case in cases if case not in capsules and case not in problems})
    silent = Problem("Tracing the kernel gave no result.")
    if whole is None:
        problems.update({case: silent for case in cases if case not in capsules and case not in problems})
    return Traced(capsules, problems, whole, asked, _output(report))


def _output(report: Report) -> str:
    rest = f"\n[{report.dropped} more bytes were printed]" if report.dropped else ""
    return report.output + rest


def _capsule(message: Message, path: str) -> Capsule | None:
    ir, out_idx, configs = message.get("ir"), message.get("out_idx"), message.get("pass_configs")
    if not isinstance(ir, str) or not isinstance(configs, dict):
        return None
    if out_idx is not None and not (isinstance(out_idx, list) and all(type(i) is int for i in out_idx)):
        return None
    return Capsule(ir, None if out_idx is None else tuple(out_idx), configs, path)


def _death(report: Report) -> Problem:
    doing = "tracing your kernel" if report.of("loaded") else "loading your file"
    if report.end is End.TIMED_OUT:
        return Problem(
            f"Your file was stopped: {doing} took longer than {report.seconds:.0f} s. Is there a loop that never ends?"
        )
    if report.end is End.SIGNALLED:
        return Problem(f"Your file ended its process while {doing}: signal {-(report.code or 0)}.")
    if report.end is End.FLOODED:
        return Problem(f"Your file sent more data than a kernel can be, while {doing}.")
    return Problem(
        f"Your file ended its process (exit status {report.code}) while {doing}. Remove calls such as os._exit()."
    )


_LOADING = "When the file is loaded, "


def _problem(message: Message) -> Problem:
    kind, text = _str(message, "type"), _str(message, "message")
    line = message.get("line") if type(message.get("line")) is int else None
    raw = _str(message, "raw") or None
    loading = message.get("stage") == "load"
    if kind == "NotAKernel":
        return Problem(text, line)
    if kind == "LaunchRefused":
        if text.startswith("puts"):
            done = f"{'the file' if loading else 'the factory'} {text}"
        else:
            done = f"{'it' if loading else 'the factory'} {text}"
        when = _LOADING if loading else ""
        advice = "Grading only traces the kernel: put trials of it under `if __name__ == '__main__':`."
        return Problem(_sentence(f"{when}{done}") + " " + advice, line)
    if kind == "SystemExit":
        return Problem(f"The file calls sys.exit({text}) while it is {'loaded' if loading else 'traced'}.", line, raw)
    if kind in ("ModuleNotFoundError", "ImportError") and message.get("module"):
        name = str(message["module"]).split(".")[0]
        return Problem(f"The file imports {name!r}, and that failed: {text}. Install it, or do without it.", line, raw)
    what = "Loading the file" if loading else "Tracing the kernel"
    return Problem(f"{what} raised {kind}: {_first_paragraph(text)}", line, raw)


def _first_paragraph(text: str) -> str:
    lines: list[str] = []
    for line in text.strip().splitlines():
        if not line.strip() and lines:
            break
        lines.append(line.rstrip())
    return "\n".join(lines[:6])[:800] or "(no message)"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _str(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name)
    return value if isinstance(value, str) else ""
