"""Errors that TileLang compiles without a word and a GPU answers wrongly.

A store in `T.Parallel` whose index leaves out a loop variable is made by several threads to one element; so is one
whose index does not tell iterations apart, such as `i // 2`. Outside of `T.Parallel` every thread makes every store,
and so does every block: where such a store reads what it writes, updates are lost. An element of a fragment named in an
ordinary loop exists in one thread only, and TileLang 0.1.15 lets other threads take theirs for it (tilelang#2396). What
the rules leave out was seen to be right in the CUDA source of such kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from tlpuzzles.kernel import race_findings as told
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.allowed import THREAD_COMBINING
from tlpuzzles.kernel.buffers import owners
from tlpuzzles.kernel.cost import DEFAULT_THREADS
from tlpuzzles.kernel.exact import THREAD_INDEX
from tlpuzzles.kernel.facts import Kernel, Launch
from tlpuzzles.kernel.findings import Finding, Severity
from tlpuzzles.kernel.meeting import Crowd, Meetings
from tlpuzzles.kernel.reach import PRIVATE, Definitions, Reach
from tlpuzzles.kernel.steps import Access, Step, Touch, accesses, is_grid
from tlpuzzles.kernel.values import Ranges, constant


class Races:
    """Looks for these errors in one kernel."""

    def __init__(self, kernel: Kernel, sizes: Ranges | None = None) -> None:
        """`sizes`: what is known of the sizes that the kernel leaves open."""
        self.kernel = kernel
        self._definitions = Definitions(kernel)
        only = {var: found.only for var, found in (sizes or {}).items()}
        self._meetings = Meetings(self._definitions, {var: size for var, size in only.items() if size is not None})

    def parallel_stores(self) -> Iterator[Finding]:
        """Stores in `T.Parallel` that several iterations make to one element."""
        for step in self.kernel.steps:
            if isinstance(step.stmt, ir.BufferStore):
                finding = self._store(step, step.stmt)
                if finding is not None:
                    yield finding

    def updates(self) -> Iterator[Finding]:
        """Updates of one element, in shared or global memory, that several threads or several blocks make."""
        for launch in self.kernel.launches:
            for step in self.kernel.steps_of(launch):
                store = step.stmt
                if isinstance(store, ir.BufferStore) and store.buffer.data not in self._reducers:
                    finding = self._by_threads(step, store, launch) or self._by_blocks(step, store, launch)
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
                    yield told.fragment_finding(access, self._severity(access))

    # Stores in T.Parallel

    def _store(self, step: Step, store: ir.BufferStore) -> Finding | None:
        if store.buffer.data in self._reducers or store.buffer.scope == ir.Scope.REDUCER:
            return None
        if store.buffer.scope in PRIVATE:
            return self._private_store(step, store)
        index = self._definitions.reach(store.indices)
        missing = [loop for loop in step.parallel if not index.uses(loop) and constant(loop.extent) != 1]
        missing = [loop for loop in missing if not self._fixed(loop, step.conditions)]
        if not missing:
            return self._meeting(step, store)
        value = self._definitions.reach([store.value])
        updates = any(load.buffer.data is store.buffer.data for load in value.loads)
        varies = any(value.uses(loop) for loop in missing)
        if not updates and not varies:
            return self._meeting(step, store)
        return told.parallel_finding(step, store, missing, updates, self._splits(store, value, missing))

    def _meeting(self, step: Step, store: ir.BufferStore) -> Finding | None:
        """A store whose index names loops, but is the same for several of their iterations."""
        if not step.parallel:
            return None
        inner = step.loops[step.loops.index(step.parallel[0]) :]
        crowd = Crowd(step.parallel, free=inner)
        met = self._meetings.find(step, store, crowd, plain=True)
        if met is None:
            return told.table_finding(step, store) if self._by_table(store) else None
        differ = [loop for loop, a, b in zip(step.parallel, met.first, met.second, strict=True) if a != b]
        if all(self._meetings.same_element(step, store, loop) for loop in differ):
            splits = self._splits(store, self._definitions.reach([store.value]), differ)
            return told.parallel_finding(step, store, differ, met.updates, splits, named=True)
        return told.meeting_finding(step, store, met)

    def _by_table(self, store: ir.BufferStore) -> bool:
        """Whether the store updates an element whose place is read from memory."""
        inside = self._definitions.reach(store.indices).loads
        value = self._definitions.reach([store.value]).loads
        return any(load.buffer.scope not in PRIVATE for load in inside) and any(
            load.buffer.data is store.buffer.data for load in value
        )

    def _fixed(self, loop: ir.For, conditions: Iterable[ir.Expr]) -> bool:
        """Whether a condition such as `j == 0`, or the `else` of `j != 0`, leaves one iteration of the loop."""
        parts = [part for condition in conditions for part in _conjuncts(condition)]
        equal: list[ir.EQ | ir.NE] = [part for part in parts if isinstance(part, ir.EQ)]
        equal += [part.a for part in parts if isinstance(part, ir.Not) and isinstance(part.a, ir.NE)]
        return any(loop.loop_var in (part.a, part.b) for part in equal)

    # Updates by threads and blocks

    def _by_threads(self, step: Step, store: ir.BufferStore, launch: Launch) -> Finding | None:
        scope = store.buffer.scope
        if step.parallel or scope not in (ir.Scope.GLOBAL, ir.Scope.SHARED, ir.Scope.SHARED_DYNAMIC):
            return None
        threads = launch.threads or (DEFAULT_THREADS,)
        met = self._meetings.find(step, store, Crowd(threads=threads), plain=False)
        return None if met is None else told.threads_finding(step, store, met, threads)

    def _by_blocks(self, step: Step, store: ir.BufferStore, launch: Launch) -> Finding | None:
        grid = tuple(loop for loop in step.loops if is_grid(loop))
        if store.buffer.scope != ir.Scope.GLOBAL or not grid:
            return None
        threads = () if step.parallel else launch.threads or (DEFAULT_THREADS,)
        crowd = Crowd(grid, threads, free=step.loops, tells_threads=False)
        met = self._meetings.find(step, store, crowd, plain=False)
        return None if met is None else told.blocks_finding(step, store, met, grid)

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
            and any(self._definitions.reach(load.indices).uses(loop) for loop in missing)
            for load in value.loads
        )

    def _private_store(self, step: Step, store: ir.BufferStore) -> Finding | None:
        """`total = total + x[i]` with a `T.alloc_var` from outside of the loop: each thread has a total of its own."""
        if store.buffer.scope != ir.Scope.VARIABLE or not step.parallel or self._combines:
            return None
        value = self._definitions.reach([store.value])
        if not any(load.buffer.data is store.buffer.data for load in value.loads):
            return None
        spread = [loop for loop in step.parallel if constant(loop.extent) != 1]
        if not spread or self._first_store(step.parallel[0], store.buffer.data) is not store:
            return None
        return told.private_finding(step, store, spread)

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
        index = self._definitions.reach(access.indices)
        loops = [loop for loop in access.step.loops if not is_grid(loop) and constant(loop.extent) != 1]
        private = any(load.buffer.scope in PRIVATE for load in index.loads)
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
            for var, value in self._definitions.named.items()
            if isinstance(value, ir.Call) and value.op == THREAD_INDEX
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
