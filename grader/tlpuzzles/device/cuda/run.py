"""Runs compiled kernels on the GPU, in a process that may die: it holds inputs and outputs, and no expectation.

Every message is emitted as soon as it is known, so that the parent of a process that died knows in which case.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from tlpuzzles.catalogue.explanation import UNKNOWN, Explanation
from tlpuzzles.catalogue.launching import LAUNCHING
from tlpuzzles.device.cuda import memory, printing
from tlpuzzles.device.cuda.compiling import Compiled, Emit, Source, compile_kernels
from tlpuzzles.device.cuda.explain import explain
from tlpuzzles.device.cuda.model import LaunchCase, Ran, Role, RunOutcome
from tlpuzzles.kernel import tile_ir as ir


def run(sources: Mapping[str, Source], cases: Sequence[LaunchCase], arch: str, emit: Emit) -> list[str]:
    """Compiles the kernels and runs the cases in order. Returns the cases that need a new process, after a crash.

    Emits what `compile_kernels` does, then {"event": "started", "case": id} before a case and {"event": "ran",
    **Ran.to_json()} after it. Raises OSError where a file cannot be read or written.
    """
    kernels = compile_kernels(sources, arch, emit, called=bool(cases))
    for position, case in enumerate(cases):
        emit({"event": "started", "case": case.id})
        kernel = kernels[case.kernel]
        if isinstance(kernel, Explanation):
            emit({"event": "ran", **Ran(case.id, RunOutcome.NOT_COMPILED, kernel).to_json()})
            continue
        ran = run_case(kernel, case, arch, sources[case.kernel].document.func, torch.device("cuda"))
        emit({"event": "ran", **ran.to_json()})
        if ran.outcome is RunOutcome.CRASHED:
            return [later.id for later in cases[position + 1 :]]
    return []


def run_case(kernel: Compiled, case: LaunchCase, arch: str, func: ir.PrimFunc, device: torch.device) -> Ran:
    """Launches a kernel once for each poison and looks at what it did to its tensors; writes the first output."""
    start = time.monotonic()
    try:
        outcome, explanation, detail = _launches(kernel, case, uses_atomics(func), device)
    except (RuntimeError, ValueError, TypeError) as error:
        outcome, explanation, detail = *_error(str(error), arch, func, device), {}
    return Ran(case.id, outcome, explanation, time.monotonic() - start, detail)


def uses_atomics(func: ir.PrimFunc) -> bool:
    """Whether the order of additions, and so the last bits of the output, is left to the GPU."""
    return any(isinstance(node, ir.Call) and "atomic" in node.op for node in ir.walk(func))


_Found = tuple[RunOutcome, "Explanation | None", "dict[str, Any]"]


def _launches(kernel: Compiled, case: LaunchCase, atomics: bool, device: torch.device) -> _Found:
    originals: dict[str, torch.Tensor] = {}
    tensors: dict[str, torch.Tensor] = {}
    for argument in case.arguments:
        dtype = memory.dtype_of(argument.dtype)
        if argument.role is Role.INPUT:
            originals[argument.name] = memory.read(argument.path, dtype, argument.shape)
            tensors[argument.name] = originals[argument.name].to(device, copy=True)
        else:
            output, path = memory.Guarded(argument.shape, dtype, device), argument.path
            tensors[argument.name] = output.tensor
    first: torch.Tensor | None = None
    differing: dict[RunOutcome, _Found] = {}
    for number, pattern in enumerate(case.poisons):
        output.poison(pattern)
        with printing.launch(case.id, number):
            kernel.call(*tensors.values())
            _wait(device)
        if first is None:
            first = output.bits.clone()
            memory.write(output.tensor, path)
        side = output.overrun()
        if side is not None:
            return _wrote_outside(side)
        found = None if atomics else _compared(first, output.bits, case.poisons[0], pattern)
        if found is not None:
            differing.setdefault(found[0], found)
    changed = next(_changed(originals, tensors), None)
    # A race also makes launches on another poison differ, so it is the better explanation.
    return changed or differing.get(RunOutcome.UNSTABLE) or next(iter(differing.values()), (RunOutcome.RAN, None, {}))


def _compared(first: torch.Tensor, now: torch.Tensor, first_poison: int, poison: int) -> _Found | None:
    different = first != now
    if poison != first_poison:
        # What the kernel left unwritten holds the poison of each launch; that is the judge's to find.
        unwritten = first == memory.as_signed(first_poison, first.dtype)
        different &= ~(unwritten & (now == memory.as_signed(poison, first.dtype)))
    count = int(different.sum())
    if count == 0:
        return None
    detail = {"different": count, "elements": first.numel()}
    if poison != first_poison:
        message = f"{count} of {first.numel()} elements of the output depend on what it held before the kernel ran"
        fix = "Set every element of the output without reading it; start sums from T.clear or T.fill"
        return RunOutcome.READS_OUTPUT, _plain("reads-output", message, fix), detail
    message = f"Launched again on the same inputs, the kernel gave other values in {count} of {first.numel()} elements"
    fix = (
        "Two threads or blocks use one place at the same time (a race). Look for stores that several of them make, and "
        "for a shared tile that is overwritten while others still read it (T.sync_threads, or another tile)"
    )
    return RunOutcome.UNSTABLE, _plain("unstable", message, fix), detail


def _changed(originals: Mapping[str, torch.Tensor], tensors: Mapping[str, torch.Tensor]) -> Iterator[_Found]:
    for name, original in originals.items():
        difference = memory.first_difference(tensors[name].cpu(), original)
        if difference is not None:
            count, index = difference
            message = f"The kernel changed its input {name}: {count} elements, the first at {list(index)}"
            fix = "Write to the output only; work on a copy of the input in shared memory or a fragment"
            detail = {"input": name, "different": count, "first": list(index)}
            yield RunOutcome.INPUT_CHANGED, _plain("input-changed", message, fix), detail


def _wrote_outside(side: str) -> _Found:
    message = f"The kernel wrote to memory {side} its output"
    fix = "Check the indices of its stores, above all in the first and the last block"
    return RunOutcome.WROTE_OUTSIDE, _plain("wrote-outside", message, fix), {"side": side}


def _plain(name: str, message: str, fix: str) -> Explanation:
    return Explanation(name, message, fix, "")


_OUTCOMES = {
    "shared-memory": RunOutcome.TOO_MUCH_SHARED_MEMORY,
    "gpu-memory": RunOutcome.OUT_OF_MEMORY,
    "driver-too-old": RunOutcome.MACHINE,
    "registers": RunOutcome.REFUSED,
    "launch-configuration": RunOutcome.REFUSED,
}
"""What a known message at launch means for the case; the other messages come when the GPU has stopped the kernel."""


def outcome_of(explanation: Explanation) -> RunOutcome | None:
    """What a message at launch means for its case; None if it is not a known one."""
    return None if explanation.id == UNKNOWN else _OUTCOMES.get(explanation.id, RunOutcome.CRASHED)


def _error(raw: str, arch: str, func: ir.PrimFunc, device: torch.device) -> tuple[RunOutcome, Explanation]:
    explanation = explain(raw, arch, func, LAUNCHING)
    outcome = outcome_of(explanation)
    if outcome is RunOutcome.OUT_OF_MEMORY:
        torch.cuda.empty_cache()
    if outcome is not None:
        return outcome, explanation
    return RunOutcome.REFUSED if _answers(device) else RunOutcome.CRASHED, explanation


def _answers(device: torch.device) -> bool:
    """Whether this process can still use the GPU; after a fault it cannot."""
    try:
        _wait(device)
    except RuntimeError:
        return False
    return True


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
