"""The map shows where an output is wrong and how, in cells that the kernel's blocks are made of."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

from tests.verdict.samples import ADD, ATTENTION, GEMM, judged, posed, right, unwritten
from tlpuzzles.verdict.error_map import LARGEST_ERROR, Cell, CellState, ErrorMap, MapAxis
from tlpuzzles.verdict.judge import judge
from tlpuzzles.verdict.judgement import CaseJudgement
from tlpuzzles.verdict.posed import Posed, raw

R, W, U, N, I = CellState.RIGHT, CellState.WRONG, CellState.UNWRITTEN, CellState.NAN, CellState.INFINITE  # noqa: E741


def mapped(problem: Posed, folder: Path, found: torch.Tensor, tile: tuple[int, ...] | None = None) -> ErrorMap:
    file = folder / "found.bin"
    file.write_bytes(raw(found))
    told = judge(problem.exercise, problem.case, problem.sizes, problem.seed, file, tile=tile)
    drawn = CaseJudgement.model_validate_json(told.model_dump_json()).output.detail.error_map
    assert drawn is not None
    return drawn


def states(drawn: ErrorMap) -> list[list[CellState]]:
    return [[cell.state for cell in row] for row in drawn.cells]


@pytest.fixture
def gemm() -> Posed:
    return posed(GEMM, M=100, N=228, K=96)


def test_cells_are_parts_of_the_kernels_blocks_and_say_what_they_hold(gemm: Posed, tmp_path: Path) -> None:
    found = right(gemm)
    found[64:, :64] = unwritten((36, 64), "float16")
    found[:64, 64:128] = math.nan
    found[:64, 128:192] = math.inf
    found[64:, 192:] = 0.0
    drawn = mapped(gemm, tmp_path, found, (64, 64))
    assert drawn.axes == (
        MapAxis(name="M", size=100, cell=16, block=64),
        MapAxis(name="N", size=228, cell=16, block=64),
    )
    assert states(drawn) == [[R] * 4 + [N] * 4 + [I] * 4 + [R] * 3] * 4 + [[U] * 4 + [R] * 8 + [W] * 3] * 3
    assert (drawn.tensor, drawn.first, drawn.fixed, drawn.slices) == ("C", N, {}, 1)
    assert drawn.cells[6][0] == Cell(state=U, part=1.0)
    last = drawn.cells[6][14]
    # What is 0 instead of a number of about the row's size is off by about that size.
    assert last.part >= 0.99
    assert last.error == pytest.approx(2, rel=0.5)


def test_a_cell_holds_several_blocks_where_there_are_many(tmp_path: Path) -> None:
    problem = posed(GEMM, M=100, N=990, K=32)
    found = right(problem)
    found[0, 0] += 100
    drawn = mapped(problem, tmp_path, found, (4, 32))
    assert [(axis.cell, axis.cells) for axis in drawn.axes] == [(16, 7), (64, 16)]
    assert drawn.axes[0].span(6) == (96, 99)
    # A block that is all of an axis, or unknown, is none: then cells are powers of two.
    for tile in ((128, 1024), None, (4,), (0, 0)):
        drawn = mapped(problem, tmp_path, found, tile)
        assert [(axis.cell, axis.block) for axis in drawn.axes] == [(16, None), (64, None)]


def test_a_cell_says_how_much_of_it_is_wrong_and_what_is_rarer_in_it(gemm: Posed, tmp_path: Path) -> None:
    found = right(gemm)
    found[:8, :16] = 1e4
    found[0, :16] = math.nan
    found[99, 227] = -60000.0
    drawn = mapped(gemm, tmp_path, found, (64, 64))
    assert drawn.cells[0][0] == Cell(state=W, part=0.5, also=(N,), error=LARGEST_ERROR)
    few = drawn.cells[6][14]
    assert (few.state, few.part) == (W, 0.062)
    assert drawn.first is N
    assert sum(state is not R for row in states(drawn) for state in row) == 2


def test_a_vector_is_wrapped_at_whole_blocks(tmp_path: Path) -> None:
    problem = posed(ADD, dtype="float32", N=11_691)
    found = right(problem)
    found[11_264:] = unwritten((427,), "float32")
    drawn = mapped(problem, tmp_path, found, (1024,))
    assert drawn.axes == (MapAxis(name="N", size=11_691, cell=128, block=1024),)
    assert states(drawn) == [[R] * 16] * 5 + [[R] * 8 + [U] * 4]
    assert len(mapped(problem, tmp_path, found, None).cells) <= 8
    single = mapped(problem, tmp_path, found, (1,))
    assert sum(map(len, single.cells)) == single.axes[0].cells <= 8 * 24


@pytest.mark.parametrize("size", [1, 2, 23, 25, 100, 129, 1000, 1_500_001])
@pytest.mark.parametrize("block", [1, 3, 30, 128, 1000, 4096])
def test_a_map_is_small_and_covers_everything_whatever_the_sizes(size: int, block: int, tmp_path: Path) -> None:
    problem = posed(ADD, dtype="float32", N=size)
    judgement = judged(problem, tmp_path, right(problem) + 7)
    if size == 1:
        assert judgement.output.detail.error_map is None
        return
    drawn = mapped(problem, tmp_path, right(problem) + 7, (block,))
    (axis,) = drawn.axes
    assert axis.span(axis.cells - 1)[1] == size - 1
    assert len(drawn.cells) <= 8
    assert max(map(len, drawn.cells)) <= 24


def test_of_more_axes_the_slice_with_the_first_wrong_element_is_shown(tmp_path: Path) -> None:
    problem = posed(replace(ATTENTION, row_name="query"), batch=2, seq_len=200, heads=3, dim=64)
    found = right(problem)
    found[1, 128:, 2] = 0.0
    found[1, 150:, 1, :5] = 0.0
    drawn = mapped(problem, tmp_path, found, (1, 64, 1, 64))
    assert [axis.name for axis in drawn.axes] == ["seq_len", "dim"]
    assert [axis.block for axis in drawn.axes] == [64, None]
    assert drawn.fixed == {"batch": 1, "heads": 2}
    assert (drawn.slices, drawn.wrong_slices) == (6, 2)
    assert states(drawn) == [[R] * 16] * 4 + [[W] * 16] * 3
    assert drawn.first_row is not None
    assert drawn.first_row.model_dump() == {"name": "query", "index": 128, "wrong": 64, "length": 64}


def test_no_map_where_no_element_is_wrong_by_itself(gemm: Posed, tmp_path: Path) -> None:
    signs = torch.where(torch.arange(228) % 2 == 0, 1.0, -1.0)
    scale = gemm.expected.square().mean(dim=1, keepdim=True).sqrt()
    told = judged(gemm, tmp_path, (gemm.expected + 0.0019 * scale * signs).half()).output
    assert told.message.startswith("C is close")
    assert told.detail.error_map is None
    assert judged(gemm, tmp_path, right(gemm)).output.detail.error_map is None


def test_a_map_tells_no_value_of_the_output(gemm: Posed, tmp_path: Path) -> None:
    drawn = mapped(gemm, tmp_path, gemm.expected.half() * 3, (64, 64))
    errors = [cell.error for row in drawn.cells for cell in row]
    assert all(error is not None and float(f"{error:.1e}") == error for error in errors)
    fields = {name for row in json.loads(drawn.model_dump_json())["cells"] for cell in row for name in cell}
    assert fields == {"state", "part", "also", "error"}


def test_maps_that_cannot_be_are_refused() -> None:
    axis, wrong = MapAxis(name="N", size=5, cell=2), Cell(state=W, part=1.0)
    ErrorMap(tensor="C", axes=(axis,), cells=((wrong, wrong), (wrong,)), first=W)
    for cells in (((wrong, wrong),), ((wrong,), (wrong, wrong)), ()):
        with pytest.raises(ValidationError):
            ErrorMap(tensor="C", axes=(axis,), cells=cells, first=W)
    with pytest.raises(ValidationError, match="is right"):
        ErrorMap(tensor="C", axes=(axis,), cells=((Cell(state=R),) * 3,), first=W)
    for state, part in ((R, 0.5), (W, 0.0)):
        with pytest.raises(ValidationError, match="no part"):
            Cell(state=state, part=part)
