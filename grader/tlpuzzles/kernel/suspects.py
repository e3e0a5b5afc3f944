"""What most likely makes a kernel's result wrong, as its IR shows it.

A right kernel may look like this, too. So it is said only where a run has shown that the result is wrong, and where
that equals no known mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.findings import Finding, Kind, Severity, in_lines
from tlpuzzles.kernel.parameters import Parameters
from tlpuzzles.kernel.places import Place, places
from tlpuzzles.kernel.show import show
from tlpuzzles.kernel.steps import accesses, is_grid
from tlpuzzles.kernel.values import constant
from tlpuzzles.kernel.writes import comparisons

STAGES = (
    "Two numbers without names are a start and an end, in T.Pipelined as in T.serial: stages have a name, as in "
    "T.Pipelined(trips, num_stages=3)."
)


def suspect(kernel: Kernel, exercise: Exercise, parameters: Parameters) -> Finding | None:
    """The first thing that looks wrong, the most certain kind first; None if there is none."""
    found = tuple(places(kernel, exercise, parameters))
    kinds = (
        comparisons(kernel),
        _without_trips(kernel, parameters),
        _late_start(kernel, parameters),
        _exchanged(found, parameters),
        _astray(found, parameters),
    )
    return next(chain(*kinds), None)


def _finding(message: str, line: int | None) -> Finding:
    return Finding(Kind.SUSPECT, Severity.WARNS, message, line)


def _loops(kernel: Kernel, parameters: Parameters) -> Iterator[tuple[ir.For, int, int, int | None]]:
    """Loops of a thread or of tiles, from where and for how many trips, with their lines."""
    for step in kernel.steps:
        loop = step.stmt
        if isinstance(loop, ir.For) and not is_grid(loop) and loop.thread_binding is None and loop.step is None:
            begin, trips = constant(loop.min, parameters.sizes), constant(loop.extent, parameters.sizes)
            if begin is not None and trips is not None:
                yield loop, begin, trips, step.line


def _without_trips(kernel: Kernel, parameters: Parameters) -> Iterator[Finding]:
    for _, begin, trips, line in _loops(kernel, parameters):
        if trips > 0:
            continue
        if begin:
            yield _finding(
                f"The loop{in_lines(line)} goes from {begin} up to {begin + trips}, so it makes no trip. {STAGES}", line
            )
        else:
            yield _finding(
                f"The loop{in_lines(line)} makes no trip: its number of trips is {trips} for these sizes. Round up "
                "with T.ceildiv(size, tile), so that the ragged rest has a trip, too.",
                line,
            )


def _late_start(kernel: Kernel, parameters: Parameters) -> Iterator[Finding]:
    """A loop without stages that begins late, where nothing else reads what its first trips leave out."""
    tensors = {buffer.data for buffer in parameters.buffers.values()}
    for loop, begin, _, line in _loops(kernel, parameters):
        if begin <= 0 or loop.kind is not ir.LoopKind.SERIAL or "num_stages" in loop.annotations:
            continue
        inside: set[ir.Var] = set()
        outside: set[ir.Var] = set()
        for step in kernel.steps:
            touched = {access.buffer.data for access in accesses(step)} & tensors
            (inside if loop in step.loops else outside).update(touched)
        if inside - outside:
            yield _finding(
                f"The loop{in_lines(line)} begins with trip {begin}: nothing takes what belongs to the trips before. "
                f"{STAGES}",
                line,
            )


def _exchanged(found: Sequence[Place], parameters: Parameters) -> Iterator[Finding]:
    """Along one axis the input follows one block number, and the output, which goes with it, another."""
    written: dict[str, set[tuple[ir.Var, ...]]] = {}
    where: dict[str, Place] = {}
    for place in found:
        if place.writes and place.tensor == parameters.output:
            written.setdefault(place.axis, set()).add(place.blocks)
            where[place.axis] = place
    own = {axis: next(iter(kinds))[0] for axis, kinds in written.items() if [len(one) for one in kinds] == [1]}
    for place in found:
        if place.writes or len(place.blocks) != 1 or place.axis not in own:
            continue
        block, right = place.blocks[0], own[place.axis]
        if block is not right and block in own.values() and len(set(own.values())) == len(own):
            output = where[place.axis]
            yield _finding(
                f"{block.name} and {right.name} are exchanged: along {place.axis}, {place.tensor} is read at "
                f"{show(place.index)}{in_lines(place.step.line)}, and {output.tensor} is written at "
                f"{show(output.index)}{in_lines(output.step.line)}. Both must follow the same block number.",
                place.step.line,
            )


def _astray(found: Sequence[Place], parameters: Parameters) -> Iterator[Finding]:
    """Tiles that overlap, or leave something out between them, from one block or trip to the next."""
    for place in found:
        loops = {loop.loop_var: loop for loop in place.step.loops}
        for var, stride in place.strides.items():
            trips = constant(loops[var].extent, parameters.sizes)
            if place.extent == 1 or trips is None or trips < 2 or abs(stride) == place.extent:
                continue
            if abs(stride) > place.extent and not _alone(place, var, found):
                continue
            yield _finding(_moves(place, var, stride, "block" if is_grid(loops[var]) else "trip"), place.step.line)


def _alone(place: Place, var: ir.Var, found: Sequence[Place]) -> bool:
    """Whether nothing but `var` moves the place, and no other statement takes what it leaves out."""
    same = [one for one in found if (one.tensor, one.axis, one.writes) == (place.tensor, place.axis, place.writes)]
    return all(set(one.strides) == {var} and one.constant == place.constant for one in same)


def _moves(place: Place, var: ir.Var, stride: int, what: str) -> str:
    verb = "writes" if place.writes else "reads"
    who = "The kernel" if place.step.line is None else f"Line {place.step.line}"
    inside = "inside what this one has" if abs(stride) < place.extent else f"and nothing {verb} what lies between"
    return (
        f"{who} {verb} {place.extent} elements of {place.tensor} along {place.axis}, beginning at {show(place.index)}: "
        f"the next {what} begins {abs(stride)} further on, {inside}. {var.name} * {place.extent} moves on by a whole "
        "tile."
    )
