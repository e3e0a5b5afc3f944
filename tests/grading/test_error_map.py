"""A wrong kernel's result has a map of its output, by the blocks that the kernel itself has."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.mutants.mutant import edited, wrong
from tlpuzzles.verdict.error_map import CellState, ErrorMap, MapAxis
from tlpuzzles.verdict.model import Check, Result, Verdict

Grade = Callable[..., Result]


def _mutant(slug: str, id_: str) -> str:
    return next(mutant for mutant in wrong(slug) if mutant.id == id_).source(slug)


def _failed(result: Result, case: str) -> tuple[Check, ErrorMap]:
    check = next(check for check in result.checks if check.id == case)
    assert check.verdict is Verdict.FAILED
    assert check.detail is not None
    assert check.detail.error_map is not None
    return check, check.detail.error_map


def test_the_tiles_that_a_grid_leaves_out_are_unwritten_in_the_map(grade: Grade) -> None:
    result = grade("2", _mutant("tiled_gemm", "ragged-rows-missing"), only="ragged-rows")
    check, drawn = _failed(result, "ragged-rows")
    assert check.detail is not None
    assert check.detail.sizes is not None
    rows, columns = drawn.axes
    assert rows == MapAxis(name="M", size=check.detail.sizes["M"], cell=32, block=128)
    assert (columns.cell, columns.block, columns.cells) == (32, 128, 24)
    assert drawn.first is CellState.UNWRITTEN
    right, missing = [cell for row in drawn.cells[:4] for cell in row], [c for row in drawn.cells[4:] for c in row]
    assert {cell.state for cell in right} == {CellState.RIGHT}
    assert {(cell.state, cell.part) for cell in missing} == {(CellState.UNWRITTEN, 1.0)}
    told = json.loads(json.dumps(result.document()))["checks"]
    document = next(check["detail"]["error_map"] for check in told if check["id"] == "ragged-rows")
    assert ErrorMap.model_validate(document) == drawn


def test_the_first_query_that_breaks_is_told(grade: Grade) -> None:
    result = grade("6", _mutant("flash_attention", "last-queries-missing"), only="full-ragged")
    _, drawn = _failed(result, "full-ragged")
    assert drawn.fixed == {"batch": 0, "heads": 0}
    assert drawn.first_row is not None
    assert drawn.first_row.name == "query"
    assert drawn.first_row.index % 64 == 0
    assert drawn.first_row.index == drawn.axes[0].size // 64 * 64


def test_a_right_kernel_has_no_map(grade: Grade) -> None:
    result = grade("1", edited("vector_add", ()), only="ragged-end")
    assert result.verdict is Verdict.PASSED
    assert all(check.detail is None or check.detail.error_map is None for check in result.checks)
