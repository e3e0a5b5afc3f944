"""Exercise 8: what is asked of a function that counts what a generated CUDA source contains."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from tlpuzzles.course.functions import Answer, Call, Fault, FunctionCheck, Json, same
from tlpuzzles.course.recorded import Recording, recording_of, recordings
from tlpuzzles.seeing import names

PRODUCTS = ("mma", "wgmma", "ldmatrix")
COPIES = ("cp.async", "tma")
THREADS = ("barriers", "launch_bounds")
KEYS = (*PRODUCTS, *COPIES, *THREADS)
SHOWN = 72
"""Characters of a source's line in a message."""


@dataclass(frozen=True)
class Miscount:
    """A typical way to count one landmark wrongly."""

    id: str
    says: str
    pattern: str
    """Regular expression for what is counted."""

    def count(self, source: str) -> int:
        return len(re.findall(self.pattern, source))


def _plain(text: str) -> str:
    """The pattern of a text, wherever it stands."""
    return re.escape(text)


PLACES: Mapping[str, str] = {
    "mma": names.MMA,
    "wgmma": names.WGMMA,
    "ldmatrix": names.LDMATRIX,
    "cp.async": names.CP_ASYNC,
    "tma": f"{names.TMA_LOAD}|{names.TMA_STORE}",
    "barriers": f"{names.BARRIER}|{names.PARTIAL_BARRIER}|{names.MBARRIER_WAIT}",
}
"""Where the landmarks are, to show a learner a line. What is right is the tool's count, which a test compares."""
NAMES: Mapping[str, str] = {
    "mma": "a product of a warp",
    "wgmma": "a product of a warp group",
    "ldmatrix": "a load of small matrices",
    "cp.async": "a copy that runs by itself",
    "tma": "a copy by the copy engine",
    "barriers": "a barrier",
}


MISCOUNTS: Mapping[str, tuple[Miscount, ...]] = {
    "mma": (
        Miscount(
            "wgmma-as-mma",
            'This counts the letters "mma" wherever they stand: in wgmma and in #include lines, too.',
            _plain("mma"),
        ),
        Miscount("wgmma-as-mma", "This counts products of warp groups (wgmma) as mma.", r"mma_(?:sync|ss|rs)"),
        Miscount("mma-includes", "This counts #include lines, which call nothing.", r"\bmma"),
        Miscount(
            "mma-as-in-ptx",
            "This finds none: the call is tl::mma_sync in TileLang's source, not mma.sync as in PTX.",
            _plain("mma.sync"),
        ),
    ),
    "wgmma": (
        Miscount(
            "wgmma-descriptors",
            'This counts the letters "wgmma" wherever they stand: what prepares a product multiplies nothing.',
            _plain("wgmma"),
        ),
        Miscount(
            "wgmma-descriptors",
            "This counts what prepares a product (tl::initialize_wgmma_descriptor), too.",
            r"wgmma_",
        ),
        Miscount(
            "wgmma-shared-only", "This leaves out tl::wgmma_rs, whose left factor is in registers.", _plain("wgmma_ss")
        ),
    ),
    "ldmatrix": (
        Miscount("ldmatrix-x4-only", "This leaves out the loads of two matrices (_x2).", _plain("ldmatrix_x4")),
        Miscount(
            "ldmatrix-not-transposed",
            "This leaves out the loads that transpose on the way (_trans).",
            r"ldmatrix_x[124]\(",
        ),
        Miscount("ldmatrix-stores", "This counts stores (tl::ptx_stmatrix_...), too.", r"(?:ld|st)matrix"),
    ),
    "cp.async": (
        Miscount(
            "waits-as-copies",
            "This counts tl::cp_async_commit and tl::cp_async_wait, which copy nothing.",
            _plain("cp_async"),
        ),
        Miscount(
            "commits-as-copies",
            "This counts the ends of groups of copies (tl::cp_async_commit): there can be groups without a copy.",
            _plain("cp_async_commit"),
        ),
        Miscount(
            "cp-async-as-in-ptx",
            "This finds none: the call is tl::cp_async_gs in TileLang's source, not cp.async as in PTX.",
            _plain("cp.async"),
        ),
    ),
    "tma": (
        Miscount(
            "tma-waits-as-copies",
            'This counts the letters "tma" wherever they stand: what prepares or awaits a copy copies nothing.',
            _plain("tma"),
        ),
        Miscount(
            "tma-waits-as-copies",
            "This counts what waits for a copy (tl::tma_store_arrive, tl::tma_store_wait), too.",
            r"\btma_(?:load|store)",
        ),
        Miscount("tma-waits-as-copies", "This counts what waits for a copy, too.", r"\btma_"),
        Miscount("tma-loads-only", "This leaves out tl::tma_store.", _plain("tma_load")),
    ),
    "barriers": (
        Miscount(
            "syncthreads-only",
            "This leaves out waits at an mbarrier and barriers for a part of the threads.",
            _plain("__syncthreads"),
        ),
        Miscount(
            "barriers-without-mbarriers",
            "This leaves out waits at an mbarrier.",
            "__syncthreads|_thread_partial",
        ),
        Miscount(
            "barriers-without-partial",
            "This leaves out tl::__sync_thread_partial, a barrier for a part of the threads.",
            r"__syncthreads|\.wait\(",
        ),
        Miscount(
            "mbarrier-as-barrier",
            "This counts every mention of an mbarrier: only its .wait makes a thread wait.",
            "__syncthreads|_thread_partial|mbarrier",
        ),
    ),
    "launch_bounds": (
        Miscount(
            "launch-bounds-counted",
            "That is how often __launch_bounds__ occurs, or the second number in its parentheses; wanted is the first, "
            "the threads of a block.",
            _plain("__launch_bounds__"),
        ),
    ),
}
"""Each is asked alone: a learner may count several landmarks wrongly."""


@cache
def _miscounted(miscount: Miscount) -> tuple[int, ...]:
    """What it makes of each recording."""
    return tuple(miscount.count(recording.device_source) for recording in recordings())


def _telling(rng: random.Random, key: str) -> Iterator[Recording]:
    """Recordings that tell each way of miscounting a landmark from the right one and from every other way."""
    right = tuple(recording.landmarks[key] for recording in recordings())
    ways = {(miscount.id, _miscounted(miscount)) for miscount in MISCOUNTS[key]}
    known = [("", right), *sorted(ways)]
    for place, (name, counts) in enumerate(known):
        for other, others in known[place + 1 :]:
            if name != other:
                differ = [r for r, one, two in zip(recordings(), counts, others, strict=True) if one != two]
                yield rng.choice(differ)


def _sources(keys: Sequence[str]) -> Callable[[random.Random], Sequence[Call]]:
    def calls(rng: random.Random) -> Sequence[Call]:
        chosen = [recording for key in keys for recording in _telling(rng, key)]
        sources = list({recording.device_source: None for recording in (*chosen, *rng.sample(recordings(), 2))})
        rng.shuffle(sources)
        return [Call("landmarks", {"source": source}) for source in sources]

    return calls


def _counts(keys: Sequence[str]) -> Callable[[Sequence[Call], Sequence[Answer]], Fault | None]:
    def judge(calls: Sequence[Call], answers: Sequence[Answer]) -> Fault | None:
        sources = [str(call.arguments["source"]) for call in calls]
        asked = [recording_of(source) for source in sources]
        for recording, answer in zip(asked, answers, strict=True):
            fault = _shape(recording, answer.value, keys)
            if fault is not None:
                return fault
        for key in keys:
            found = [answer.value[key] for answer in answers]
            for recording, count in zip(asked, found, strict=True):
                if not same(recording.landmarks[key], count):
                    fault = Fault(
                        f'landmarks of the source of {recording.title} says {count!r} for "{key}"; right is '
                        f"{recording.landmarks[key]}.",
                        hint=2,
                    )
                    return _explained(fault, key, sources, found, sources.index(recording.device_source))
        return None

    return judge


def _shape(recording: Recording, value: Json, keys: Sequence[str]) -> Fault | None:
    start = f"landmarks of the source of {recording.title}"
    if not isinstance(value, dict):
        return Fault(
            f"{start} returned {_short(value)}; it must return a dict with the keys {', '.join(KEYS)}.", hint=1
        )
    missing = [f'"{key}"' for key in keys if key not in value]
    if missing:
        return Fault(f"{start} returned a dict without {', '.join(missing)}.", hint=1)
    return None


def _explained(fault: Fault, key: str, sources: Sequence[str], found: Sequence[Json], told: int) -> Fault:
    """The fault with what was done, where that is known, and with a line of the source that it tells about."""
    source, count = sources[told], found[told]
    if isinstance(count, str):
        return Fault(f"{fault.message} A number is wanted, not a text: int(...) makes one.", "text-for-number", 2)
    for miscount in MISCOUNTS[key]:
        if all(same(miscount.count(source), count) for source, count in zip(sources, found, strict=True)):
            line = _line_of(source, key, miscount.pattern)
            return Fault(" ".join(filter(None, (fault.message, miscount.says, line))), miscount.id, 2)
    if key in PLACES and count == 0:
        first = next(iter(_spans(PLACES[key], source)), None)
        return Fault(f"{fault.message} {_shown('The first is', source, first)}", fault.mistake, 2) if first else fault
    return fault


def _line_of(source: str, key: str, counted: str) -> str:
    """A line that is counted and should not be, or else one that is missed; "" where there is none to show."""
    if key not in PLACES:
        return ""
    right, wrong = list(_spans(PLACES[key], source)), list(_spans(counted, source))
    too_many = next((one for one in wrong if not any(_touch(one, other) for other in right)), None)
    if too_many is not None:
        return _shown(f"Not {NAMES[key]}:", source, too_many)
    missed = next((one for one in right if not any(_touch(one, other) for other in wrong)), None)
    return "" if missed is None else _shown("Missed:", source, missed)


def _spans(pattern: str, source: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in re.finditer(pattern, source))


def _touch(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _shown(what: str, source: str, span: tuple[int, int]) -> str:
    """The line where a place is, cut around it."""
    number = source.count("\n", 0, span[0]) + 1
    start = source.rfind("\n", 0, span[0]) + 1
    line = source[start:].partition("\n")[0]
    text = line.strip()
    if len(text) > SHOWN:
        begin = max(0, min(span[0] - start - SHOWN // 3, len(line) - SHOWN))
        text = f"{'...' if line[:begin].strip() else ''}{line[begin : begin + SHOWN].strip()}..."
    return f"{what} line {number}, `{text}`."


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


CHECKS = (
    FunctionCheck(
        "landmarks-products",
        "landmarks counts the products on tensor cores and their loads",
        _sources(PRODUCTS),
        _counts(PRODUCTS),
    ),
    FunctionCheck(
        "landmarks-copies", "landmarks counts the copies that run by themselves", _sources(COPIES), _counts(COPIES)
    ),
    FunctionCheck(
        "landmarks-threads", "landmarks counts the barriers and finds the threads", _sources(THREADS), _counts(THREADS)
    ),
)
