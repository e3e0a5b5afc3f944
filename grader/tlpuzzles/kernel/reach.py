"""What a value depends on: through names, and through the variables that each thread has of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.steps import Step, Touch, accesses
from tlpuzzles.kernel.values import constant

PRIVATE = (ir.Scope.LOCAL, ir.Scope.VARIABLE)
"""Scopes of which each thread has its own copy."""

_BARRIER = "tirx.tvm_storage_sync"
_LEAVE = ("tirx.break_loop", "tl.loop_break", "tirx.continue_loop")


@dataclass(frozen=True)
class Reach:
    """What an expression depends on."""

    variables: frozenset[ir.Var]
    loads: tuple[ir.BufferLoad, ...]
    operators: frozenset[str]
    kinds: frozenset[type[ir.Node]]

    def uses(self, loop: ir.For) -> bool:
        return loop.loop_var in self.variables


@dataclass(frozen=True)
class Definition:
    """An expression and the statement that evaluates it."""

    value: ir.Expr
    step: Step


class Definitions:
    """What the names and the threads' own variables of one kernel stand for."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def reach(self, exprs: Iterable[ir.Expr]) -> Reach:
        """A thread's own variable stands for all that is stored in it anywhere, and for conditions of the stores."""
        variables: set[ir.Var] = set()
        loads: list[ir.BufferLoad] = []
        operators: set[str] = set()
        kinds: set[type[ir.Node]] = set()
        seen: set[int] = set()
        stack: list[ir.Node] = list(exprs)
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            kinds.add(type(node))
            if isinstance(node, ir.Var):
                variables.add(node)
                if node in self.named:
                    stack.append(self.named[node])
            elif isinstance(node, ir.BufferLoad):
                loads.append(node)
                stack.extend(node.indices)
                stack.extend(self._private_values.get(node.buffer.data, ()))
            elif not isinstance(node, ir.Buffer):
                if isinstance(node, ir.Call):
                    operators.add(node.op)
                stack.extend(ir.children(node))
        return Reach(frozenset(variables), tuple(loads), frozenset(operators), frozenset(kinds))

    @property
    def named(self) -> dict[ir.Var, ir.Expr]:
        return self._kernel.names

    def bound(self, var: ir.Var, at: Step) -> Definition | None:
        """What a name stands for. `at`: the statement that uses it."""
        value = self.named.get(var)
        return None if value is None else Definition(value, self._binds.get(var, at))

    def stored(self, load: ir.BufferLoad, at: Step) -> Definition | None:
        """What a thread's own variable holds at a statement; None if that depends on the way there."""
        if load.buffer.scope not in PRIVATE or prod(constant(extent) or 0 for extent in load.buffer.shape) != 1:
            return None
        writes = self._private_writes.get(load.buffer.data, [])
        here = self._positions[id(at)]
        before = [step for step in writes if self._positions[id(step)] < here]
        last = before[-1] if before else None
        if last is None or not isinstance(last.stmt, ir.BufferStore):
            return None
        if not (_begins(at.loops, last.loops) and _begins(at.conditions, last.conditions)):
            return None
        # In a loop that begins after the store, a later one is an earlier one of the next trip.
        since = {*map(id, at.loops[len(last.loops) :]), *map(id, at.conditions[len(last.conditions) :])}
        later = writes[len(before) :]
        if any(since.intersection(map(id, (*step.loops, *step.conditions))) for step in later):
            return None
        return Definition(last.stmt.value, last)

    def barrier_between(self, first: Step, second: Step) -> bool:
        """Whether the learner has put a barrier between two statements."""
        start, end = self._positions[id(first)], self._positions[id(second)]
        return any(start < position < end for position in self._barriers)

    @cached_property
    def whiles(self) -> frozenset[ir.Expr]:
        """Conditions of `while`."""
        return frozenset(node.condition for node in self._kernel.nodes if isinstance(node, ir.While))

    @cached_property
    def leaving(self) -> tuple[Step, ...]:
        """Statements that leave a loop, or a trip of one."""
        return tuple(step for step in self._kernel.steps if step.call is not None and step.call.op in _LEAVE)

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {id(step): position for position, step in enumerate(self._kernel.steps)}

    @cached_property
    def _barriers(self) -> tuple[int, ...]:
        calls = ((position, step.call) for position, step in enumerate(self._kernel.steps))
        return tuple(position for position, call in calls if call is not None and call.op == _BARRIER)

    @cached_property
    def _binds(self) -> dict[ir.Var, Step]:
        return {step.stmt.var: step for step in self._kernel.steps if isinstance(step.stmt, ir.Bind)}

    @cached_property
    def _private_writes(self) -> dict[ir.Var, list[Step]]:
        result: dict[ir.Var, list[Step]] = {}
        for step in self._kernel.steps:
            for access in accesses(step):
                if Touch.WRITE in access.touch and access.buffer.scope in PRIVATE:
                    result.setdefault(access.buffer.data, []).append(step)
        return result

    @cached_property
    def _private_values(self) -> dict[ir.Var, list[ir.Expr]]:
        """What is stored in a thread's own variables, with the conditions of the stores."""
        result: dict[ir.Var, list[ir.Expr]] = {}
        for data, steps in self._private_writes.items():
            for step in steps:
                if isinstance(step.stmt, ir.BufferStore) and step.stmt.buffer.data is data:
                    result.setdefault(data, []).extend((step.stmt.value, *step.conditions))
        return result


def _begins(all_: tuple[ir.Node, ...], first: tuple[ir.Node, ...]) -> bool:
    return len(first) <= len(all_) and all(a is b for a, b in zip(all_, first, strict=False))
