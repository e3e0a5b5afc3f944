"""Whether the threads of a block share its elements, or each of them does all the work."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import Requirement

if TYPE_CHECKING:
    from tlpuzzles.kernel.facts import Kernel
    from tlpuzzles.kernel.tile_ir import Var

_THREAD = "tl.launch_thread_idx"
_SHARING = ("tl.tileop.copy", "tl.tileop.async_copy", "tl.tileop.tma_copy")


def shared_among_threads() -> Requirement:
    """A `T.Parallel` loop or a `T.copy` deals elements out, or the kernel uses the number of the thread."""

    def check(kernel: Kernel) -> str | None:
        from tlpuzzles.kernel import tile_ir as ir
        from tlpuzzles.kernel.steps import is_grid

        if all(prod(launch.threads) == 1 for launch in kernel.launches):
            return None
        if any(step.parallel for step in kernel.steps) or any(call for op in _SHARING for call in kernel.calls(op)):
            return None
        if _uses_thread(kernel):
            return None
        store = next((step for step in kernel.steps if isinstance(step.stmt, ir.BufferStore)), None)
        if store is None or (stored := store.line) is None:
            return None
        if all(map(is_grid, store.loops)):
            return (
                f"The elements are not shared out among the threads: no loop goes over those of a block, and each of "
                f"its threads stores the same one (line {stored}). Write the loop as `for i in T.Parallel(block_N)`."
            )
        return (
            f"The elements are not shared out among the threads: each of the block's threads stores all of them (line "
            f"{stored}). A Python range and T.serial are run in full by every thread. Write the loop as "
            "`for i in T.Parallel(block_N)`."
        )

    return Requirement("shared-among-threads", "shares out the elements among the threads", check)


def _uses_thread(kernel: Kernel) -> bool:
    """Whether a statement uses a thread's number. TileLang names all three of them in every kernel."""
    from tlpuzzles.kernel import tile_ir as ir
    from tlpuzzles.kernel.steps import expressions

    numbers: set[Var] = set()
    for step in kernel.steps:
        if isinstance(step.stmt, ir.Bind) and isinstance(step.stmt.value, ir.Call) and step.stmt.value.op == _THREAD:
            numbers.add(step.stmt.var)
        elif any(
            node in numbers for expr in expressions(step.stmt) for node in ir.walk(expr) if isinstance(node, ir.Var)
        ):
            return True
    return False
