"""What is said of each kind of race."""

from __future__ import annotations

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.findings import Finding, Kind, Severity, listed
from tlpuzzles.kernel.meeting import Meeting
from tlpuzzles.kernel.show import show
from tlpuzzles.kernel.steps import Access, Step, Touch

_EXTREMES: dict[type[ir.Expr], str] = {ir.Max: "max", ir.Min: "min"}


def private_finding(step: Step, store: ir.BufferStore, spread: list[ir.For]) -> Finding:
    return Finding(
        Kind.PARALLEL_STORE,
        Severity.FAILS,
        f"{store.buffer.name or 'A variable'} collects a result in T.Parallel over {_variables(spread)}. On a GPU "
        "every thread has a variable of its own and sees only its share of the loop: the result is wrong without "
        f"any error. Keep the values in a fragment and collect them with {_reduction(store.value)}.",
        step.line,
        collects=True,
    )


def _variables(loops: list[ir.For]) -> str:
    return listed([loop.loop_var.name for loop in loops])


def parallel_finding(
    step: Step, store: ir.BufferStore, missing: list[ir.For], updates: bool, splits: bool, named: bool = False
) -> Finding:
    """`named`: whether the index names the missing loops, without effect."""
    element = _element(store)
    over, left_out = _variables(list(step.parallel)), _variables(missing)
    fix = f"Use {left_out} in the index, or take the loop over {left_out} away."
    if named:
        fix = f"Give each {left_out} an element of its own, or take the loop over {left_out} away."
    if updates:
        fix = f"To combine over {left_out} use {_reduction(store.value)} on a fragment that holds the values."
    start = f"The store to {element} in T.Parallel over {over} does not use {left_out}: "
    if named:
        start = f"The store to {element} in T.Parallel over {over} goes to the same element for every {left_out}: "
    if splits and updates and store.buffer.scope == ir.Scope.FRAGMENT:
        rest = (
            f"on a GPU each thread {_adds(store.value)} a copy of {element} of its own, and nothing brings the copies "
            "together, so the result is wrong without any error. "
        )
        return Finding(Kind.PARALLEL_STORE, Severity.FAILS, start + rest + fix, step.line, collects=True)
    if splits:
        rest = (
            f"on a GPU threads with different {left_out} write the same element at the same time, and the result is "
            "wrong without any error. "
        )
        return Finding(Kind.PARALLEL_STORE, Severity.FAILS, start + rest + fix, step.line, collects=updates)
    rest = "it works only because TileLang then gives all of that loop to one thread, which is slow. "
    return Finding(Kind.PARALLEL_STORE, Severity.WARNS, start + rest + fix, step.line)


def meeting_finding(step: Step, store: ir.BufferStore, met: Meeting) -> Finding:
    loops = list(step.parallel)
    over, place = _variables(loops), _place(store, met)
    first, second = _at(loops, met.first), _at(loops, met.second)
    start = f"The store to {_element(store)} in T.Parallel over {over} reaches {place} with {first} and with {second}: "
    if not met.updates:
        rest = (
            "on a GPU different threads write different values to it at the same time, and any of them may stay. Give "
            f"each {over} an element of its own."
        )
    elif store.buffer.scope == ir.Scope.FRAGMENT:
        rest = (
            f"on a GPU each thread {_adds(store.value)} a copy of it of its own, and nothing brings the copies "
            f"together, so the result is wrong without any error. Combine with {_reduction(store.value)} along one "
            "dimension of a fragment that holds the values."
        )
    else:
        rest = (
            "on a GPU different threads read it, and then write it, at the same time, so that updates are lost and the "
            f"result is wrong without any error. Combine with {_reduction(store.value)} along one dimension of a "
            f"fragment that holds the values, or with {_atomic(store.value)}."
        )
    return Finding(Kind.PARALLEL_STORE, Severity.FAILS, start + rest, step.line, collects=met.updates)


def table_finding(step: Step, store: ir.BufferStore) -> Finding:
    over = _variables(list(step.parallel))
    return Finding(
        Kind.PARALLEL_STORE,
        Severity.WARNS,
        f"The store to {_element(store)} in T.Parallel over {over} updates an element whose place is read from memory. "
        f"If that is the same for two iterations, updates are lost on a GPU: use {_atomic(store.value)}.",
        step.line,
    )


def threads_finding(step: Step, store: ir.BufferStore, met: Meeting, threads: tuple[int, ...]) -> Finding:
    first, second = (_thread(who, threads) for who in (met.first, met.second))
    return Finding(
        Kind.UPDATE,
        Severity.FAILS,
        f"This update of {_element(store)} is outside of T.Parallel, where threads make it each for itself: threads "
        f"{first} and {second} of a block both read {_place(store, met)}, and then write it, at the same time. On a "
        f"GPU updates are lost, and the result is wrong without any error. Combine with {_reduction(store.value)} on a "
        f"fragment that holds the values or with {_atomic(store.value)}, or let one thread do all of it: "
        "`if tx == 0:`, with tx = T.get_thread_binding().",
        step.line,
        collects=True,
    )


def blocks_finding(step: Step, store: ir.BufferStore, met: Meeting, grid: tuple[ir.For, ...]) -> Finding:
    first, second = (_at(list(grid), who) for who in (met.first, met.second))
    return Finding(
        Kind.UPDATE,
        Severity.FAILS,
        f"This update of {_element(store)} is made by several blocks: those with {first} and with {second} both read "
        f"{_place(store, met)}, and then write it. On a GPU blocks run at the same time, so that updates are lost and "
        f"the result is wrong without any error. Let one block own each element, or use {_atomic(store.value)}.",
        step.line,
    )


def _element(of: ir.BufferStore | Access) -> str:
    return f"{of.buffer.name}[{', '.join(map(show, of.indices))}]"


def _place(store: ir.BufferStore, met: Meeting) -> str:
    return f"{store.buffer.name}[{', '.join(map(str, met.element))}]"


def _at(loops: list[ir.For], values: tuple[int, ...]) -> str:
    names = [loop.loop_var.name for loop in loops]
    return f"{names[0]} = {values[0]}" if len(names) == 1 else f"({', '.join(names)}) = {values}"


def _thread(place: tuple[int, ...], threads: tuple[int, ...]) -> str:
    """Its number, or its place in the dimensions that the block has."""
    dimensions = max((axis for axis, extent in enumerate(threads, 1) if extent > 1), default=1)
    return str(place[0]) if dimensions == 1 else str(place[:dimensions])


def _atomic(value: ir.Expr) -> str:
    return f"T.atomic_{_EXTREMES.get(type(value), 'add')}"


def _adds(value: ir.Expr) -> str:
    return "adds to" if isinstance(value, (ir.Add, ir.Sub)) else "updates"


def _reduction(value: ir.Expr) -> str:
    return f"T.reduce_{_EXTREMES.get(type(value), 'sum')}"


def fragment_finding(access: Access, severity: Severity) -> Finding:
    element = _element(access)
    done = "written" if Touch.WRITE in access.touch else "read"
    consequence = (
        "On a GPU the result is wrong without any error."
        if severity is Severity.FAILS
        else "On a GPU the result can be wrong without any error, depending on the layout that TileLang picks."
    )
    return Finding(
        Kind.FRAGMENT_ACCESS,
        severity,
        f"{element} is {done} outside of T.Parallel. {access.buffer.name} is a fragment: its elements are spread over "
        "the threads of the block, and in an ordinary loop threads take their own for the one you name. "
        f"{consequence} Use `for ... in T.Parallel(...)`, a tile operation (T.copy, T.fill, T.reduce_sum, ...), or a "
        "tile from T.alloc_shared.",
        access.step.line,
    )
