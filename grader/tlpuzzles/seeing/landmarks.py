"""The landmarks of a generated CUDA source: the lines that say how a kernel works, each in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from tlpuzzles.seeing import names
from tlpuzzles.seeing.loops import loops
from tlpuzzles.seeing.model import Sight

Match = re.Match[str]

_WAITS = f"{names.BARRIER}|{names.PARTIAL_BARRIER}|{names.MBARRIER_WAIT}|tl::cp_async_wait"
"""A loop in which threads wait is one that a reader wants to find."""


@dataclass(frozen=True)
class _Landmark:
    kind: str
    pattern: str
    says: str | Callable[[Match], str]
    """May hold names of the pattern's groups: "{bytes} bytes"."""

    def phrase(self, match: Match) -> str:
        return self.says(match) if callable(self.says) else self.says.format(**match.groupdict())


def _number(text: str) -> str:
    return f"{int(text):,}"


def _product(who: str, where: str = "") -> Callable[[Match], str]:
    def says(match: Match) -> str:
        if match["m"] is None:
            return f"{who} multiplies on tensor cores{where}"
        m, n, k = match["m"], match["n"], match["k"]
        return f"{who} multiplies {m} x {k} by {k} x {n} {match['dtype'].lower()} on tensor cores{where}"

    return says


_SHAPE = r"(?:<tl::DataType::k(?P<dtype>\w+), (?:tl::DataType::\w+, )+(?P<m>\d+), (?P<n>\d+), (?P<k>\d+))?"


def _matrices(match: Match) -> str:
    count = int(match["count"])
    noun = "matrix" if count == 1 else "matrices"
    turned = ", transposed on the way" if match["turned"] else ""
    counted = {1: "one", 2: "two", 4: "four"}.get(count, str(count))
    return f"a warp loads {counted} 8 x 8 {noun} from shared memory{turned}"


def _panels(match: Match) -> str:
    along = "rows" if match["along"] == "Row" else "columns"
    return f"blocks are numbered anew, in panels of {match['panel']} {along} (T.use_swizzle), to share the L2 cache"


def _arrivals(match: Match) -> str:
    count = int(match["count"])
    return f"an mbarrier is set up that {count:,} {'thread opens' if count == 1 else 'threads open'}"


def _waits(match: Match) -> str:
    left = int(match["left"])
    if left == 0:
        return "waits until no group of copies is under way"
    groups = "1 group of copies is" if left == 1 else f"{left} groups of copies are"
    return f"waits until at most {groups} under way"


def _reduces(match: Match) -> str:
    what = {"Sum": "sum", "Max": "maximum", "Min": "minimum"}.get(match["op"], match["op"])
    return f"{match['threads']} threads exchange values until all have their {what}"


_LANDMARKS = (
    _Landmark(
        "launch bounds", names.KERNEL.pattern + r"(?!.*;\s*$)", "{name} begins here; a block has {threads} threads"
    ),
    _Landmark("shared", r"\bextern __shared__\b", "shared memory whose size is told at launch"),
    _Landmark(
        "shared",
        r"\bvoid\* (?P<tile>\w+) = \(\(void\*\)\(\(char\*\)buf_dyn_shmem \+ (?P<byte>\d+)\)\);",
        lambda match: f"tile {match['tile']} begins at byte {_number(match['byte'])} of it",
    ),
    _Landmark(
        "shared", r"^\s*__shared__ .*\bmbarrier_mem\[(?P<count>\d+)\];", "room for {count} mbarriers in shared memory"
    ),
    _Landmark("shared", r"^\s*__shared__ (?!.*mbarrier_mem)", "shared memory of a fixed size"),
    _Landmark("swizzle", names.SWIZZLE + r"<(?P<panel>\d+)>", _panels),
    _Landmark("mbarrier", r"\.init\((?P<count>\d+)\)", _arrivals),
    _Landmark("mbarrier", names.MBARRIER_WAIT, "waits until an mbarrier opens: a stage is full, or free again"),
    _Landmark(
        "mbarrier",
        r"\.(?:arrive_and_expect_tx|expect_transaction)\((?P<bytes>\d+)\)",
        lambda match: f"tells an mbarrier that {_number(match['bytes'])} bytes will come",
    ),
    _Landmark("mbarrier", r"\.arrive\(", "tells an mbarrier that this thread is done with a stage"),
    _Landmark("warps", names.PRODUCERS + r"<(?P<registers>\d+)>", "producers keep {registers} registers a thread"),
    _Landmark(
        "warps",
        r"\btl::warpgroup_reg_alloc<(?P<registers>\d+)>",
        "the other warps compute: consumers, with {registers} registers a thread",
    ),
    _Landmark(
        "cp.async",
        names.CP_ASYNC + r"(?P<if>_conditional)?<(?P<bytes>\d+)>",
        lambda match: (
            f"each thread starts a copy of {match['bytes']} bytes to shared memory"
            + (", zeros where it is out of bounds" if match["if"] else "")
        ),
    ),
    _Landmark("cp.async", r"\btl::cp_async_commit\b", "the copies started so far become a group"),
    _Landmark("cp.async", r"\btl::cp_async_wait<(?P<left>\d+)>", _waits),
    _Landmark("TMA load", names.TMA_LOAD, "one thread has the copy engine fetch a tile to shared memory"),
    _Landmark("TMA store", names.TMA_STORE, "one thread has the copy engine write a tile to device memory"),
    _Landmark("TMA store", r"\btl::tma_store_wait\b", "waits until the copy engine has read the tile"),
    _Landmark("barrier", names.BARRIER, "all threads of the block wait for each other"),
    _Landmark(
        "barrier",
        names.PARTIAL_BARRIER + r"(?:<\d+, (?P<some>\d+)>\(\)|\(\d+, (?P<threads>\d+)\))?",
        lambda match: f"{match['threads'] or match['some'] or 'some'} threads wait for each other",
    ),
    _Landmark("ldmatrix", names.LDMATRIX + r"x(?P<count>\d)(?P<turned>_trans)?", _matrices),
    _Landmark("stmatrix", r"\btl::ptx_stmatrix_", "a warp writes small matrices to shared memory"),
    _Landmark("mma", names.MMA + _SHAPE, _product("a warp")),
    _Landmark("wgmma", r"\btl::wgmma_ss\b" + _SHAPE, _product("a warp group", ", both out of shared memory")),
    _Landmark("wgmma", r"\btl::wgmma_rs\b" + _SHAPE, _product("a warp group", ", the left one out of registers")),
    _Landmark("wgmma", r"\btl::warpgroup_wait<0>", "waits until its products are done"),
    _Landmark("reduction", r"\btl::AllReduce<tl::(?P<op>\w+?)Op, (?P<threads>\d+)", _reduces),
    _Landmark("vector load", names.VECTOR_LOAD, "each thread reads several elements of a tensor at once"),
    _Landmark("vector store", names.VECTOR_STORE, "each thread writes several elements of a tensor at once"),
    _Landmark("print", r"\bdebug_print|\bprintf\(", "prints on the device"),
)
_PRODUCER_BRANCH = re.compile(r"if \(\(\(int\)threadIdx\.x\) < (?P<threads>\d+)\) \{$")


def landmarks(source: str) -> tuple[Sight, ...]:
    """Every landmark, in the order of lines; the same again before another one comes is one sight of several lines."""
    lines = source.splitlines()
    found = sorted(
        [*_calls(lines), *_branches(lines), *_loops(source, lines), *_accesses(source)], key=lambda sight: sight.lines
    )
    together: list[Sight] = []
    for sight in found:
        last = together[-1] if together else None
        if last is None or (last.kind, last.says) != (sight.kind, sight.says):
            together.append(sight)
        elif last.lines[-1] != sight.lines[0]:
            together[-1] = last.model_copy(update={"lines": (*last.lines, *sight.lines)})
    return tuple(together)


def _calls(lines: list[str]) -> Iterator[Sight]:
    patterns = [(landmark, re.compile(landmark.pattern)) for landmark in _LANDMARKS]
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        for landmark, pattern in patterns:
            match = pattern.search(line)
            if match is not None:
                yield Sight(kind=landmark.kind, says=landmark.phrase(match), lines=(number,))


def _branches(lines: list[str]) -> Iterator[Sight]:
    """Where producer warps leave the others: the branch before they give registers away."""
    for number, (line, below) in enumerate(pairwise(lines), 1):
        match = _PRODUCER_BRANCH.search(line)
        if match is not None and re.search(names.PRODUCERS, below):
            says = f"threads 0 to {int(match['threads']) - 1} go their own way: producer warps, which only copy"
            yield Sight(kind="warps", says=says, lines=(number,))


def _loops(source: str, lines: list[str]) -> Iterator[Sight]:
    """Loops in which threads wait for each other or for copies."""
    waits = [number for number, line in enumerate(lines, 1) if re.search(_WAITS, line)]
    for loop in loops(source):
        if not loop.unrolled and any(loop.has(number) for number in waits):
            trips = "trips whose number depends on the block" if loop.trips is None else f"{loop.trips:,} trips"
            says = f"a loop of {trips} over {loop.var}, down to line {loop.last}"
            yield Sight(kind="loop", says=says, lines=(loop.first,))


def _accesses(source: str) -> Iterator[Sight]:
    """Ordinary loads and stores of tensors."""
    tensors = names.tensors(source)
    wide = set()
    for match in names.vector_accesses(source, tensors):
        number = source.count("\n", 0, match.start("vector")) + 1
        wide.add(number)
        stores = match["store"] is not None
        does, kind = ("writes", "vector store") if stores else ("reads", "vector load")
        says = f"each thread {does} {names.VECTOR_BYTES[match['vector']]} bytes of {match['tensor']} at once"
        yield Sight(kind=kind, says=says, lines=(number,))
    for number, line in enumerate(source.splitlines(), 1):
        for match in re.finditer(
            rf"(?P<store>^\s*)?(?<!&\()(?<![&\w.])(?P<tensor>{'|'.join(tensors) or '(?!)'})\[", line
        ):
            does, kind = ("writes", "store") if match["store"] is not None else ("reads", "load")
            says = f"each thread {does} {match['tensor']} element by element"
            yield Sight(kind=kind, says=says, lines=(number,))
