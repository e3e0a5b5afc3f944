"""The CPU as a device for grading: emitted C++, compiled once a grading, each case run forwards and backwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from tlpuzzles.border.children import Warm
from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.device.cpu import build
from tlpuzzles.device.cpu.run import Argument, CpuRun, Job, Outcome, Tensor, run_all
from tlpuzzles.grading.devices import CPU_ARCH, Tell
from tlpuzzles.grading.stages import Built, Launch, Ran
from tlpuzzles.grading.submission import Problem
from tlpuzzles.verdict.model import Device
from tlpuzzles.verdict.poison import leftovers, poisoned

SECONDS = 30.0
"""Time limit of one run. Cases are sized to take well under a second."""


@dataclass
class Cpu:
    """Runs kernels on this machine's processor."""

    name: str
    headers: Path
    """Folder for the runtime's header in compiled form, which serves every grading of this process."""
    _sealed: str = field(default="", init=False)
    """Hash of what was put there."""

    @property
    def is_cuda(self) -> bool:
        return False

    @property
    def arch(self) -> str:
        return CPU_ARCH

    @property
    def shown(self) -> Device:
        return Device(kind="cpu", name=self.name)

    @property
    def id(self) -> str:
        return ""

    def prepare(self) -> None:
        """Compiles the header, while TileLang is still being imported and before any learner's process is there."""
        if not self._sealed:
            build.precompile_header(self.headers)
            self._sealed = _hash(self.headers)

    def alone(self, tell: Tell) -> AbstractContextManager[object]:
        """Nothing to wait for: a CPU is not timed."""
        return nullcontext()

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
        """Compiles all kernels into one library, then runs each case twice in processes of its own."""
        tell("compiling")
        sources = {launch.kernel.symbol: launch.kernel.source for launch in launches}
        try:
            # A learner's process may have been at the header since.
            headers = self.headers if _hash(self.headers) == self._sealed else None
            library = build.compile([source.read_text() for source in sources.values() if source], folder, headers)
        except build.CompilerError as error:
            failed = Ran(problem=_compiler_failed(error))
            return {launch.case.id: failed for launch in launches}
        outputs = {
            launch.case.id: [folder / f"{launch.case.id}.{way}.bin" for way in ("forwards", "backwards")]
            for launch in launches
        }
        jobs = [
            Job(library, launch.kernel.symbol, _arguments(exercise, launch, output, before), reverse, SECONDS)
            for launch in launches
            for output, before, reverse in zip(
                outputs[launch.case.id], (poisoned, leftovers), (False, True), strict=True
            )
        ]
        runs = run_all(jobs, lambda number: tell(launches[number // 2].case.title))
        return {
            launch.case.id: _ran(outputs[launch.case.id], *runs[2 * number : 2 * number + 2])
            for number, launch in enumerate(launches)
        }


def _ran(outputs: Sequence[Path], forwards: CpuRun, backwards: CpuRun) -> Ran:
    """What a run and one backwards make of a case. A kernel prints what it does forwards."""
    for run in (forwards, backwards):
        problem = _problem(run)
        if problem is not None:
            return Ran(problem=problem, printed=forwards.output if run.outcome is not Outcome.CRASHED else "")
    return Ran(tuple(outputs), printed=forwards.output)


def _arguments(exercise: Exercise, launch: Launch, output: Path, before: Callable[[str, int], bytes]) -> list[Argument]:
    """`before`: gives what the output holds before the run."""
    specs = {spec.name: spec for spec in (*exercise.inputs, exercise.output)}
    dtype = launch.case.dtype
    arguments: list[Argument] = []
    for name in launch.kernel.parameters:
        shape = specs[name].sizes(launch.kernel.sizes)
        if name == exercise.output.name:
            count = 1
            for extent in shape:
                count *= extent
            output.write_bytes(before(dtype, count))
            arguments.append(Tensor(output, shape, dtype))
        else:
            arguments.append(Tensor(launch.inputs[name], shape, dtype))
    return arguments


def _problem(ran: CpuRun) -> Problem | None:
    if ran.outcome is Outcome.FINISHED:
        return None
    if ran.violation is not None:
        v = ran.violation
        return Problem(
            f"The kernel uses index {v.index} of {v.buffer} in dimension {v.dimension}, where it has {v.extent} "
            f"elements (0 to {v.extent - 1}). On a GPU nothing stops this: it reads or overwrites something else.",
            ran.line,
        )
    if ran.outcome is Outcome.ASSERTION:
        return Problem(f"An assertion of the kernel does not hold: {ran.message or 'no message'}.", ran.line)
    if ran.outcome is Outcome.TIMED_OUT:
        return Problem(f"The kernel ran for {SECONDS:.0f} s and was stopped. Is there a loop that never ends?")
    if ran.outcome is Outcome.OUT_OF_MEMORY:
        return Problem("The kernel asks for more memory than a grading gives it.")
    how = f"signal {ran.signal}" if ran.signal is not None else "without a report"
    return Problem(f"The kernel crashed on the CPU ({how}).", raw=ran.output or None)


def _hash(folder: Path) -> str:
    """Of all files below a folder, their names and contents."""
    total = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(f"{file.relative_to(folder)}\0{file.stat().st_size}\0".encode())
        total.update(file.read_bytes())
    return total.hexdigest()


def _compiler_failed(error: build.CompilerError) -> Problem:
    if build.find_compiler() is None:
        message = "No C++ compiler was found, and a grading without a GPU needs one: install g++ or clang."
    else:
        message = "The C++ made of this kernel did not compile, which is a fault of the grader, not of your kernel."
    return Problem(message, raw=str(error), ours=True)


def processor() -> str:
    """The processor's name, for the report."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "CPU") or "CPU"
