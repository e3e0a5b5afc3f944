"""The judge: draws the inputs of a case, knows what must come out, and says what is wrong with what did.

These functions run in a process that holds seeds and references. No learner's line of Python and no learner's kernel
runs in it; outputs reach it as files of raw bytes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tlpuzzles.course.functions import Fault
from tlpuzzles.course.prints import printed_lines
from tlpuzzles.course.unwritten import NEVER_WRITTEN
from tlpuzzles.course.vocabulary import Case, Exercise, Mistake, Sizes, Tolerance
from tlpuzzles.verdict.compare import Comparison, compare, is_borderline, is_leftover, is_poison, same_bits
from tlpuzzles.verdict.explain import Answer, explain
from tlpuzzles.verdict.judgement import CaseJudgement, Judgement
from tlpuzzles.verdict.model import Detail, Verdict
from tlpuzzles.verdict.order import Dependence, Finding, Runs, compare_runs
from tlpuzzles.verdict.posed import Posed, WrongSizeError, raw

if TYPE_CHECKING:
    import torch

MISTAKE_FACTOR = 4.0
"""An output equals a mistake within so many times the tolerance: it is summed in another order and precision, too."""

NAMED_FLOPS = 2e9
"""Larger problems are not held against the mistakes, whose outputs take longer to compute than people like to wait: the
exercise's smaller cases name them."""

MANY = 1 << 18
"""Elements of an output that is not held against every mistake once a smaller case has failed: it takes a tenth of a
second for each, and almost always equals the one that the smaller case equalled, or none."""

SAMPLE = 4096
"""Elements by which it is first looked whether an output may equal a mistake."""


def draw(exercise: Exercise, case: Case, sizes: Sizes, seed: int, folder: Path) -> list[Path]:
    """Writes the inputs of a case into `folder`, each to NAME.bin: C-contiguous, little-endian, in the case's dtype.

    The files are in the order of `exercise.inputs`. Raises ValueError if the exercise draws what it must not.
    """
    files = []
    for name, tensor in _posed(exercise, case, sizes, seed).inputs.items():
        files.append(folder / f"{name}.bin")
        files[-1].write_bytes(raw(tensor))
    return files


def expect(exercise: Exercise, case: Case, sizes: Sizes, seed: int) -> torch.Tensor:
    """The output that the case must have: float64, of the shape in the contract."""
    return _posed(exercise, case, sizes, seed).expected


def changed_inputs(exercise: Exercise, case: Case, sizes: Sizes, seed: int, files: Sequence[Path]) -> list[str]:
    """Names of the inputs whose files no longer hold, bit for bit, what `draw` wrote into them."""
    inputs = _posed(exercise, case, sizes, seed).inputs
    return [
        name for (name, tensor), file in zip(inputs.items(), files, strict=True) if file.read_bytes() != raw(tensor)
    ]


def judge(
    exercise: Exercise,
    case: Case,
    sizes: Sizes,
    seed: int,
    found_file: Path,
    second_file: Path | None = None,
    *,
    tile: tuple[int, ...] | None = None,
    cause: str = "",
    equalled: Collection[str | None] | None = None,
) -> CaseJudgement:
    """Judges the output of a case, and that of a second run with blocks and threads in reverse if there was one.

    The files hold the raw bytes of the output in the case's dtype, which held poison before the first run and leftovers
    before the second (see poison.py). `tile`: what the kernel stores at a time, for the map of a wrong output. `cause`:
    what most likely makes it wrong, if it is and equals no known mistake; empty if unknown. `equalled`: ids of the
    mistakes that earlier cases equalled; None if none of those has failed.
    """
    posed = _posed(exercise, case, sizes, seed)
    try:
        first = posed.read(found_file)
        second = _second(posed, first, second_file) if second_file is not None else None
    except WrongSizeError as error:
        message = f"The kernel's run left {error}."
        return CaseJudgement(output=Judgement(verdict=Verdict.FAILED, message=message, detail=_detail(posed)))
    comparison = _compare(posed, first)
    if second is None:
        return CaseJudgement(output=_judge(posed, first, comparison, tile, cause, equalled))
    if same_bits(first, second):
        finding = Finding(Dependence.NOTHING)
    else:
        runs = Runs(exercise.output, first, second, posed.expected, (comparison, _compare(posed, second)))
        finding = compare_runs(runs, case.dtype, posed.tolerance)
    return CaseJudgement(
        output=_judge(posed, first, comparison, tile, cause, equalled, finding), order=_order(posed, finding)
    )


def judge_printed(exercise: Exercise, case: Case, sizes: Sizes, seed: int, output: str) -> Fault | None:
    """What is wrong with what one launch of a case printed on the device."""
    assert exercise.printing is not None
    inputs = {name: tensor.double() for name, tensor in _posed(exercise, case, sizes, seed).inputs.items()}
    return exercise.printing.judge(printed_lines(output), inputs, sizes)


def dump(
    folder: Path,
    exercise: Exercise,
    case: Case,
    sizes: Sizes,
    seed: int,
    found_file: Path,
    second_file: Path | None = None,
) -> list[Path]:
    """Writes inputs, expectation and output of a case as folder/CASE/NAME.pt, for `torch.load`; returns the files.

    What lies there under such a name is replaced, and not followed if it is a link. Raises WrongSizeError for an output
    of another size.
    """
    import torch

    posed = _posed(exercise, case, sizes, seed)
    tensors = {**posed.inputs, "expected": posed.expected, "found": posed.read(found_file)}
    if second_file is not None:
        tensors["found_in_reverse"] = _second(posed, tensors["found"], second_file)
    into = folder / case.id
    into.mkdir(parents=True, exist_ok=True)
    files = []
    for name, tensor in tensors.items():
        files.append(into / f"{name}.pt")
        files[-1].unlink(missing_ok=True)
        torch.save(tensor, files[-1])
    return files


def _posed(exercise: Exercise, case: Case, sizes: Sizes, seed: int) -> Posed:
    import torch

    # A process forked after its parent used torch's thread pool hangs at its next parallel operation.
    torch.set_num_threads(1)
    return Posed(exercise, case, sizes, seed)


def _second(posed: Posed, first: torch.Tensor, file: Path) -> torch.Tensor:
    """The output of the second run. What neither run wrote holds poison, as in the first."""
    second, dtype = posed.read(file), posed.case.dtype
    never = is_poison(first, dtype) & is_leftover(second, dtype)
    second[never] = first[never]
    return second


def _compare(posed: Posed, found: torch.Tensor) -> Comparison:
    comparison = compare(found, posed.expected, posed.case.dtype, posed.tolerance)
    if is_borderline(comparison, posed.tolerance) and (library := posed.library()) is not None:
        return compare(found, posed.expected, posed.case.dtype, posed.tolerance, library)
    return comparison


def _judge(
    posed: Posed,
    found: torch.Tensor,
    comparison: Comparison,
    tile: tuple[int, ...] | None,
    cause: str,
    equalled: Collection[str | None] | None,
    finding: Finding | None = None,
) -> Judgement:
    if comparison.agrees:
        error = comparison.measures.frobenius if comparison.measures else None
        return Judgement(verdict=Verdict.PASSED, detail=_detail(posed, error=error))
    dependence = finding.dependence if finding is not None else None
    answer = Answer(
        posed.exercise.output,
        posed.case.dtype,
        found,
        posed.expected,
        comparison,
        posed.tolerance,
        dependence,
        tile,
        posed.exercise.row_name,
        cause,
    )
    explanation = explain(answer, lambda: _mistake(posed, found, equalled))
    fields = explanation.detail.model_dump(exclude_none=True)
    message = explanation.message
    if finding is not None and finding.explains_first:
        message = finding.message
        fields.pop("hint", None)
    return Judgement(verdict=Verdict.FAILED, message=message, detail=_detail(posed, **fields))


def _order(posed: Posed, finding: Finding) -> Judgement:
    if finding.dependence is Dependence.NOTHING:
        return Judgement(verdict=Verdict.PASSED, detail=_detail(posed))
    region = finding.where.words if finding.where else None
    return Judgement(verdict=Verdict.FAILED, message=finding.message, detail=_detail(posed, region=region))


def _mistake(posed: Posed, found: torch.Tensor, equalled: Collection[str | None] | None) -> Mistake | None:
    """The mistake that the output is nearest to, of those that it equals and that differ from the right answer.

    Where the mistake leaves elements unwritten, they must be so, and no others.
    """
    import torch

    if posed.exercise.flops(posed.sizes, posed.case.flags) > NAMED_FLOPS:
        return None
    unwritten = is_poison(found, posed.case.dtype)
    own = posed.tolerance
    wide = Tolerance(MISTAKE_FACTOR * own.frobenius, MISTAKE_FACTOR * own.row, MISTAKE_FACTOR * own.element)
    best: tuple[float, Mistake] | None = None
    for mistake in posed.exercise.mistakes:
        if equalled is not None and found.numel() > MANY and mistake.id not in equalled:
            continue
        output = mistake.compute(posed.exact_inputs, posed.sizes, posed.case.flags)
        if output is None:
            continue
        output = output.double()
        never = output == NEVER_WRITTEN
        output = output.masked_fill(never, math.nan)
        if not torch.equal(never, unwritten) or not _resembles(found, output):
            continue
        written, meant = found.masked_fill(unwritten, 0.0), output.masked_fill(never, 0.0)
        equal = compare(written, meant, posed.case.dtype, wide)
        if not equal.agrees or equal.measures is None:
            continue
        if compare(output.to(found.dtype), posed.expected, posed.case.dtype, wide).agrees:
            continue  # the error makes no difference for these sizes
        if best is None or equal.measures.frobenius < best[0]:
            best = (equal.measures.frobenius, mistake)
    return best[1] if best else None


def _resembles(found: torch.Tensor, output: torch.Tensor) -> bool:
    """Whether a sample of elements is near: most mistakes are ruled out by it, at once."""
    import torch

    step = max(1, found.numel() // SAMPLE)
    some, others = found.flatten()[::step].double(), output.flatten()[::step].to(found.dtype).double()
    scale = others.nan_to_num(0.0, 0.0, 0.0).square().mean().sqrt()
    near = torch.isclose(some, others, rtol=0.1, atol=0.1 * float(scale), equal_nan=True)
    return float(near.double().mean()) > 0.9


def _detail(posed: Posed, **found: object) -> Detail:
    asked = {"case": posed.case.id, "seed": posed.seed, "sizes": dict(posed.sizes), "dtype": posed.case.dtype}
    return Detail.model_validate({**asked, **found})
