"""What an exercise may ask of a kernel beyond the right result, ready to be named in its `requirements`.

Modules of exercises import this one, and commands that only list exercises must answer at once: the classes of the IR
are imported when there is a kernel to look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import Requirement
from tlpuzzles.kernel.findings import in_lines

if TYPE_CHECKING:
    from tlpuzzles.kernel.facts import Kernel
    from tlpuzzles.kernel.steps import Step
    from tlpuzzles.kernel.tile_ir import Buffer

_GIVEN = {"T.gemm": "The sums of T.gemm", "T.exp": "The exponentials"}
"""What the functions give, for messages."""

_PRODUCTS = ("tl.tileop.gemm", "tl.tileop.wgmma_gemm")

ENOUGH = 5e-4
"""Relative error that a constant may have: as much as rounding a number to float16 costs, so 0.798 will do for
0.79788."""
NEAR = 0.03
"""Within that, a number is taken for a constant that was written carelessly."""


def uses_gemm(times: int = 1) -> Requirement:
    """The kernel calls `T.gemm` at `times` places or more."""

    def check(kernel: Kernel) -> str | None:
        lines = [step.line for step, _ in _products(kernel)]
        if len(lines) >= times:
            return None
        if not lines:
            return (
                "The kernel never calls T.gemm, so the GPU's tensor cores stay idle. Copy tiles to shared memory and "
                "multiply them with T.gemm(A_tile, B_tile, accumulator)."
            )
        return (
            f"The kernel calls T.gemm {_times(len(lines))}{in_lines(*lines)}; this exercise needs it {_times(times)}. "
            "Write the other product with T.gemm too."
        )

    title = "multiplies with T.gemm" if times == 1 else f"multiplies with T.gemm, {_times(times)}"
    return Requirement("uses-gemm", title, check)


def accumulates_in(dtype: str = "float32") -> Requirement:
    """Every `T.gemm` adds up in `dtype`."""

    def check(kernel: Kernel) -> str | None:
        products = list(_products(kernel))
        if not products:
            return "There is no T.gemm whose accumulator could be looked at."
        for step, accumulator in products:
            if accumulator.dtype != dtype:
                where = "" if accumulator.line is None else f" (allocated in line {accumulator.line})"
                return (
                    f"T.gemm{in_lines(step.line)} adds up in {accumulator.name}{where}, which is "
                    f"{accumulator.dtype}: long sums lose digits. Allocate it with "
                    f'T.alloc_fragment(shape, "{dtype}") and convert the result when you copy it out.'
                )
        return None

    return Requirement(f"accumulates-in-{dtype}", f"adds up in {dtype}", check)


def sums_in(dtype: str = "float32") -> Requirement:
    """Every `T.reduce_sum` sums up a tile of `dtype`. Maxima may have another: they are exact in any."""

    def check(kernel: Kernel) -> str | None:
        for tile in _summed(kernel):
            if tile.dtype != dtype:
                return (
                    f"T.reduce_sum sums up {tile.name}{in_lines(tile.line)}, which is {tile.dtype}: long sums lose "
                    f'digits. Allocate it with T.alloc_fragment(shape, "{dtype}"), which is what accum_dtype is for; '
                    "T.copy converts on the way in and on the way out."
                )
        return None

    return Requirement(f"sums-in-{dtype}", f"sums up in {dtype}", check)


def rounds_once(source: str) -> Requirement:
    """What `source` gives, "T.gemm" or "T.exp", is rounded to float16 when it is finished and no sooner."""

    def check(kernel: Kernel) -> str | None:
        from tlpuzzles.kernel.rounding import Source, roundings

        found = next(roundings(kernel, Source(source)), None)
        if found is None:
            return None
        places = f"{in_lines(found.rounded)}, into {found.tile}, and then" if found.tile else " and"
        return (
            f"{_GIVEN[source]} are rounded to {found.dtype}{places} computed with{in_lines(found.used)}: each "
            'rounding loses digits. Keep them in float32, in a fragment from T.alloc_fragment(shape, "float32"), until '
            "all is computed. The copy that writes the finished tile converts it, and that rounding is the only one."
        )

    return Requirement("rounds-once", "rounds to float16 once, at the end", check)


def constants(function: str, *families: Mapping[str, float]) -> Requirement:
    """The constants of `function` are written with enough digits.

    families: for each constant, the forms in which it may stand ("2 * sqrt(2 / pi)"), with their values. A number
    near one of them is taken for it, and must be within ENOUGH of it, if the kernel has no exact form of that constant
    but has some form of each other one, exact or not: that tells the function from others with similar numbers.
    """

    def check(kernel: Kernel) -> str | None:
        numbers = list(_numbers(kernel))
        exact = [any(_off(value, form) <= ENOUGH for value, _ in numbers for form in f.values()) for f in families]
        near = [
            [(v, line, name, f[name]) for v, line in numbers for name in f if ENOUGH < _off(v, f[name]) < NEAR]
            for f in families
        ]
        if not all(is_exact or others for is_exact, others in zip(exact, near, strict=True)):
            return None
        for is_exact, others in zip(exact, near, strict=True):
            if not is_exact:
                value, line, name, right = min(others, key=lambda other: _off(other[0], other[3]))
                digits = f"{right:.7g}"
                meant = name if name == digits else f"{name} = {digits}"
                return (
                    f"{value:g}{in_lines(line)} stands where {function} has {meant}: it is "
                    f"{100 * _off(value, right):.1g} % off. Write it with all its digits, or let Python compute it: "
                    "math.sqrt and math.pi may stand in a kernel."
                )
        return None

    return Requirement("constants", f"has the constants of {function}", check)


def one_launch() -> Requirement:
    """All work happens in one `T.Kernel`."""

    def check(kernel: Kernel) -> str | None:
        lines = [launch.line for launch in kernel.launches]
        if len(lines) == 1:
            return None
        if not lines:
            return "The kernel has no `with T.Kernel(...)`."
        return (
            f"The kernel has {len(lines)} launches (`with T.Kernel(...)`){in_lines(*lines)}. Each one reads and writes "
            "global memory again; do the work in one."
        )

    return Requirement("one-launch", "one launch does it all", check)


def many_blocks(elements: int, blocks: int) -> Requirement:
    """`blocks` or more share the work wherever the output has `elements` or more.

    How many there are may be fixed, as in a kernel whose blocks go over the tensor in strides; only a few must not do
    it all. A kernel whose sizes are open says nothing about its number of blocks, and meets this.
    """

    def check(kernel: Kernel) -> str | None:
        from tlpuzzles.kernel.cost import launch_costs
        from tlpuzzles.kernel.values import constant

        *_, output = kernel.func.buffer_map.values()
        extents = [constant(extent) for extent in output.shape]
        total = prod(extent or 0 for extent in extents)
        counts = [launch.blocks for launch in launch_costs(kernel, {})]
        if total < elements or None in counts or (most := max((count or 0 for count in counts), default=0)) >= blocks:
            return None
        them = "one block does" if most == 1 else f"{most} blocks do"
        lines = [launch.line for launch in kernel.launches]
        return (
            f"For {total:,} elements, {them} all the work (T.Kernel{in_lines(*lines)}), while a GPU has room for "
            "hundreds at a time: the smallest of this course has 40 multiprocessors. Let the number of blocks grow "
            "with the size, T.ceildiv(size, elements of a block), and let each do its own part."
        )

    return Requirement("many-blocks", "shares the work among many blocks", check)


def no_needless_trips() -> Requirement:
    """No loop that copies a tensor piece by piece makes a trip for each element.

    What is read past the end counts as zeros, so the result is right, and without a GPU nobody would notice. A loop
    whose number of trips is not a constant says nothing, and meets this.
    """

    def check(kernel: Kernel) -> str | None:
        for step, size, piece, trips, name in _copied(kernel):
            if 1 < piece < size <= trips:
                return (
                    f"The loop around T.copy{in_lines(step.line)} makes {trips:,} trips, each of which reads "
                    f"{piece:,} of {size:,} elements along an axis of {name}: {-(-size // piece):,} reach the end, the "
                    "others read zeros. Divide the length by the tile's, as in T.ceildiv(K, block_K)."
                )
        return None

    return Requirement("no-needless-trips", "stops where the tensors end", check)


def no_global_intermediate() -> Requirement:
    """Nothing between inputs and output goes through global memory."""

    def check(kernel: Kernel) -> str | None:
        from tlpuzzles.kernel.buffers import owners

        parameters = {id(buffer) for buffer in kernel.func.buffer_map.values()}
        for buffer in owners(kernel.func):
            if buffer.scope == "global" and id(buffer) not in parameters:
                return (
                    f"{buffer.name} is kept in global memory (T.alloc_global{in_lines(buffer.line)}), where every "
                    "value makes a trip of its own. Keep it in T.alloc_shared or T.alloc_fragment."
                )
        return None

    return Requirement("no-global-intermediate", "keeps intermediate values out of global memory", check)


def _products(kernel: Kernel) -> Iterator[tuple[Step, Buffer]]:
    """Every product of tiles with the buffer that it adds to."""
    from tlpuzzles.kernel.facts import region

    for step in kernel.steps:
        call = step.call
        if call is not None and call.op in _PRODUCTS:
            yield step, region(call.args[2]).buffer


def _copied(kernel: Kernel) -> Iterator[tuple[Step, int, int, int, str]]:
    """Where `T.copy` reads a parameter in loops that go along it: the statement, the length of the axis, how much of it
    is read at a time, the number of trips, and the tensor's name.

    A place that is a remainder or a quotient of the loop's number comes again or stays: no more is known of its trips.
    """
    from tlpuzzles.kernel import tile_ir as ir
    from tlpuzzles.kernel.facts import region
    from tlpuzzles.kernel.steps import is_grid
    from tlpuzzles.kernel.values import constant

    along = (ir.Var, ir.IntImm, ir.Cast, ir.Add, ir.Sub, ir.Mul)
    parameters = {id(buffer) for buffer in kernel.func.buffer_map.values()}
    for step in kernel.steps:
        call = step.call
        if call is None or call.op != "tl.tileop.copy":
            continue
        read = region(call.args[0])
        if id(read.buffer) not in parameters:
            continue
        for at, extent, length in zip(read.mins, read.extents, read.buffer.shape, strict=True):
            nodes = list(ir.walk(at))
            if not all(isinstance(node, along) for node in nodes):
                continue
            chosen = {id(node) for node in nodes if isinstance(node, ir.Var)}
            loops = [loop for loop in step.loops if not is_grid(loop) and id(loop.loop_var) in chosen]
            trips = [constant(loop.extent) or 0 for loop in loops]
            size, piece = constant(length), constant(extent)
            if loops and size and piece:
                yield step, size, piece, prod(trips), read.buffer.name


def _summed(kernel: Kernel) -> Iterator[Buffer]:
    """Every tile that `T.reduce_sum` reduces. The call is a macro's: only the tile has a line of the learner's."""
    from tlpuzzles.kernel import tile_ir as ir
    from tlpuzzles.kernel.facts import region

    for step in kernel.steps:
        call = step.call
        if call is not None and call.op == "tl.tileop.reduce":
            kind = call.args[2]
            if isinstance(kind, ir.StringImm) and kind.value in ("sum", "abssum"):
                yield region(call.args[0]).buffer


def _numbers(kernel: Kernel) -> Iterator[tuple[float, int | None]]:
    """The floating-point numbers in the kernel, without their signs, and the lines in which they stand."""
    from tlpuzzles.kernel import tile_ir as ir
    from tlpuzzles.kernel.steps import expressions

    for step in kernel.steps:
        for expr in expressions(step.stmt):
            for node in ir.walk(expr):
                if isinstance(node, ir.FloatImm):
                    yield abs(node.value), step.line


def _off(value: float, right: float) -> float:
    """Relative error."""
    return abs(value / right - 1)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
