"""In a child: checks a capsule, vets the kernel in it and emits it for the CPU. What it reads may be hostile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tlpuzzles.course import catalog
from tlpuzzles.course.vocabulary import Case, Exercise, Sizes
from tlpuzzles.device.cpu.emit import Unsupported, emit
from tlpuzzles.grading.explained import unreadable
from tlpuzzles.grading.stages import fetch
from tlpuzzles.grading.submission import Problem
from tlpuzzles.kernel.capsule import Capsule, CapsuleError, digest, read
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.findings import Finding, Kind
from tlpuzzles.kernel.parameters import Parameters
from tlpuzzles.kernel.stored import output_tile
from tlpuzzles.kernel.suspects import suspect
from tlpuzzles.kernel.unset import read_before_set
from tlpuzzles.kernel.vet import Vetting, vet

Emit = Callable[[dict[str, Any]], None]


def build(job: Mapping[str, Any], tell: Emit) -> None:
    """Job: exercise, folder, emit_cpu, cases: a list of {"id", "like", "sizes", "capsule"}. Emits "built" for each."""
    # The emitter and the vet visit the IR recursively; the capsule check has bounded its depth.
    sys.setrecursionlimit(20_000)
    exercise = catalog.find(job["exercise"])
    for number, item in enumerate(job["cases"]):
        source = Path(job["folder"]) / f"{item['id']}.cpp" if job["emit_cpu"] else None
        case = exercise.case(item["like"], item["id"])
        answer = _Building(exercise, case, item["sizes"], fetch(item["capsule"]), f"kernel_{number}").run(source)
        tell({"kind": "built", "case": item["id"], **answer})


class _Building:
    def __init__(self, exercise: Exercise, case: Case, sizes: Sizes, capsule: Capsule, symbol: str) -> None:
        self._exercise, self._case, self._sizes = exercise, case, sizes
        self._capsule, self._symbol = capsule, symbol

    def run(self, source: Path | None) -> dict[str, Any]:
        """What the parent is told; `source`: where C++ for the CPU goes, if it is wanted."""
        try:
            document = read(self._capsule)
        except CapsuleError as error:
            return self._refused(unreadable(error))
        vetting = vet(
            document,
            self._exercise,
            self._case,
            self._sizes,
            self._capsule.out_idx,
            self._capsule.pass_configs,
            for_cpu=source is not None,
        )
        kernel = Kernel(document.func)
        if vetting.refusal is not None or vetting.parameters is None:
            return self._refused(_problem(vetting.refusal), self._requirements(kernel, vetting))
        if source is not None:
            try:
                source.write_text(emit(document.func, self._symbol), encoding="utf-8")
            except Unsupported as error:
                return self._refused(Problem(str(error), error.line), self._requirements(kernel, vetting))
        return {
            "problem": None,
            "race": None if vetting.failure is None or source is None else asdict(self._race(vetting.failure)),
            "unset": _unset(kernel),
            "suspect": self._suspect(kernel, vetting.parameters),
            "warnings": [
                *(_warning(warning) for warning in _warnings(kernel, vetting, on_gpu=source is None)),
                *self._advice(kernel),
            ],
            "requirements": self._requirements(kernel, vetting),
            "parameters": list(vetting.parameters.names),
            "digest": digest(document),
            "source": None if source is None else str(source),
            "symbol": self._symbol,
            "tile": output_tile(kernel, vetting.parameters),
        }

    def _requirements(self, kernel: Kernel, vetting: Vetting) -> dict[str, dict[str, Any] | None]:
        """By requirement: what is missing. None of a kernel with foreign parts, which nobody looks into."""
        if vetting.refusal is not None and vetting.refusal.kind is Kind.NOT_ALLOWED:
            return {}
        return {requirement.id: _missing(requirement.check(kernel)) for requirement in self._exercise.requirements}

    def _suspect(self, kernel: Kernel, parameters: Parameters) -> dict[str, Any] | None:
        finding = suspect(kernel, self._exercise, parameters)
        return None if finding is None else asdict(_problem(finding))

    def _advice(self, kernel: Kernel) -> list[dict[str, Any]]:
        found = (advice.check(kernel) for advice in self._exercise.advice)
        return [{**asdict(Problem(message)), "of_sizes": False} for message in found if message is not None]

    def _race(self, finding: Finding) -> Problem:
        return Problem(finding.message, finding.line, hint=self._exercise.collecting_hint if finding.collects else None)

    def _refused(
        self, problem: Problem, requirements: dict[str, dict[str, Any] | None] | None = None
    ) -> dict[str, Any]:
        return {
            "problem": asdict(problem),
            "race": None,
            "unset": None,
            "suspect": None,
            "warnings": [],
            "requirements": requirements or {},
        }


def _warnings(kernel: Kernel, vetting: Vetting, *, on_gpu: bool) -> Iterator[Finding]:
    # A GPU's own results say whether there is a race: what the vet suspects is a warning there.
    if on_gpu and vetting.failure is not None:
        yield vetting.failure
    # So is a tile that is read before it is set: a GPU's registers often hold zeros, where the CPU device has NaN.
    unset = read_before_set(kernel) if on_gpu else None
    if unset is not None:
        yield replace(
            unset, message=f"{unset.message}. On this GPU that may go well today: set it first, with T.clear or T.fill."
        )
    # Shared memory is left to the check of each GPU, which has the kernel that is traced for it.
    yield from (warning for warning in vetting.warnings if warning.kind is not Kind.SHARED_MEMORY)


def _warning(finding: Finding) -> dict[str, Any]:
    """`of_sizes`: whether other sizes may give another warning, or none."""
    return {**asdict(_problem(finding)), "of_sizes": finding.kind is Kind.REGISTERS}


def _unset(kernel: Kernel) -> dict[str, Any] | None:
    finding = read_before_set(kernel)
    return None if finding is None else asdict(_problem(finding))


def _problem(finding: Finding | None) -> Problem:
    if finding is None:
        return Problem("The kernel's parameters are not those of the exercise.")
    return Problem(finding.message, finding.line)


def _missing(message: str | None) -> dict[str, Any] | None:
    return None if message is None else asdict(Problem(message))
