"""Whether a kernel does something, writes its result, and leaves its inputs alone."""

from __future__ import annotations

from collections.abc import Iterator

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import TILE_OP, Kernel
from tlpuzzles.kernel.findings import Finding, Kind, Severity
from tlpuzzles.kernel.parameters import Parameters
from tlpuzzles.kernel.steps import Access, Step, Touch, accesses

_ATOMIC = "atomic"


def nothing_done(kernel: Kernel, exercise: Exercise) -> Finding | None:
    """The finding for a kernel without a launch, or without a statement in one."""
    if not kernel.launches:
        return Finding(
            Kind.EMPTY,
            Severity.REFUSED,
            "The kernel has no `with T.Kernel(...)`, so it launches nothing on the GPU.",
            kernel.func.line,
        )
    if any(map(_does_something, (step.stmt for step in kernel.steps))):
        return None
    body = "only allocates tiles" if kernel.tiles else "is empty"
    return Finding(
        Kind.EMPTY,
        Severity.REFUSED,
        f"The kernel does nothing: the body of `with T.Kernel(...)` {body}. Write {exercise.output.name} in it.",
        kernel.launches[0].line,
    )


def _does_something(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.BufferStore) or (isinstance(stmt, ir.Evaluate) and not isinstance(stmt.value, ir.IntImm))


def outside_launch(kernel: Kernel) -> Iterator[Finding]:
    """Statements that stand beside `with T.Kernel(...)` and not in it."""
    for step in kernel.steps:
        if step.launch is None and _does_something(step.stmt):
            yield Finding(
                Kind.NOT_ALLOWED,
                Severity.REFUSED,
                "This line works on tensors outside of `with T.Kernel(...)`. Move it in: only that runs on the GPU.",
                step.line,
            )


def written(kernel: Kernel, parameters: Parameters) -> Iterator[Finding]:
    """Writes to inputs; no write to the output; additions to an output that nothing has set."""
    names = {buffer.data: name for name, buffer in parameters.buffers.items()}
    writes = [a for step in kernel.steps for a in accesses(step) if Touch.WRITE in a.touch and a.buffer.data in names]
    output = parameters.output
    to_output = [write for write in writes if names[write.buffer.data] == output]
    to_inputs = [write for write in writes if names[write.buffer.data] != output]
    if not to_output:
        yield _not_written(kernel, parameters, to_inputs)
        return
    for write in to_inputs:
        yield Finding(
            Kind.INPUT_WRITTEN,
            Severity.REFUSED,
            f"The kernel writes to {write.buffer.name}, which is an input and must stay as it is. Write to "
            f"{parameters.buffers[output].name}, or to a tile from T.alloc_shared or T.alloc_fragment.",
            write.step.line,
        )
    if all(map(_adds, to_output)):
        yield Finding(
            Kind.OUTPUT_NOT_WRITTEN,
            Severity.FAILS,
            f"The kernel only adds to {to_output[0].buffer.name} (atomically) and never sets it first. A result tensor "
            "starts with whatever was in its memory; in a grading it starts as NaN. Let one block own each element.",
            to_output[0].step.line,
        )


def _adds(write: Access) -> bool:
    return _ATOMIC in write.op and "atomic_store" not in write.op


def comparisons(kernel: Kernel, data: ir.Var | None = None) -> Iterator[Finding]:
    """Statements that compare with == and do nothing with the answer; those with an element of one buffer only."""
    for step in kernel.steps:
        stmt = step.stmt
        if not isinstance(stmt, ir.Evaluate) or not isinstance(stmt.value, ir.EQ):
            continue
        if any(isinstance(n, ir.BufferLoad) and data in (None, n.buffer.data) for n in ir.walk(stmt.value)):
            where = "A line" if step.line is None else f"Line {step.line}"
            message = (
                f"{where} compares by ==, which stores nothing. Write = to store the right side into the left one."
            )
            yield Finding(Kind.SUSPECT, Severity.WARNS, message, step.line)


def _copies_out(kernel: Kernel, output: ir.Buffer) -> Iterator[Step]:
    for step in kernel.steps:
        for access in accesses(step):
            if access.op == f"{TILE_OP}copy" and access.touch is Touch.READ and access.buffer.data is output.data:
                yield step


def _not_written(kernel: Kernel, parameters: Parameters, elsewhere: list[Access]) -> Finding:
    output = parameters.buffers[parameters.output]
    message = f"The kernel never writes its result {output.name}."
    line = output.line
    if elsewhere:
        target = elsewhere[0].buffer
        position = next(i for i, name in enumerate(parameters.names) if parameters.buffers[name].data is target.data)
        place = "-1" if position == len(parameters.names) - 1 else str(position)
        message += f" It writes {target.name}: if that is the result, declare it with out_idx=[{place}]."
        line = elsewhere[0].step.line
    elif (compared := next(comparisons(kernel, output.data), None)) is not None:
        message, line = f"{message} {compared.message}", compared.line
    elif (copy := next(_copies_out(kernel, output), None)) is not None:
        where = "A line" if copy.line is None else f"Line {copy.line}"
        message += (
            f" {where} copies out of {output.name}: T.copy reads from what it is given first and writes to what it is "
            "given second."
        )
        line = copy.line
    return Finding(Kind.OUTPUT_NOT_WRITTEN, Severity.REFUSED, message, line)
