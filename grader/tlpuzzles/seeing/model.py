"""What there is to see of one kernel compiled for one architecture: data for the terminal, for JSON and for pictures.

It is filled where the kernel is lowered, and knows neither TileLang nor a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tlpuzzles.verdict.model import Check

SCHEMA_VERSION: Literal[1] = 1

BANKS = 32
"""Of shared memory, four bytes wide each, the same on every architecture (CUDA C++ Programming Guide)."""
BANK_BYTES = 4


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Grid = tuple[tuple[int, ...], ...]
"""Rows of numbers, all equally long."""


class Sight(_Model):
    """A landmark of the CUDA source, where it stands and what it is."""

    kind: str
    """In a word or two: "cp.async"."""
    says: str
    """In plain words."""
    lines: tuple[int, ...] = Field(min_length=1)
    """From 1 on; several where the same comes again before anything else does."""


class Band(_Model):
    """A range of rows or columns."""

    first: int
    last: int


class WarpMap(_Model):
    """Which warp holds which part of a fragment, neighbours with equal owners put together."""

    rows: tuple[Band, ...]
    columns: tuple[Band, ...]
    warps: Grid
    """By band of rows, then of columns."""


class Fragment(_Model):
    """Where the elements of a fragment are: in which thread, and in which of its places for this fragment."""

    threads: int
    """Of the block, or of the warps that compute where others only copy."""
    first_thread: int = 0
    """The lowest threadIdx.x among them: above 0 where producer warps come first."""
    copies: int
    """So many threads hold the same element."""
    places: int
    """Elements that each thread holds."""
    registers: int
    """32-bit registers that takes."""
    thread_grid: Grid
    """threadIdx.x of the thread that holds each element of the corner; of the first copy."""
    place_grid: Grid
    """Its place among the elements that the thread holds."""
    thread_formula: str
    place_formula: str
    warps: WarpMap | None
    """None where it has too many parts to be read."""


class Shared(_Model):
    """Where the elements of a shared tile are."""

    swizzled: bool
    """Whether it is arranged otherwise than row by row."""
    stages: int
    """Copies of the tile that a pipeline keeps; what is drawn is the first."""
    base: int | None
    """Byte of dynamic shared memory at which it begins; None if the source does not say."""
    chunk: int
    """So many neighbours of a row stay together wherever they are put, at most 16 bytes of them."""
    offset_grid: Grid
    """Byte, from the beginning of the tile, of each chunk of the corner."""
    conflict: int | None
    """How often eight rows' chunks below each other fall on the same banks, at worst: that many turns ldmatrix takes
    for what could be done in one. None for a tile without eight rows or without 16 bytes in a row."""
    plain_conflict: int | None
    """The same for the tile row by row."""
    offset_formula: str
    """The element's number in memory."""

    def bank(self, offset: int) -> int:
        """The bank of a byte of the tile."""
        return ((self.base or 0) + offset) // BANK_BYTES % BANKS


class Tile(_Model):
    """One tile that the kernel keeps near the arithmetic units."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    """Without the pipeline's copies."""
    bytes: int
    """In one block, without the pipeline's copies."""
    held: Fragment | Shared = Field(union_mode="left_to_right")


class Way(str, Enum):
    """How the copies of a pipelined loop run ahead of its arithmetic."""

    PRODUCERS = "producer warps"
    """Warps of their own copy, by TMA or cp.async, and mbarriers tell when a stage is full and when it is free."""
    TMA = "TMA"
    CP_ASYNC = "cp.async"
    THREADS = "threads"
    """Each thread reads a trip ahead, by ordinary loads."""
    NONE = "none"
    """Nothing runs ahead."""


class Pipeline(_Model):
    """What a T.Pipelined loop became."""

    loop: str
    """Its variable."""
    line: int | None
    """In the learner's file."""
    stages: int
    """num_stages, as it was asked for."""
    trips: int | None
    """None where that depends on the block."""
    way: Way
    ahead: int
    """So many trips' copies are started before the loop (the prologue), and so many trips are computed after it (the
    epilogue); 0 with producer warps, whose loop has all trips."""
    copies: Mapping[str, int]
    """How many of each shared tile there are, where it is more than one."""
    copy_instructions: int
    """Copies that a trip starts, as the source's loop has them."""
    groups: int
    """cp.async groups that a trip closes."""
    groups_before: int
    """The same, before the loop."""
    waits: tuple[int, ...]
    """For each wait of a trip, how many groups may still be under way."""
    mbarriers: int
    """Of the whole kernel."""
    producers: int
    """Threads that only copy."""
    consumers: int
    """Threads that compute, where others copy."""
    producer_registers: int | None
    consumer_registers: int | None


class Bound(str, Enum):
    """What keeps a multiprocessor from holding one more block."""

    SHARED = "shared memory"
    REGISTERS = "registers"
    THREADS = "threads"
    BLOCKS = "blocks"
    """Their number itself."""


class Occupancy(_Model):
    """How much of a kernel a multiprocessor holds at once."""

    blocks: int
    warps: int
    most_warps: int
    bounds: tuple[Bound, ...]
    """All that allow no more blocks than that."""


class Compilation(_Model):
    """What nvcc made of a kernel."""

    registers: int
    """Of a thread, at launch."""
    local_bytes: int
    """Of a thread: where registers are spilled to, and arrays that no register can hold."""


class Launch(_Model):
    """One CUDA kernel, and what its blocks take."""

    kernel: str
    threads: int
    most_threads: int
    grid: tuple[int | None, ...]
    dynamic_bytes: int
    static_bytes: int
    """With what is left free so that the dynamic part begins where it must."""
    most_shared_bytes: int
    compilation: Compilation | None
    """None where nvcc was not asked or is not there."""
    occupancy: Occupancy | None
    """None for a block that does not fit. Without a compilation registers are left out, and it is the most that is
    possible."""

    @property
    def shared_bytes(self) -> int:
        return self.dynamic_bytes + self.static_bytes


class Seen(_Model):
    """A kernel as TileLang wrote it."""

    source: str
    sights: tuple[Sight, ...]
    tiles: tuple[Tile, ...]
    pipelines: tuple[Pipeline, ...]
    launches: tuple[Launch, ...]
    nvcc: str | None = None
    """Why registers are not known; None if they are."""


class Inspection(_Model):
    """The answer to `tlpuzzles inspect`."""

    schema_version: Literal[1] = Field(default=SCHEMA_VERSION, serialization_alias="schema")
    exercise: str
    file: str
    arch: str
    gpus: str
    case: str
    title: str
    """Of the case."""
    arguments: Mapping[str, str]
    """That the factory was called with, as Python writes them."""
    problem: Check | None = None
    """What keeps the kernel from being compiled or launched there."""
    seen: Seen | None = None
    output: str = ""
    """What the learner's file printed."""

    @model_validator(mode="after")
    def _says_something(self) -> Inspection:
        if self.seen is None and self.problem is None:
            raise ValueError("neither a kernel nor why there is none")
        return self

    def document(self) -> dict[str, object]:
        """The JSON document of `inspect --json`."""
        return self.model_dump(mode="json", by_alias=True)
