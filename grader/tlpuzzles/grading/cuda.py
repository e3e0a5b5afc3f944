"""A GPU as a device for grading: compiled side by side, run one case after another in a process that may die."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tlpuzzles.border.children import Warm
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import End, Message, Report
from tlpuzzles.catalogue.explanation import Explanation, Fault
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.cuda.lock import gpu_lock
from tlpuzzles.device.cuda.model import Argument, LaunchCase, Role, RunOutcome, poisons
from tlpuzzles.device.cuda.printing import of_launches, unmarked
from tlpuzzles.grading import caches
from tlpuzzles.grading.ahead import compile_ahead
from tlpuzzles.grading.devices import Tell
from tlpuzzles.grading.explained import in_words
from tlpuzzles.grading.stages import Built, Launch, Ran
from tlpuzzles.grading.submission import Problem
from tlpuzzles.verdict.model import Device
from tlpuzzles.verdict.poison import POISON_BITS

COMPILE = Limits(seconds=240, memory=None)
RUN = Limits(seconds=240, silence=30, memory=None)


@dataclass
class Cuda:
    """Runs kernels on the GPU at hand."""

    name: str
    gpu_arch: str
    uuid: str | None = None
    """By which the driver knows it."""
    driver: str | None = None

    @property
    def is_cuda(self) -> bool:
        return True

    @property
    def arch(self) -> str:
        return self.gpu_arch

    @property
    def shown(self) -> Device:
        return Device(kind="cuda", name=self.name, arch=self.gpu_arch)

    @property
    def id(self) -> str:
        return f"{self.uuid} {self.driver}"

    def prepare(self) -> None:
        """Nothing: a GPU must not be opened before the kernel's own process is forked."""

    @contextmanager
    def alone(self, tell: Tell) -> Iterator[None]:
        """The lock of this GPU."""
        with gpu_lock(self.uuid or self.name, tell) as outcome:
            if outcome.why:
                tell(outcome.why)
            yield

    def run(
        self,
        exercise: Exercise,
        launches: Sequence[Launch],
        folder: Path,
        warm: Warm,
        tell: Tell,
        *,
        timed: Sequence[Built] = (),
    ) -> dict[str, Ran]:
        """Compiles in one child, then runs the cases in another; after each death the rest go on in a new one."""
        compiled = (*(launch.kernel for launch in launches), *timed)
        kernels = {kernel.symbol: str(kernel.capsule) for kernel in compiled}
        job: dict[str, Any] = {"arch": self.gpu_arch, "kernels": kernels, "cases": []}
        died = self._compile([kernel.capsule for kernel in compiled], job, folder, warm, tell)
        if died is not None:
            return {launch.case.id: Ran(problem=died) for launch in launches}
        job["kernels"] = {launch.kernel.symbol: kernels[launch.kernel.symbol] for launch in launches}
        with self.alone(tell):
            return self._run(exercise, launches, folder, warm, tell, job)

    def _compile(
        self, capsules: Sequence[Path], job: dict[str, Any], folder: Path, warm: Warm, tell: Tell
    ) -> Problem | None:
        """Compiles into the cache, unless an earlier grading has compiled all of it. Returns what ended the child."""
        question = {"compiled for": self.gpu_arch, "kernels": sorted(map(_digest, capsules))}
        if caches.kernels() is not None and caches.recall(question) is True:
            return None
        done = refused = 0

        def count(message: Message) -> None:
            nonlocal done, refused
            refused += message.get("event") == "not compiled"
            done += message.get("event") in ("compiled", "not compiled")
            tell(f"compiling, {done} of {len(job['kernels'])} done")

        tell(f"compiling {len(job['kernels'])} kernels")
        compile_ahead(warm, self.gpu_arch, capsules, folder)
        report = warm.run("cuda", job, COMPILE, folder, sees_gpu=True, on_message=count, cache=caches.kernels())
        if report.end in (End.EXITED, End.SIGNALLED):
            # TileLang 0.1.15 compiles in several threads. On a machine with many cores at work that has ended a process
            # now and then, and not the next with the same kernels. What was compiled is in the cache.
            done = refused = 0
            tell("the compiler ended its process: once more")
            report = warm.run("cuda", job, COMPILE, folder, sees_gpu=True, on_message=count, cache=caches.kernels())
        if report.end is not End.FINISHED:
            return _died_compiling(report)
        if done == len(job["kernels"]) and not refused:
            caches.keep(question, True)
        return None

    def _run(
        self,
        exercise: Exercise,
        launches: Sequence[Launch],
        folder: Path,
        warm: Warm,
        tell: Tell,
        job: dict[str, Any],
    ) -> dict[str, Ran]:
        titles = {launch.case.id: launch.case.title for launch in launches}
        outputs = {launch.case.id: folder / f"{launch.case.id}.cuda.bin" for launch in launches}
        waiting = {launch.case.id: _case(exercise, launch, outputs[launch.case.id]) for launch in launches}
        answers: dict[str, Ran] = {}
        while waiting:
            job["cases"] = [case.to_json() for case in waiting.values()]
            report = warm.run(
                "cuda",
                job,
                RUN,
                folder,
                sees_gpu=True,
                on_message=lambda m: tell(titles.get(m.get("case", ""), "")),
                cache=caches.kernels(),
            )
            found = _read(report, outputs)
            if not found:
                found = {case: Ran(problem=_died(report)) for case in waiting}
            answers.update(found)
            waiting = {id_: case for id_, case in waiting.items() if id_ not in found}
        return answers


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _case(exercise: Exercise, launch: Launch, output: Path) -> LaunchCase:
    specs = {spec.name: spec for spec in (*exercise.inputs, exercise.output)}
    arguments = []
    for name in launch.kernel.parameters:
        is_output = name == exercise.output.name
        role, path = (Role.OUTPUT, output) if is_output else (Role.INPUT, launch.inputs[name])
        shape = specs[name].sizes(launch.kernel.sizes)
        arguments.append(Argument(name, role, str(path), launch.case.dtype, shape))
    return LaunchCase(launch.case.id, launch.kernel.symbol, tuple(arguments), _poisons(launch.case.dtype))


def _poisons(dtype: str) -> tuple[int, ...]:
    """As `poisons`, with the pattern by which the judge knows what was never written."""
    unwritten = POISON_BITS[dtype]
    return tuple(unwritten if bits == poisons(dtype)[0] else bits for bits in poisons(dtype))


def _read(report: Report, outputs: dict[str, Path]) -> dict[str, Ran]:
    """What is known of each case that was begun."""
    found: dict[str, Ran] = {}
    begun: str | None = None
    nonce = next((message["nonce"] for message in report.of("prints")), "")
    printed = of_launches(report.output, nonce)
    for message in report.of("cuda"):
        if message.get("event") == "started":
            begun = message["case"]
        elif message.get("event") == "ran":
            begun = None
            found[message["case"]] = _ran(message, outputs[message["case"]])
    if begun is not None:
        found[begun] = Ran(problem=_died(report))
    return {case: Ran(ran.outputs, ran.problem, printed.get(case, "")) for case, ran in found.items()}


def _ran(message: Message, output: Path) -> Ran:
    if RunOutcome(message["outcome"]) is RunOutcome.RAN:
        return Ran((output,))
    told = message["explanation"]
    return Ran(problem=in_words(Explanation(**{**told, "fault": Fault(told["fault"])})))


def _died(report: Report) -> Problem:
    if report.end is End.TIMED_OUT:
        return Problem(
            f"The kernel hangs: it gave no answer for {RUN.silence:.0f} s and was stopped. Is there a loop that never "
            "ends, or a barrier that not all threads reach?"
        )
    return Problem(
        f"The kernel ended the process that ran it ({_how(report)}).", raw=unmarked(report.output)[-2000:] or None
    )


def _died_compiling(report: Report) -> Problem:
    if report.end is End.TIMED_OUT:
        return Problem(f"Compiling the kernels took longer than {COMPILE.seconds:.0f} s and was stopped.")
    return Problem(
        f"TileLang's compiler ended its process ({_how(report)}) while it compiled the kernel.",
        raw=report.output[-2000:] or None,
    )


def _how(report: Report) -> str:
    return f"signal {-report.code}" if report.code is not None and report.code < 0 else f"exit status {report.code}"
