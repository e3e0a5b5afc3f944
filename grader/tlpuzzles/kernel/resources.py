"""Whether a kernel's launches and tiles fit on a GPU, and a grading's patience."""

from __future__ import annotations

from collections.abc import Iterator

from tlpuzzles.device.limits import (
    ARCHITECTURES,
    LARGEST_SHARED,
    MAX_GRID_XYZ,
    MAX_LOCAL_BYTES,
    MAX_REGISTERS,
    MAX_THREADS,
    MAX_THREADS_XYZ,
    WARP,
)
from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.buffers import buffer_bytes, owners
from tlpuzzles.kernel.cost import LaunchCost, launch_costs, work
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.findings import Finding, Kind, Severity, listed, size
from tlpuzzles.kernel.values import Ranges, constant

ABSURD_REGISTERS = 16 * MAX_REGISTERS
"""Registers a thread beyond which a kernel is refused: some spills cost time, this many keep nvcc busy for minutes."""

MAX_STATIC_SHARED = 48 << 10
"""Bytes of tiles with `scope="shared"`, which are part of the program; ptxas takes no more on any architecture."""

MAX_WORKSPACE = 1 << 30
"""Bytes of `T.alloc_global`."""

MAX_CPU_WORK = 50_000_000_000
"""Element operations that a CPU run waits for: a multiply-add takes some 2 ns there, so this is two minutes."""


def launches(kernel: Kernel, sizes: Ranges) -> Iterator[Finding]:
    """Numbers of blocks and threads, shared memory and registers of each launch."""
    largest = max((buffer_bytes(buffer) for buffer in owners(kernel.func) if _is_shared(buffer)), default=0)
    for cost in launch_costs(kernel, sizes):
        yield from _grid(cost)
        yield from _threads(cost)
        # A tile that is too large by itself is named by `tiles`.
        if largest <= LARGEST_SHARED.shared_bytes:
            yield from _shared(cost)
        yield from _registers(cost)


def tiles(kernel: Kernel) -> Iterator[Finding]:
    """Single tiles that are larger than any GPU's memory for them."""
    static = 0
    for buffer in owners(kernel.func):
        if buffer.scope == ir.Scope.GLOBAL:
            yield from _workspace(kernel, buffer)
            continue
        if any(constant(extent) is None for extent in buffer.shape):
            yield _finding(
                Kind.SHARED_MEMORY,
                f"The size of {buffer.name} depends on something known only when the kernel runs. Give the tile a "
                "fixed size, and mask what is left over.",
                buffer.line,
            )
        used = buffer_bytes(buffer)
        if _is_shared(buffer) and used > LARGEST_SHARED.shared_bytes:
            yield _finding(
                Kind.SHARED_MEMORY,
                f"The tile {_described(buffer)} takes {size(used)} of shared memory. {_most_shared()} Use smaller "
                "tiles and loop over them.",
                buffer.line,
            )
        if buffer.scope == ir.Scope.LOCAL and used > MAX_LOCAL_BYTES:
            yield _finding(
                Kind.REGISTERS,
                f"{_described(buffer)} takes {size(used)} in every thread; a thread has {size(MAX_LOCAL_BYTES)}. Share "
                "it with T.alloc_shared, or spread it over the threads with T.alloc_fragment.",
                buffer.line,
            )
        if buffer.scope == ir.Scope.SHARED:
            static += used
            if static > MAX_STATIC_SHARED >= static - used:
                yield _finding(
                    Kind.SHARED_MEMORY,
                    f'Tiles with scope="shared" take {size(static)} together with {buffer.name}; no GPU gives them '
                    f"more than {size(MAX_STATIC_SHARED)}. Leave scope= out of T.alloc_shared.",
                    buffer.line,
                )


def too_much_work(kernel: Kernel, sizes: Ranges) -> Finding | None:
    """The finding for a kernel that a CPU would not finish within minutes."""
    operations = work(kernel, sizes)
    if operations <= MAX_CPU_WORK:
        return None
    grids = [cost.blocks for cost in launch_costs(kernel, sizes)]
    blocks = max((count for count in grids if count is not None), default=0)
    return _finding(
        Kind.WORK,
        f"The kernel makes some {operations:.0e} element operations in {blocks:,} blocks; a CPU grading waits for "
        f"{MAX_CPU_WORK:.0e}. Are the grid and the loops as long as they should be?",
        kernel.launches[0].line if kernel.launches else None,
    )


def _finding(kind: Kind, message: str, line: int | None, severity: Severity = Severity.REFUSED) -> Finding:
    return Finding(kind, severity, message, line)


def _grid(cost: LaunchCost) -> Iterator[Finding]:
    line = cost.launch.line
    tags = [f"blockIdx.{axis}" for axis in "xyz"][: len(cost.grid)]
    found = [_tag(loop) for loop in _grid_loops(cost.launch.loop)]
    if found != tags:
        yield _finding(Kind.LAUNCH, "The grid of T.Kernel has axes that do not follow each other as x, y, z.", line)
        return
    for axis, blocks, most in zip("xyz", cost.grid, MAX_GRID_XYZ, strict=False):
        if blocks is None:
            yield _finding(
                Kind.LAUNCH,
                f"The number of blocks along {axis} depends on something known only when the kernel runs. Compute it "
                "from the sizes: T.Kernel(T.ceildiv(N, block_N), ...).",
                line,
            )
        elif blocks < 1:
            yield _finding(
                Kind.LAUNCH,
                f"The grid has {blocks} blocks along {axis}: nothing runs. Use T.ceildiv(N, block_N), which rounds up.",
                line,
            )
        elif blocks > most:
            yield _finding(
                Kind.LAUNCH, f"The grid has {blocks:,} blocks along {axis}; a GPU takes at most {most:,}.", line
            )


def _grid_loops(loop: ir.For) -> Iterator[ir.For]:
    stmt: ir.Stmt = loop
    while isinstance(stmt, ir.For) and stmt.thread_binding is not None:
        yield stmt
        stmt = stmt.body


def _tag(loop: ir.For) -> str:
    return "" if loop.thread_binding is None else loop.thread_binding.thread_tag


def _threads(cost: LaunchCost) -> Iterator[Finding]:
    line, threads = cost.launch.line, cost.threads
    for axis, count, most in zip("xyz", cost.launch.threads, MAX_THREADS_XYZ, strict=False):
        if not 1 <= count <= most:
            yield _finding(Kind.LAUNCH, f"A block has {count:,} threads along {axis}; 1 to {most} are possible.", line)
            return
    if threads > MAX_THREADS:
        message = f"A block has {threads:,} threads; a GPU takes at most {MAX_THREADS}. Use threads=128 or 256."
        yield _finding(Kind.LAUNCH, message, line)
    elif threads % WARP:
        yield _finding(
            Kind.LAUNCH,
            f"A block has {threads} threads. They run in warps of {WARP}, so part of the last warp idles; many tile "
            f"operations want a multiple of {WARP}.",
            line,
            Severity.WARNS,
        )


def _shared(cost: LaunchCost) -> Iterator[Finding]:
    line, used = cost.launch.line, cost.shared_bytes
    if used > LARGEST_SHARED.shared_bytes:
        yield _finding(
            Kind.SHARED_MEMORY,
            f"The shared tiles of a block need {size(used)} at the same time (each counted once a pipeline stage). "
            f"{_most_shared()} Use smaller tiles or fewer stages.",
            line,
        )
        return
    small = [f"{gpu.gpus} ({gpu.shared})" for gpu in ARCHITECTURES if used > gpu.shared_bytes]
    if small:
        yield _finding(
            Kind.SHARED_MEMORY,
            f"The shared tiles of a block need {size(used)} at the same time: too much for {listed(small)}. Smaller "
            "tiles or fewer pipeline stages run there too.",
            line,
            Severity.WARNS,
        )


def _most_shared() -> str:
    by_size = sorted(ARCHITECTURES, key=lambda gpu: -gpu.shared_bytes)
    others = [f"{gpu.shared} on {gpu.gpus}" for gpu in by_size if gpu is not LARGEST_SHARED]
    return f"A block has at most {LARGEST_SHARED.shared} on {LARGEST_SHARED.gpus}, {listed(others)}."


def _registers(cost: LaunchCost) -> Iterator[Finding]:
    if cost.registers <= MAX_REGISTERS:
        return
    start = (
        f"The fragments of a block hold {cost.registers:,} registers for each of its {cost.threads} threads; a thread "
        f"has {MAX_REGISTERS}."
    )
    if cost.registers > ABSURD_REGISTERS:
        message = f"{start} Use smaller fragments or more threads, or keep the data in shared memory."
        yield _finding(Kind.REGISTERS, message, cost.launch.line)
    else:
        message = (
            f"{start} What does not fit is moved to slow memory. That costs no points by itself, only speed. Smaller "
            "fragments (fewer rows, for example) or more threads avoid it."
        )
        yield _finding(Kind.REGISTERS, message, cost.launch.line, Severity.WARNS)


def _workspace(kernel: Kernel, buffer: ir.Buffer) -> Iterator[Finding]:
    is_parameter = any(buffer is parameter for parameter in kernel.func.buffer_map.values())
    if not is_parameter and buffer_bytes(buffer) > MAX_WORKSPACE:
        yield _finding(
            Kind.SHARED_MEMORY,
            f"T.alloc_global asks for {size(buffer_bytes(buffer))} for {_described(buffer)}; at most "
            f"{size(MAX_WORKSPACE)} are given.",
            buffer.line,
        )


def _is_shared(buffer: ir.Buffer) -> bool:
    return buffer.scope in (ir.Scope.SHARED, ir.Scope.SHARED_DYNAMIC)


def _described(buffer: ir.Buffer) -> str:
    shape = " x ".join(str(constant(extent)) for extent in buffer.shape)
    return f"{buffer.name} ({shape} {buffer.dtype})"
