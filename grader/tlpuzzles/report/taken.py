"""What a block takes, beside what there is, and how many blocks a multiprocessor holds then."""

from __future__ import annotations

from rich.text import Text

from tlpuzzles.device.limits import MAX_REGISTERS
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks
from tlpuzzles.seeing.model import Bound, Launch, Occupancy, Seen

BAR = 16


def taken(seen: Seen, page: Page, marks: Marks) -> None:
    """For each CUDA kernel of the source."""
    for number, launch in enumerate(seen.launches):
        if number:
            page.blank()
        if len(seen.launches) > 1:
            page.paragraph(Text(marks.one_line(launch.kernel), style="bold"), lead="  ")
        rows = [
            ("blocks", Text(" x ".join("?" if extent is None else f"{extent:,}" for extent in _grid(launch)))),
            ("threads", _beside(launch.threads, launch.most_threads, "", marks)),
            ("shared", _beside(launch.shared_bytes, launch.most_shared_bytes, " bytes", marks)),
        ]
        if launch.static_bytes and launch.dynamic_bytes:
            split = f"{launch.dynamic_bytes:,} bytes at launch, {launch.static_bytes:,} fixed"
            rows.append(("", Text(split, style="dim")))
        if launch.compilation is not None:
            rows.append(("registers", _beside(launch.compilation.registers, MAX_REGISTERS, " a thread", marks)))
            spilled = launch.compilation.local_bytes
            says = f"{spilled:,} bytes a thread in device memory" if spilled else "nothing"
            rows.append(("spills", Text(says, style="red" if spilled else "")))
        else:
            rows.append(("registers", Text(f"not known: {marks.clean(seen.nvcc or 'nvcc gave none')}", style="dim")))
        rows.append(("occupancy", _occupancy(launch)))
        page.pairs(rows, indent=2)


def _grid(launch: Launch) -> tuple[int | None, ...]:
    grid = launch.grid
    while len(grid) > 1 and grid[-1] == 1:
        grid = grid[:-1]
    return grid


def _beside(used: int, most: int, unit: str, marks: Marks) -> Text:
    filled = min(-(-BAR * used // most), BAR)
    style = "red" if used > most else "cyan"
    return Text.assemble(
        (marks.filled * filled, style), (marks.empty * (BAR - filled), "dim"), f" {used:,} of {most:,}{unit}"
    )


def _occupancy(launch: Launch) -> Text:
    found = launch.occupancy
    if found is None:
        return Text("none: a block does not fit on a multiprocessor", style="red")
    blocks = "1 block" if found.blocks == 1 else f"{found.blocks} blocks"
    allow = "allows" if len(found.bounds) == 1 else "allow"
    told = f"{blocks} a multiprocessor, {found.warps} of {found.most_warps} warps; {_bounds(found)} {allow} no more"
    if launch.compilation is None:
        told = f"at most {told}. Registers, which are not known, may allow less."
    return Text(told if told.endswith(".") else f"{told}.")


def _bounds(found: Occupancy) -> str:
    names = {
        Bound.SHARED: "shared memory",
        Bound.REGISTERS: "the register file",
        Bound.THREADS: "the number of threads",
        Bound.BLOCKS: "the number of blocks",
    }
    return " and ".join(names[bound] for bound in found.bounds)
