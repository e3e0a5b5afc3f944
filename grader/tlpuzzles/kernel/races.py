"""Two errors that TileLang compiles without a word and a GPU answers wrongly.

A store in `T.Parallel` whose index leaves out a loop variable is made by several threads to one element. An element of
a fragment named in an ordinary loop exists in one thread only, and TileLang 0.1.15 lets other threads take theirs for
it (tilelang#2396). What the rules leave out was seen to be right in the CUDA source of such kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.allowed import THREAD_COMBINING
from tlpuzzles.kernel.buffers import owners
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.findings import Finding, Kind, Severity, listed
from tlpuzzles.kernel.show import show
from tlpuzzles.kernel.steps import Access, Step, Touch, accesses, is_grid
from tlpuzzles.kernel.values import constant

_PRIVATE = (ir.Scope.LOCAL, ir.Scope.VARIABLE)


@dataclass(frozen=True)
class Reach:
    """What an expression depends on, looked at through names and through the thread's own variables."""

    variables: frozenset[ir.Var]
    loads: tuple[ir.BufferLoad, ...]

    def uses(self, loop: ir.For) -> bool:
        return loop.loop_var in self.variables


class Races:
    """Looks for both errors in one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def parallel_stores(self) -> Iterator[Finding]:
        """Stores in `T.Parallel` that several iterations make to one element."""
        for step in self.kernel.steps:
            if isinstance(step.stmt, ir.BufferStore):
                finding = self._store(step, step.stmt)
                if finding is not None:
                    yield finding

    def fragment_accesses(self) -> Iterator[Finding]:
        """Elements of fragments that a store outside of `T.Parallel` reads or writes, at changing places.

        Elements read by a condition, a name or a print are no matter: TileLang then keeps the fragment in every thread.
        """
        for step in self.kernel.steps:
            if step.parallel or not isinstance(step.stmt, ir.BufferStore):
                continue
            for access in accesses(step):
                if access.op == "" and access.buffer.scope == ir.Scope.FRAGMENT and self._moves(access):
                    yield _fragment_finding(access, self._severity(access))

    # Names and reach

    @cached_property
    def _named(self) -> dict[ir.Var, ir.Expr]:
        return {node.var: node.value for node in self.kernel.nodes if isinstance(node, (ir.Bind, ir.Let))}

    @cached_property
    def _private_values(self) -> dict[ir.Var, list[ir.Expr]]:
        """What is stored in a thread's own variables, with the conditions of the stores."""
        result: dict[ir.Var, list[ir.Expr]] = {}
        for step in self.kernel.steps:
            if isinstance(step.stmt, ir.BufferStore) and step.stmt.buffer.scope in _PRIVATE:
                result.setdefault(step.stmt.buffer.data, []).extend((step.stmt.value, *step.conditions))
        return result

    def _reach(self, exprs: Iterable[ir.Expr]) -> Reach:
        variables: set[ir.Var] = set()
        loads: list[ir.BufferLoad] = []
        seen: set[int] = set()
        stack: list[ir.Node] = list(exprs)
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, ir.Var):
                variables.add(node)
                if node in self._named:
                    stack.append(self._named[node])
            elif isinstance(node, ir.BufferLoad):
                loads.append(node)
                stack.extend(node.indices)
                stack.extend(self._private_values.get(node.buffer.data, ()))
            elif not isinstance(node, ir.Buffer):
                stack.extend(ir.children(node))
        return Reach(frozenset(variables), tuple(loads))

    # Stores in T.Parallel

    def _store(self, step: Step, store: ir.BufferStore) -> Finding | None:
        if store.buffer.data in self._reducers or store.buffer.scope == ir.Scope.REDUCER:
            return None
        if store.buffer.scope in _PRIVATE:
            return self._private_store(step, store)
        index = self._reach(store.indices)
        missing = [loop for loop in step.parallel if not index.uses(loop) and constant(loop.extent) != 1]
        missing = [loop for loop in missing if not self._fixed(loop, step.conditions)]
        if not missing:
            return None
        value = self._reach([store.value])
        updates = any(load.buffer.data is store.buffer.data for load in value.loads)
        varies = any(value.uses(loop) for loop in missing)
        if not updates and not varies:
            return None
        return _parallel_finding(step, store, missing, updates, self._splits(store, value, missing))

    def _fixed(self, loop: ir.For, conditions: Iterable[ir.Expr]) -> bool:
        """Whether a condition such as `j == 0` leaves one iteration of the loop."""
        return any(
            loop.loop_var in (part.a, part.b)
            for condition in conditions
            for part in _conjuncts(condition)
            if isinstance(part, ir.EQ)
        )

    def _splits(self, store: ir.BufferStore, value: Reach, missing: list[ir.For]) -> bool:
        """Whether the missing loops are spread over threads for certain.

        TileLang lays a fragment out by its own index, so that each of its elements sees all iterations of a missing
        loop in one thread; unless the loop also walks along another fragment, which is spread.
        """
        if store.buffer.scope != ir.Scope.FRAGMENT:
            return True
        return any(
            load.buffer.scope == ir.Scope.FRAGMENT
            and load.buffer.data is not store.buffer.data
            and any(self._reach(load.indices).uses(loop) for loop in missing)
            for load in value.loads
        )

    def _private_store(self, step: Step, store: ir.BufferStore) -> Finding | None:
        """`total = total + x[i]` with a `T.alloc_var` from outside of the loop: each thread has a total of its own."""
        if store.buffer.scope != ir.Scope.VARIABLE or not step.parallel or self._combines:
            return None
        value = self._reach([store.value])
        if not any(load.buffer.data is store.buffer.data for load in value.loads):
            return None
        spread = [loop for loop in step.parallel if constant(loop.extent) != 1]
        if not spread or self._first_store(step.parallel[0], store.buffer.data) is not store:
            return None
        return Finding(
            Kind.PARALLEL_STORE,
            Severity.FAILS,
            f"{store.buffer.name or 'A variable'} collects a result in T.Parallel over {_variables(spread)}. On a GPU "
            "every thread has a variable of its own and sees only its share of the loop: the result is wrong without "
            f"any error. Keep the values in a fragment and collect them with {_reduction(store.value)}.",
            step.line,
            collects=True,
        )

    def _first_store(self, loop: ir.For, data: ir.Var) -> ir.Stmt | None:
        stores = (step.stmt for step in self.kernel.steps if loop in step.loops)
        return next((stmt for stmt in stores if isinstance(stmt, ir.BufferStore) and stmt.buffer.data is data), None)

    @cached_property
    def _combines(self) -> bool:
        return any(isinstance(node, ir.Call) and node.op in THREAD_COMBINING for node in self.kernel.nodes)

    @cached_property
    def _reducers(self) -> frozenset[ir.Var]:
        found: set[ir.Var] = set()
        for node in self.kernel.nodes:
            if isinstance(node, ir.SBlock):
                for key in ("reducer_info", "reducer_info_v2"):
                    info = node.annotations.get(key)
                    found.update(info if isinstance(info, dict) else ())
        return frozenset(found)

    # Fragments

    @cached_property
    def _laid_out(self) -> frozenset[ir.Var]:
        """Buffers whose layout the learner has given."""
        maps = (node.annotations.get("layout_map") for node in self.kernel.nodes if isinstance(node, ir.SBlock))
        return frozenset(key for layouts in maps if isinstance(layouts, dict) for key in layouts)

    @cached_property
    def _elements(self) -> dict[ir.Var, int]:
        sizes: dict[ir.Var, int] = {}
        for buffer in owners(self.kernel.func):
            count = 1
            for extent in buffer.shape:
                count *= constant(extent) or 2
            sizes[buffer.data] = count
        return sizes

    def _moves(self, access: Access) -> bool:
        """Whether the access names different elements at different times. One element for all of a block makes TileLang
        keep it in every thread, or refuse."""
        data = access.buffer.data
        if data in self._reducers or data in self._laid_out or self._elements.get(data, 2) == 1:
            return False
        index = self._reach(access.indices)
        loops = [loop for loop in access.step.loops if not is_grid(loop) and constant(loop.extent) != 1]
        private = any(load.buffer.scope in _PRIVATE for load in index.loads)
        by_thread = Touch.WRITE in access.touch and bool(index.variables & self._thread_indices)
        return private or by_thread or any(index.uses(loop) for loop in loops)

    def _severity(self, access: Access) -> Severity:
        """A reduction often leaves its result in several threads, and reading it there is right; but not always."""
        read_only = Touch.WRITE not in access.touch
        return Severity.WARNS if read_only and access.buffer.data in self._reduced else Severity.FAILS

    @cached_property
    def _reduced(self) -> frozenset[ir.Var]:
        """Results of T.reduce_sum and its kind."""
        return frozenset(
            access.buffer.data
            for step in self.kernel.steps
            for access in accesses(step)
            if access.op == "tl.tileop.reduce" and Touch.WRITE in access.touch
        )

    @cached_property
    def _thread_indices(self) -> frozenset[ir.Var]:
        return frozenset(
            var
            for var, value in self._named.items()
            if isinstance(value, ir.Call) and value.op == "tl.launch_thread_idx"
        )


def _conjuncts(condition: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(condition, ir.And):
        yield from _conjuncts(condition.a)
        yield from _conjuncts(condition.b)
    elif isinstance(condition, ir.Call) and condition.op == "tirx.bitwise_and":
        for argument in condition.args:
            yield from _conjuncts(argument)
    else:
        yield condition


def _variables(loops: list[ir.For]) -> str:
    return listed([loop.loop_var.name for loop in loops])


def _parallel_finding(step: Step, store: ir.BufferStore, missing: list[ir.For], updates: bool, splits: bool) -> Finding:
    element = f"{store.buffer.name}[{', '.join(map(show, store.indices))}]"
    over, left_out = _variables(list(step.parallel)), _variables(missing)
    fix = f"Use {left_out} in the index, or take the loop over {left_out} away."
    if updates:
        fix = f"To combine over {left_out} use {_reduction(store.value)} on a fragment that holds the values."
    start = f"The store to {element} in T.Parallel over {over} does not use {left_out}: "
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


def _adds(value: ir.Expr) -> str:
    return "adds to" if isinstance(value, (ir.Add, ir.Sub)) else "updates"


def _reduction(value: ir.Expr) -> str:
    if isinstance(value, ir.Max):
        return "T.reduce_max"
    if isinstance(value, ir.Min):
        return "T.reduce_min"
    return "T.reduce_sum"


def _fragment_finding(access: Access, severity: Severity) -> Finding:
    element = f"{access.buffer.name}[{', '.join(map(show, access.indices))}]"
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
