"""What became of a kernel's T.Pipelined loops, read from the IR between TileLang's passes and from the CUDA source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import tirx

from tlpuzzles.kernel import tile_ir as ir
from tlpuzzles.kernel.cost import PIPELINE
from tlpuzzles.kernel.facts import Kernel
from tlpuzzles.kernel.values import constant
from tlpuzzles.seeing import names
from tlpuzzles.seeing.loops import Loop, loops
from tlpuzzles.seeing.model import Pipeline, Shared, Tile, Way

_STAGES = "software_pipeline_stage"
_ROLES = "kWarpSpecializationScope"


@dataclass(frozen=True)
class Roles:
    """Threads of a block by what they do; all of them compute where there are no producers."""

    producers: int
    consumers: int


def roles(func: Any) -> Roles:
    """Of a TVM function after ProducerConsumerWarpSpecialized."""
    found: list[tuple[int, ...]] = []

    def visit(node: Any) -> None:
        if isinstance(node, tirx.AttrStmt) and node.attr_key == _ROLES:
            found.append(tuple(int(threads) for threads in node.node))

    tirx.stmt_functor.post_order_visit(func.body, visit)
    return Roles(found[0][0], sum(found[0][1:])) if found else Roles(0, 0)


def pipelines(kernel: Kernel, planned: Any, shared: Roles, tiles: Sequence[Tile], source: str) -> Iterator[Pipeline]:
    """Those of a kernel. `planned`: the TVM function after PipelinePlanning."""
    ahead = _ahead(planned)
    for loop in (node for node in kernel.nodes if isinstance(node, ir.For) and PIPELINE in node.annotations):
        asked = loop.annotations[PIPELINE]
        name = loop.loop_var.name or ""
        producers = shared.producers
        runs_ahead = 0 if producers else ahead.get(name, 0)
        trips = constant(loop.extent)
        found = [one for one in loops(source) if _is_it(one, name, trips, runs_ahead)]
        before = _lines(source, 1, found[0].first - 1) if found else source
        trip = "\n".join(_lines(source, one.first, one.last) for one in found) or source
        yield Pipeline(
            loop=name,
            line=loop.line,
            stages=asked.value if isinstance(asked, ir.IntImm) else 0,
            trips=trips,
            way=_way(trip, producers, runs_ahead),
            ahead=runs_ahead,
            copies=_copies(tiles),
            copy_instructions=len(re.findall(f"{names.CP_ASYNC}|{names.TMA_LOAD}", trip)),
            groups=trip.count("tl::cp_async_commit"),
            groups_before=before.count("tl::cp_async_commit") if found else 0,
            waits=tuple(int(left) for left in re.findall(r"tl::cp_async_wait<(\d+)>", trip)) if found else (),
            mbarriers=int(_first(r"\bmbarrier_mem\[(\d+)\]", source) or 0),
            producers=producers,
            consumers=shared.consumers,
            producer_registers=_first(r"warpgroup_reg_dealloc<(\d+)>", source),
            consumer_registers=_first(r"warpgroup_reg_alloc<(\d+)>", source),
        )


def _is_it(loop: Loop, name: str, trips: int | None, ahead: int) -> bool:
    """Whether a loop of the source is what is left of the learner's over `name`: TileLang calls loops of its own so,
    too."""
    return loop.is_over(name) and not loop.unrolled and (trips is None or loop.trips == trips - ahead)


def _copies(tiles: Sequence[Tile]) -> dict[str, int]:
    """How many there are of each shared tile that there are several of."""
    stages = {tile.name: tile.held.stages for tile in tiles if isinstance(tile.held, Shared)}
    return {name: count for name, count in stages.items() if count > 1}


def _ahead(planned: Any) -> dict[str, int]:
    """By loop variable: how many trips the copies are ahead of the arithmetic."""
    found: dict[str, int] = {}

    def visit(node: Any) -> None:
        if isinstance(node, tirx.For) and _STAGES in node.annotations:
            stages = [int(stage) for stage in node.annotations[_STAGES]]
            found[str(node.loop_var.name)] = max(stages) - min(stages)

    tirx.stmt_functor.post_order_visit(planned.body, visit)
    return found


def _way(trip: str, producers: int, ahead: int) -> Way:
    if producers:
        return Way.PRODUCERS
    if ahead == 0:
        return Way.NONE
    if re.search(names.TMA_LOAD, trip):
        return Way.TMA
    return Way.CP_ASYNC if re.search(names.CP_ASYNC, trip) else Way.THREADS


def _lines(source: str, first: int, last: int) -> str:
    return "\n".join(source.splitlines()[first - 1 : last])


def _first(pattern: str, source: str) -> int | None:
    found = re.search(pattern, source)
    return int(found[1]) if found else None
