"""Whether threads or blocks that run at the same time meet in one element of a store.

Found by trying: iterations are gone through one by one, as many as MOST, and of longer loops those at both ends. So
what is found is certain; a meeting in what is not tried, or in places that depend on what is in memory, is not found.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.exact import THREAD_INDICES, Exact, Marks, Thread
from tlpuzzles.kernel.reach import PRIVATE, Definitions, Reach
from tlpuzzles.kernel.steps import Step, is_grid

MOST = 1 << 13
"""Iterations tried of one store, about; a few tenths of a second."""

ALL_TOGETHER = 1 << 17
"""... and of all stores of a kernel."""

_DEEPEST = 6
_MOMENTS = (Fraction(0), Fraction(1, 2), Fraction(1))
"""Which trips of the loops around are looked at: the first, a middle and the last one."""

_MATHEMATICS = "tirx."
"""Prefix of operators of which every thread gets the same from the same arguments."""
_COMPARISONS = (ir.EQ, ir.NE, ir.LT, ir.LE, ir.GT, ir.GE)


@dataclass(frozen=True)
class Crowd:
    """Who makes a store at the same time."""

    loops: tuple[ir.For, ...] = ()
    """Loops whose iterations run at the same time."""
    threads: tuple[int, ...] = ()
    """Threads of a block along x, y, z, where each makes the store; empty if threads do not count one by one."""
    free: tuple[ir.For, ...] = ()
    """Loops in which each goes ahead at its own pace, so that any two of its trips can meet; the others are in step."""
    tells_threads: bool = True
    """Whether two threads are two of the crowd; else they are on one side, such as that of their block."""


@dataclass(frozen=True)
class Meeting:
    """Two of a crowd that store to one element."""

    element: tuple[int, ...]
    first: tuple[int, ...]
    """Values of the variables of the crowd's loops, or else the thread along x, y, z."""
    second: tuple[int, ...]
    updates: bool
    """Whether the store reads the element before it writes it."""


class _CannotSay(Exception):
    """Something depends on memory, or on a size that is not known."""


@dataclass(frozen=True)
class _Visit:
    who: tuple[int, ...]
    values: Exact


class Meetings:
    """Looks for meetings in one kernel. `sizes`: values of the variables that the kernel leaves open."""

    def __init__(self, definitions: Definitions, sizes: Mapping[ir.Var, int]) -> None:
        self._definitions = definitions
        self._sizes = sizes
        self._left = ALL_TOGETHER
        self._reaches: dict[int, Reach] = {}

    def find(self, step: Step, store: ir.BufferStore, crowd: Crowd, *, plain: bool) -> Meeting | None:
        """Two of the crowd that update one element, or, if `plain`, store different values in it. None if there are
        none or that cannot be said."""
        if not plain and not self._reads_itself(store):
            return None
        if self._apart(step, store, crowd) or self._left_by_some(step, crowd):
            return None
        plain = plain and not self._clamped(store.indices)
        try:
            return next(
                (met for moment in _MOMENTS if (met := self._met(step, store, crowd, moment, plain=plain)) is not None),
                None,
            )
        except _CannotSay:
            return None

    def same_element(self, step: Step, store: ir.BufferStore, loop: ir.For) -> bool:
        """Whether the loop makes no difference to the element, although its variable may be named in the index."""
        crowd = Crowd((loop,), free=(loop,))
        try:
            for moment in _MOMENTS:
                visits = self._visits(step, crowd, moment, conditions=False)
                if len({self._element(visit, store, step) for visit in visits}) > 1:
                    return False
        except _CannotSay:
            return False
        return True

    def _met(self, step: Step, store: ir.BufferStore, crowd: Crowd, moment: Fraction, *, plain: bool) -> Meeting | None:
        marks = Marks()
        seen: dict[tuple[int, ...], _Visit] = {}
        for visit in self._visits(step, crowd, moment):
            element = self._element(visit, store, step)
            other = seen.setdefault(element, visit)
            if other.who == visit.who:
                continue
            updates = self._updates(step, store, visit, crowd)
            if not updates and not plain:
                continue
            differ = (
                len({one.values.mark(store.value, step, marks, self._own(one, crowd)) for one in (other, visit)}) > 1
            )
            if differ or (updates and not self._may_be_repeated(step, store)):
                return Meeting(element, other.who, visit.who, updates)
        return None

    def _may_be_repeated(self, step: Step, store: ir.BufferStore) -> bool:
        """Whether it does no harm that several threads do the same: a maximum, outside of loops that go on with it."""
        goes_on = [loop for loop in step.loops if loop.kind is not ir.LoopKind.PARALLEL and not is_grid(loop)]
        goes_on_while = [condition for condition in step.conditions if condition in self._definitions.whiles]
        return isinstance(store.value, (ir.Max, ir.Min)) and not goes_on and not goes_on_while

    def _updates(self, step: Step, store: ir.BufferStore, visit: _Visit, crowd: Crowd) -> bool:
        """Whether the value stored is made of the element's own.

        TileLang puts a barrier between a name for an element of shared memory and the store, which then finds what all
        threads have read; the learner may have put one anywhere. Neither is possible in T.Parallel, or between blocks.
        """
        place = [visit.values.of(index, step) for index in store.indices]
        barriers = bool(crowd.threads) and crowd.tells_threads
        names = not barriers or store.buffer.scope == ir.Scope.GLOBAL
        seen: set[tuple[int, int]] = set()
        stack: list[tuple[ir.Node, Step]] = [(store.value, step)]
        while stack:
            node, at = stack.pop()
            if (id(node), id(at)) in seen or isinstance(node, ir.Buffer):
                continue
            seen.add((id(node), id(at)))
            definition = None
            if isinstance(node, ir.Var) and names:
                definition = self._definitions.bound(node, at)
            elif isinstance(node, ir.BufferLoad):
                if node.buffer.data is store.buffer.data and place == [visit.values.of(i, at) for i in node.indices]:
                    return True
                definition = self._definitions.stored(node, at)
            if definition is None:
                stack.extend((child, at) for child in ir.children(node))
            elif not (barriers and self._definitions.barrier_between(definition.step, step)):
                stack.append((definition.value, definition.step))
        return False

    def _element(self, visit: _Visit, store: ir.BufferStore, step: Step) -> tuple[int, ...]:
        return tuple(_known(visit.values.of(index, step)) for index in store.indices)

    # Iterations

    def _visits(self, step: Step, crowd: Crowd, moment: Fraction, *, conditions: bool = True) -> Iterator[_Visit]:
        """The iterations that get as far as the store."""
        most = self._most(step, crowd)
        trips: dict[int, int] = {}
        places = product(*map(range, reversed(crowd.threads)))
        for number, place in enumerate(places):
            thread = Thread(tuple(reversed(place)), number) if crowd.threads else None
            for variables in self._trips(step, list(step.loops), dict(self._sizes), thread, crowd, moment, most, trips):
                if not self._left:
                    raise _CannotSay
                self._left -= 1
                values = Exact(self._definitions, variables, thread)
                if conditions and not all(self._holds(condition, values, step, crowd) for condition in step.conditions):
                    continue
                who = tuple(variables[loop.loop_var] for loop in crowd.loops)
                yield _Visit((*who, *thread.place) if thread and crowd.tells_threads else who, values)

    def _trips(
        self,
        step: Step,
        loops: list[ir.For],
        variables: dict[ir.Var, int],
        thread: Thread | None,
        crowd: Crowd,
        moment: Fraction,
        most: Mapping[int, int],
        trips: dict[int, int],
    ) -> Iterator[dict[ir.Var, int]]:
        if not loops:
            yield dict(variables)
            return
        loop, *inner = loops
        values = Exact(self._definitions, variables, thread)
        start, stride, count = self._bounds(loop, values, step)
        if id(loop) in most:
            chosen: Iterable[int] = _ends(count, most[id(loop)])
        else:
            # The first thread's trip is everybody's: they are in step.
            trip = trips.setdefault(id(loop), int(moment * max(count - 1, 0)))
            chosen = [trip] if trip < count else []
        for trip in chosen:
            variables[loop.loop_var] = start + trip * stride
            yield from self._trips(step, inner, variables, thread, crowd, moment, most, trips)
        variables.pop(loop.loop_var, None)

    def _bounds(self, loop: ir.For, values: Exact, step: Step) -> tuple[int, int, int]:
        start, extent = _known(values.of(loop.min, step)), _known(values.of(loop.extent, step))
        stride = 1 if loop.step is None else _known(values.of(loop.step, step))
        return start, stride, -(-extent // max(stride, 1))

    def _most(self, step: Step, crowd: Crowd) -> dict[int, int]:
        """How many trips of each loop of the crowd are tried, that all together are no more than MOST."""
        variables = dict(self._sizes)
        thread = Thread((0, 0, 0), 0) if crowd.threads else None
        most: dict[int, int] = {}
        for loop in step.loops:
            start, _, count = self._bounds(loop, Exact(self._definitions, variables, thread), step)
            variables[loop.loop_var] = start
            if loop in crowd.loops or loop in crowd.free:
                most[id(loop)] = max(count, 1)
        total = 1
        for number in (*crowd.threads, *most.values()):
            total *= number
        while total > MOST and max(most.values(), default=1) > 2:
            longest = max(most, key=lambda key: most[key])
            total = total // most[longest] * -(-most[longest] // 2)
            most[longest] = -(-most[longest] // 2)
        return most

    # Conditions

    def _holds(self, condition: ir.Expr, values: Exact, step: Step, crowd: Crowd) -> bool:
        """Whether the condition lets this iteration through. What depends on data alone is taken to do so."""
        value = values.of(condition, step)
        if value is not None:
            return bool(value)
        for node in ir.walk(condition):
            if isinstance(node, _COMPARISONS):
                sides = [(side, values.of(side, step)) for side in (node.a, node.b)]
                unknown = [side for side, value in sides if value is None]
                if len(unknown) == 1 and any(self._tells(side, crowd) for side, value in sides if value is not None):
                    raise _CannotSay
        reach = self._definitions.reach([condition])
        own = any(load.buffer.scope in PRIVATE for load in reach.loads)
        asks = any(not operator.startswith(_MATHEMATICS) for operator in reach.operators)
        if own and (asks or self._tells(condition, crowd)):
            raise _CannotSay
        return True

    def _tells(self, expr: ir.Expr, crowd: Crowd) -> bool:
        """Whether the value is different for different members of the crowd."""
        return self._tells_of(self._reach(expr), crowd)

    def _own(self, visit: _Visit, crowd: Crowd) -> Callable[[ir.Expr], Hashable]:
        """What tells an iteration from others, as far as an expression depends on it."""

        def own(expr: ir.Expr) -> Hashable:
            reach = self._reach(expr)
            if crowd.threads:
                return visit.who if self._tells_of(reach, crowd) else None
            return tuple(
                value if reach.uses(loop) else None for loop, value in zip(crowd.loops, visit.who, strict=True)
            )

        return own

    def _reach(self, expr: ir.Expr) -> Reach:
        if id(expr) not in self._reaches:
            self._reaches[id(expr)] = self._definitions.reach([expr])
        return self._reaches[id(expr)]

    def _tells_of(self, reach: Reach, crowd: Crowd) -> bool:
        return any(map(reach.uses, crowd.loops)) or bool(crowd.threads and reach.operators & THREAD_INDICES)

    def _left_by_some(self, step: Step, crowd: Crowd) -> bool:
        """Whether some of the crowd may leave a loop around the store before they get there."""
        around = [*step.loops, *(condition for condition in step.conditions if condition in self._definitions.whiles)]
        for leaving in self._definitions.leaving:
            left = [*leaving.loops[-1:], *(one for one in leaving.conditions if one in self._definitions.whiles)]
            reach = self._definitions.reach(one for one in leaving.conditions if one not in step.conditions)
            own = any(load.buffer.scope in PRIVATE for load in reach.loads)
            if any(one in around for one in left) and (own or self._tells_of(reach, crowd)):
                return True
        return False

    # Short cuts

    def _reads_itself(self, store: ir.BufferStore) -> bool:
        """Whether the value has to do with the memory that it is stored in."""
        return any(load.buffer.data is store.buffer.data for load in self._definitions.reach([store.value]).loads)

    def _apart(self, step: Step, store: ir.BufferStore, crowd: Crowd) -> bool:
        """Whether each loop of the crowd has a dimension of the buffer to itself."""
        if crowd.threads:
            return False
        free = [*crowd.loops, *crowd.free]
        dimensions = list(store.indices)
        for loop in crowd.loops:
            if isinstance(loop.extent, ir.IntImm) and loop.extent.value == 1:
                continue
            others = {other.loop_var for other in free if other is not loop}
            index = next((index for index in dimensions if self._follows(index, loop.loop_var, others)), None)
            if index is None:
                return False
            dimensions.remove(index)
        return True

    def _follows(self, index: ir.Expr, var: ir.Var, others: set[ir.Var], depth: int = 0) -> bool:
        """Whether the index is `var` plus what is the same for all, as far as a short look shows."""
        if index is var:
            return True
        if isinstance(index, (ir.Add, ir.Sub)) and depth < _DEEPEST:
            for one, rest in ((index.a, index.b), (index.b, index.a)):
                if self._follows(one, var, others, depth + 1):
                    reach = self._definitions.reach([rest])
                    return not (reach.variables & {var, *others} or reach.loads or reach.operators)
        return False

    def _clamped(self, indices: Iterable[ir.Expr]) -> bool:
        """Whether an index is kept within bounds. Plain stores beyond them may be of one value, or thrown away; if they
        are not, runs in two orders show it."""
        reach = self._definitions.reach(indices)
        return bool(reach.kinds & {ir.Min, ir.Max, ir.Select}) or "tirx.if_then_else" in reach.operators


def _known(value: int | None) -> int:
    if value is None:
        raise _CannotSay
    return value


def _ends(count: int, most: int) -> Iterable[int]:
    """All trips, or as many of the first and the last."""
    return range(count) if count <= most else (*range(most // 2), *range(count - (most + 1) // 2, count))
