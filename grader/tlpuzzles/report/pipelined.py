"""What T.Pipelined loops became, in words and counts."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import Marks
from tlpuzzles.seeing.model import Pipeline, Seen, Way


def pipelined(seen: Seen, page: Page, marks: Marks) -> None:
    """Each loop, and then each sentence about it."""
    if not seen.pipelines:
        page.paragraph("The kernel has no T.Pipelined loop with stages: nothing is copied ahead.", lead="  ")
    for number, pipeline in enumerate(seen.pipelines):
        if number:
            page.blank()
        line = f" (line {pipeline.line} of your file)" if pipeline.line is not None else ""
        trips = "trips as the block needs" if pipeline.trips is None else f"{pipeline.trips:,} trips"
        name = marks.one_line(pipeline.loop)
        head = Text.assemble((f"{name}: {trips}, num_stages={pipeline.stages}", "bold"), (line, "dim"))
        page.paragraph(head, lead="  ")
        bullet = "-" if marks.is_ascii else marks.separator
        for sentence in sentences(pipeline):
            page.paragraph(sentence, lead=Text.assemble("  ", (bullet, "cyan"), " "))


def sentences(pipeline: Pipeline) -> list[str]:
    """What became of it."""
    told = [_ROUTES[pipeline.way](pipeline)]
    if pipeline.ahead:
        told.append(_parts(pipeline))
    if pipeline.way is Way.CP_ASYNC:
        told.append(_groups(pipeline))
    if pipeline.copies:
        tiles = ", ".join(f"{count} of {name}" for name, count in pipeline.copies.items())
        told.append(f"Shared memory holds {tiles}.")
    elif pipeline.way is not Way.NONE:
        told.append(
            "Shared memory holds one copy of each tile: the next one comes when the last is no longer needed in its "
            "trip."
        )
    return told


def _producers(pipeline: Pipeline) -> str:
    told = (
        f"Warps are specialised: {pipeline.producers} threads only copy ({_calls(pipeline)} a trip in the source), "
        f"{pipeline.consumers} compute. {pipeline.mbarriers} mbarriers say when a stage is full and when it is free."
    )
    if pipeline.producer_registers and pipeline.consumer_registers:
        told += (
            f" The producers keep {pipeline.producer_registers} registers a thread, so that the others can have "
            f"{pipeline.consumer_registers}."
        )
    return f"{told} The producers run ahead as far as there are stages, so there is no prologue and no epilogue."


def _calls(pipeline: Pipeline) -> str:
    return f"{pipeline.copy_instructions} {'call' if pipeline.copy_instructions == 1 else 'calls'}"


_ROUTES: dict[Way, Callable[[Pipeline], str]] = {
    Way.PRODUCERS: _producers,
    Way.TMA: lambda pipeline: (
        f"The copy engine (TMA) brings the tiles of later trips, {_calls(pipeline)} a trip, while this one's are "
        "multiplied."
    ),
    Way.CP_ASYNC: lambda pipeline: (
        f"The threads start copies that run by themselves (cp.async, {_calls(pipeline)} a trip in the source), and "
        "compute meanwhile."
    ),
    Way.THREADS: lambda _: (
        "The threads copy a trip ahead by ordinary loads through registers: this GPU, or this tile, has no copies that "
        "run by themselves."
    ),
    Way.NONE: lambda _: "It is an ordinary loop: nothing is copied ahead, each trip waits for its own tiles.",
}


def _parts(pipeline: Pipeline) -> str:
    ahead = pipeline.ahead
    trips, last = ("1 trip", "the last trip") if ahead == 1 else (f"{ahead} trips", f"the last {ahead} trips")
    left = "" if pipeline.trips is None else f" of {max(pipeline.trips - ahead, 0):,} trips"
    return (
        f"Prologue: copies for {trips}. Steady state: a loop{left} that copies for the trip {ahead} ahead and "
        f"computes. Epilogue: {last} computed."
    )


def _groups(pipeline: Pipeline) -> str:
    told = f"Groups of copies: {pipeline.groups_before} before the loop, {pipeline.groups} more in each trip"
    most = " and then ".join(f"at most {left}" for left in pipeline.waits)
    return f"{told}. A trip waits until {most} are under way." if most else f"{told}."
