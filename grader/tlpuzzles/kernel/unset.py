"""Which tile a kernel reads before anything in it sets the tile: the name behind a result that depends on leftovers."""

from __future__ import annotations

from collections.abc import Iterator

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import TILE_OP, Kernel
from tlpuzzles.kernel.findings import Finding, Kind, Severity, in_lines
from tlpuzzles.kernel.steps import Access, Touch, accesses

NEVER_FILLED = "nothing is ever copied into it"
"""Part of what is said of a tile that no statement writes to."""

_REDUCE_CLEARS = 4
"""Argument of `tl.tileop.reduce` that says whether it clears its target first."""
_GEMM_CLEARS = 9
"""... and of `tl.tileop.gemm`."""


def read_before_set(kernel: Kernel) -> Finding | None:
    """The first tile, in program order, that is read before any statement writes to it; None if there is none.

    A tile of which only a part is set is not found. Right kernels may read what they then throw away, so this is said
    only where a run has shown that the result depends on it.
    """
    written: set[ir.Var] = set()
    for step in kernel.steps:
        touched = [access for access in accesses(step) if access.buffer.scope != ir.Scope.GLOBAL]
        for access in touched:
            if _reads(access) and access.buffer.data not in written:
                return _finding(access, _is_ever_written(kernel, access.buffer))
        written.update(access.buffer.data for access in touched if Touch.WRITE in access.touch)
    return None


def _is_ever_written(kernel: Kernel, tile: ir.Buffer) -> bool:
    return any(
        Touch.WRITE in access.touch and access.buffer.data is tile.data
        for step in kernel.steps
        for access in accesses(step)
    )


def _reads(access: Access) -> bool:
    call = access.step.call
    if call is not None and access.op == f"{TILE_OP}gemm" and Touch.WRITE in access.touch:
        return not _is_set(call, _GEMM_CLEARS)
    if call is not None and access.op == f"{TILE_OP}reduce" and Touch.WRITE in access.touch:
        return not _is_set(call, _REDUCE_CLEARS)
    return Touch.READ in access.touch


def _is_set(call: ir.Call, argument: int) -> bool:
    """Whether a flag is set, or could be."""
    flag = call.args[argument] if argument < len(call.args) else None
    return not isinstance(flag, ir.IntImm) or bool(flag.value)


def _finding(access: Access, ever_written: bool) -> Finding:
    # What a macro of TileLang's writes has no line of the learner's; the tile has.
    line = access.step.line
    where = in_lines(line)
    if line is None and access.buffer.line is not None:
        where = f"; the tile is made in line {access.buffer.line}"
    what = "is read before it is set" if ever_written else f"is read, and {NEVER_FILLED}"
    message = f"{access.buffer.name} {what} ({_how(access)}{where})"
    return Finding(Kind.UNSET, Severity.WARNS, message, line if line is not None else access.buffer.line)


def _how(access: Access) -> str:
    call = access.step.call
    name = access.op.removeprefix(TILE_OP)
    if name == "reduce" and call is not None and Touch.WRITE in access.touch:
        kind = next(iter(_texts(call)), "sum")
        return f"T.reduce_{kind} with clear=False starts from what it holds"
    if name == "gemm" and Touch.WRITE in access.touch:
        return "T.gemm adds to it"
    if access.op.startswith(TILE_OP):
        return f"T.{'reduce_' + next(iter(_texts(call)), 'sum') if name == 'reduce' and call else name} reads it"
    return "an expression reads it"


def _texts(call: ir.Call) -> Iterator[str]:
    return (argument.value for argument in call.args if isinstance(argument, ir.StringImm))
