"""Where an output is wrong and how: data for a picture, part of the result model. It holds no tensor's values."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

LARGEST_ERROR = 1000.0
"""Larger relative errors are told as this one."""

Count = Annotated[int, Field(gt=0)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CellState(str, Enum):
    """What elements of an output are."""

    RIGHT = "right"
    WRONG = "wrong"
    """Finite, or finite where it must not be."""
    UNWRITTEN = "unwritten"
    NAN = "nan"
    INFINITE = "infinite"


class Cell(_Model):
    """A rectangle of the output, or a stretch of a vector."""

    state: CellState
    """What its elements are that are not right, or most of those."""
    part: float = Field(default=0.0, ge=0, le=1)
    """How much of it is not right; two digits."""
    also: tuple[CellState, ...] = ()
    """What fewer of its elements are, right ones aside."""
    error: float | None = Field(default=None, ge=0, le=LARGEST_ERROR)
    """The largest error of a wrong element, relative to the root mean square of what its row must be; two digits. Null
    where that says nothing: where no wrong element is finite, or none must be."""

    @model_validator(mode="after")
    def _is_wrong_in_part(self) -> Cell:
        if (self.state is CellState.RIGHT) != (self.part == 0):
            raise ValueError("a cell is right if no part of it is wrong")
        if self.state in self.also or CellState.RIGHT in self.also:
            raise ValueError("a cell is also what it is said to be")
        return self


class MapAxis(_Model):
    """An axis of the output that is cut into cells of one length, the last one perhaps shorter."""

    name: str
    """In the exercise's contract, e.g. "M"."""
    size: Count
    cell: Count
    """Elements of a cell along it."""
    block: Count | None = None
    """Elements that the kernel stores at a time along it; null where that is unknown, or all of the axis. A cell is a
    part of it, or several."""

    @property
    def cells(self) -> int:
        return -(-self.size // self.cell)

    def span(self, cell: int, count: int = 1) -> tuple[int, int]:
        """The first and the last index of so many cells from that one on."""
        return cell * self.cell, min((cell + count) * self.cell, self.size) - 1


class BrokenRow(_Model):
    """The first row (along the last axis) that is wrong, where a row is what the kernel computes as one."""

    name: str
    """What the exercise calls it: "query"."""
    index: int = Field(ge=0)
    """Along the map's first axis. All rows before it are right."""
    wrong: Count
    """How many of its elements are."""
    length: Count


class ErrorMap(_Model):
    """An output by cells: rows and columns of a matrix, or a vector that is wrapped into rows."""

    tensor: str
    axes: tuple[MapAxis, ...] = Field(min_length=1, max_length=2)
    """Rows and columns, or the only axis of a vector, whose cells then follow each other row by row."""
    cells: tuple[tuple[Cell, ...], ...]
    first: CellState
    """What the first wrong element is."""
    fixed: dict[str, int] = Field(default_factory=dict)
    """Indices along the output's other axes: the slice that holds the first wrong element."""
    slices: Count = 1
    """How many slices there are, one for each choice of those indices."""
    wrong_slices: Count = 1
    first_row: BrokenRow | None = None

    @model_validator(mode="after")
    def _is_wrong_somewhere(self) -> ErrorMap:
        if self.first is CellState.RIGHT or not any(cell.part for row in self.cells for cell in row):
            raise ValueError("the map of an output that is right")
        return self

    @model_validator(mode="after")
    def _has_all_cells(self) -> ErrorMap:
        widths = [len(row) for row in self.cells]
        if len(self.axes) == 2:
            is_full = widths == [self.axes[1].cells] * self.axes[0].cells
        else:
            is_full = sum(widths) == self.axes[0].cells and len({*widths[:-1], max(widths)}) == 1
        if not is_full:
            raise ValueError(f"rows of {widths} cells do not fill the axes")
        return self
