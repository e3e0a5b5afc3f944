"""What an exercise may ask of a kernel beyond the right result, ready to be named in its `requirements`.

Modules of exercises import this one, and commands that only list exercises must answer at once: the classes of the IR
are imported when there is a kernel to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from tlpuzzles.course.vocabulary import Requirement

if TYPE_CHECKING:
    from tlpuzzles.kernel.facts import Kernel
    from tlpuzzles.kernel.steps import Step
    from tlpuzzles.kernel.tile_ir import Buffer

_PRODUCTS = ("tl.tileop.gemm", "tl.tileop.wgmma_gemm")


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
            f"The kernel calls T.gemm {_times(len(lines))}{_in_lines(lines)}; this exercise needs it {_times(times)}. "
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
                    f"T.gemm{_in_lines([step.line])} adds up in {accumulator.name}{where}, which is "
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
                    f"T.reduce_sum sums up {tile.name}{_in_lines([tile.line])}, which is {tile.dtype}: long sums lose "
                    f'digits. Allocate it with T.alloc_fragment(shape, "{dtype}"), which is what accum_dtype is for; '
                    "T.copy converts on the way in and on the way out."
                )
        return None

    return Requirement(f"sums-in-{dtype}", f"sums up in {dtype}", check)


def one_launch() -> Requirement:
    """All work happens in one `T.Kernel`."""

    def check(kernel: Kernel) -> str | None:
        lines = [launch.line for launch in kernel.launches]
        if len(lines) == 1:
            return None
        if not lines:
            return "The kernel has no `with T.Kernel(...)`."
        return (
            f"The kernel has {len(lines)} launches (`with T.Kernel(...)`){_in_lines(lines)}. Each one reads and writes "
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
            f"For {total:,} elements, {them} all the work (T.Kernel{_in_lines(lines)}), while a GPU has room for "
            "hundreds at a time: the smallest of this course has 40 multiprocessors. Let the number of blocks grow "
            "with the size, T.ceildiv(size, elements of a block), and let each do its own part."
        )

    return Requirement("many-blocks", "shares the work among many blocks", check)


def no_global_intermediate() -> Requirement:
    """Nothing between inputs and output goes through global memory."""

    def check(kernel: Kernel) -> str | None:
        from tlpuzzles.kernel.buffers import owners

        parameters = {id(buffer) for buffer in kernel.func.buffer_map.values()}
        for buffer in owners(kernel.func):
            if buffer.scope == "global" and id(buffer) not in parameters:
                return (
                    f"{buffer.name} is kept in global memory (T.alloc_global{_in_lines([buffer.line])}), where every "
                    "value makes a trip of its own. Keep it in T.alloc_shared or T.alloc_fragment."
                )
        return None

    return Requirement("no-global-intermediate", "keeps intermediate values out of global memory", check)


def _products(kernel: Kernel) -> Iterator[tuple[Step, Buffer]]:
    """Every product of tiles with the buffer that it adds to."""
    from tlpuzzles.kernel import tile_ir as ir
    from tlpuzzles.kernel.facts import region

    for step in kernel.steps:
        call = step.stmt.value if isinstance(step.stmt, ir.Evaluate) else None
        if isinstance(call, ir.Call) and call.op in _PRODUCTS:
            yield step, region(call.args[2]).buffer


def _summed(kernel: Kernel) -> Iterator[Buffer]:
    """Every tile that `T.reduce_sum` reduces. The call is a macro's: only the tile has a line of the learner's."""
    from tlpuzzles.kernel import tile_ir as ir
    from tlpuzzles.kernel.facts import region

    for step in kernel.steps:
        call = step.stmt.value if isinstance(step.stmt, ir.Evaluate) else None
        if isinstance(call, ir.Call) and call.op == "tl.tileop.reduce":
            kind = call.args[2]
            if isinstance(kind, ir.StringImm) and kind.value in ("sum", "abssum"):
                yield region(call.args[0]).buffer


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _in_lines(lines: list[int | None]) -> str:
    from tlpuzzles.kernel.findings import listed

    known = [str(line) for line in lines if line is not None]
    return f" in {'line' if len(known) == 1 else 'lines'} {listed(known)}" if known else ""
