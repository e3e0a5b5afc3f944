"""What is worth a word about a kernel that may well be right: it changes no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import Requirement
from tlpuzzles.kernel.findings import in_lines

if TYPE_CHECKING:
    from tlpuzzles.kernel.facts import Kernel
    from tlpuzzles.kernel.steps import Step
    from tlpuzzles.kernel.tile_ir import Call, Expr, For, Var


def has_stages() -> Requirement:
    """The loop that copies tiles for T.gemm has stages, so that copies run ahead of the products."""

    def check(kernel: Kernel) -> str | None:
        from tlpuzzles.kernel import tile_ir as ir
        from tlpuzzles.kernel.facts import region

        parameters = {buffer.data for buffer in kernel.func.buffer_map.values()}
        calls = list(_calls(kernel))
        for step, call in calls:
            loop = _innermost(step)
            if call.op != "tl.tileop.gemm" or loop is None:
                continue
            stages = loop.annotations.get("num_stages")
            if isinstance(stages, ir.IntImm) and stages.value > 0:
                continue
            factors = {region(call.args[0]).buffer.data, region(call.args[1]).buffer.data}
            for other, copy in calls:
                if copy.op == "tl.tileop.copy" and _innermost(other) is loop:
                    source, target = (region(argument).buffer.data for argument in copy.args[:2])
                    if source in parameters and target in factors:
                        return (
                            f"The loop{in_lines(loop.line)} has no stages, so copies and products take turns. "
                            "T.Pipelined(trips, num_stages=3) lets copies run ahead."
                        )
        return None

    return Requirement("has-stages", "lets copies run ahead of the products", check)


def writes_once() -> Requirement:
    """No loop copies to one place of a parameter in each of its trips."""

    def check(kernel: Kernel) -> str | None:
        from tlpuzzles.kernel.facts import region

        parameters = {buffer.data for buffer in kernel.func.buffer_map.values()}
        for step, call in _calls(kernel):
            loop = _innermost(step)
            if call.op != "tl.tileop.copy" or loop is None or step.conditions:
                continue
            target = region(call.args[1])
            if target.buffer.data not in parameters or _follows(target.mins, loop, kernel.names):
                continue
            return (
                f"The copy to {target.buffer.name}{in_lines(step.line)} stands in the loop{in_lines(loop.line)}: each "
                "trip writes the same place again, and only the last one counts. Copy once, after the loop."
            )
        return None

    return Requirement("writes-once", "writes its result once", check)


def _calls(kernel: Kernel) -> Iterator[tuple[Step, Call]]:
    return ((step, step.call) for step in kernel.steps if step.call is not None)


def _innermost(step: Step) -> For | None:
    """The loop of several trips, one after the other, that the statement stands in."""
    from tlpuzzles.kernel import tile_ir as ir
    from tlpuzzles.kernel.values import constant

    loops = [loop for loop in step.loops if loop.kind is ir.LoopKind.SERIAL and constant(loop.extent) not in (0, 1)]
    return loops[-1] if loops else None


def _follows(places: tuple[Expr, ...], loop: For, names: dict[Var, Expr]) -> bool:
    """Whether they change with the loop's trips, or may: what is read from memory can hold anything."""
    from tlpuzzles.kernel import tile_ir as ir

    open_: list[ir.Node] = list(places)
    while open_:
        for node in ir.walk(open_.pop()):
            if node is loop.loop_var or isinstance(node, ir.BufferLoad):
                return True
            if isinstance(node, ir.Var) and node in names:
                open_.append(names[node])
    return False
