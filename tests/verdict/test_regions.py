"""Wrong elements are described as a person would who looked at the picture."""

from __future__ import annotations

import time

import pytest
import torch

from tlpuzzles.verdict.regions import Shape, region

MATRIX = ("M", "N")
ATTENTION = ("batch", "seq_len", "heads", "dim")
RAGGED_ROWS = "the last 36 rows (64 to 99)"


def words(mask: torch.Tensor, names: tuple[str, ...]) -> str:
    found = region(mask, names)
    assert found is not None
    return found.words


def matrix(rows: object, columns: object = slice(None), shape: tuple[int, int] = (100, 228)) -> torch.Tensor:
    mask = torch.zeros(shape, dtype=torch.bool)
    mask[rows, columns] = True  # type: ignore[index]
    return mask


def in_attention(*index: object) -> torch.Tensor:
    mask = torch.zeros(2, 200, 8, 64, dtype=torch.bool)
    mask[index] = True  # type: ignore[index]
    return mask


ALL = slice(None)
ROWS = torch.arange(100)[:, None]
COLUMNS = torch.arange(228)
COLUMNS_OF_LONG_ROWS = torch.arange(1704).expand(50, 1704)
CASES = [
    (matrix(ALL), MATRIX, "the whole output"),
    (matrix(slice(64, None)), MATRIX, RAGGED_ROWS),
    (matrix(ALL, -1), MATRIX, "the last column (227)"),
    (matrix(ALL, 0), MATRIX, "the first column (0)"),
    (matrix(99), MATRIX, "the last row (99)"),
    (matrix(slice(64, None), slice(128, None)), MATRIX, f"{RAGGED_ROWS}, the last 100 columns (128 to 227)"),
    (matrix(slice(32, 64)), MATRIX, "rows 32 to 63"),
    (matrix(slice(32, None)), MATRIX, "all rows but the first 32 (32 to 99)"),
    (matrix(slice(0, 96)), MATRIX, "all rows but the last 4 (0 to 95)"),
    (matrix(slice(1, None, 2)), MATRIX, "every second row (1, 3, 5, ...)"),
    (matrix(ALL, slice(3, None, 8)), MATRIX, "every 8th column (3, 11, 19, ...)"),
    ((ROWS // 16 % 2 == 1) & (COLUMNS >= 0), MATRIX, "every other block of 16 rows (16 to 31, 48 to 63, 80 to 95)"),
    ((COLUMNS % 64 >= 48) & (ROWS >= 0), MATRIX, "the last 16 of every 64 columns (48 to 63, 112 to 127, 176 to 191)"),
    (matrix([3, 5, 9]), MATRIX, "rows 3, 5 and 9"),
    (matrix(7, 11), MATRIX, "one element (index [7, 11])"),
    (ROWS < COLUMNS, MATRIX, "everything above the diagonal"),
    (ROWS >= COLUMNS, MATRIX, "everything on and below the diagonal"),
    (ROWS == COLUMNS, MATRIX, "everything on the diagonal"),
    (
        (ROWS // 32 + COLUMNS // 64) % 2 == 0,
        MATRIX,
        "every other tile of 32 x 64, like the fields of a chessboard",
    ),
    (ROWS // 32 < COLUMNS // 32, MATRIX, "the tiles of 32 x 32 above the diagonal"),
    (
        ((ROWS // 32 == 1) & (COLUMNS // 32 == 2)) | ((ROWS // 32 == 2) & (COLUMNS // 32 == 0)),
        MATRIX,
        "2 of 32 tiles of 32 x 32: (1, 2), (2, 0)",
    ),
    (in_attention(1), ATTENTION, "the last batch entry (1)"),
    (in_attention(ALL, ALL, 3), ATTENTION, "head 3"),
    (
        in_attention(0, slice(192, None)),
        ATTENTION,
        "the first batch entry (0), the last 8 positions along seq_len (192 to 199)",
    ),
    (in_attention(ALL, 0), ATTENTION, "the first position along seq_len (0)"),
    (in_attention(ALL, ALL, ALL, slice(32, None)), ATTENTION, "all positions but the first 32 along dim (32 to 63)"),
    (torch.arange(1000) >= 768, ("N",), "the last 232 elements (768 to 999)"),
    (torch.arange(1000) == 999, ("N",), "one element (element 999)"),
    (torch.arange(1000) % 2 == 1, ("N",), "every second element (1, 3, 5, ...)"),
    (torch.ones(1, 1, 1, 1).bool(), ATTENTION, "the only element"),
    (torch.ones(1).bool(), ("N",), "the only element"),
    (torch.arange(9)[None, :, None, None] > 7, ATTENTION, "one element (index [0, 8, 0, 0])"),
]


@pytest.mark.parametrize(("mask", "names", "expected"), CASES, ids=[case[2][:60] for case in CASES])
def test_words(mask: torch.Tensor, names: tuple[str, ...], expected: str) -> None:
    assert words(mask, names) == expected


@pytest.mark.parametrize(
    "number", [n for n, case in enumerate(CASES) if int(case[0].sum()) > 90 and "every second e" not in case[2]]
)
def test_a_few_elements_that_are_right_by_chance_change_nothing(number: int) -> None:
    mask, names, expected = CASES[number]
    by_chance = torch.rand(mask.shape, generator=torch.Generator().manual_seed(number)) < 0.01
    assert words(mask & ~by_chance, names) == expected


@pytest.mark.parametrize(
    ("mask", "names"),
    [
        (COLUMNS_OF_LONG_ROWS % 426 < 425, MATRIX),
        ((torch.arange(4)[:, None] < torch.arange(256) // 64)[:, :, None, None].expand(4, 256, 2, 64), ATTENTION),
        (torch.ones(2, 200, 8, 64).bool().triu(), ATTENTION),
    ],
)
def test_no_period_and_no_diagonal_where_no_tiles_are(mask: torch.Tensor, names: tuple[str, ...]) -> None:
    said = words(mask, names)
    assert "of every" not in said
    assert "diagonal" not in said


def test_nothing_wrong() -> None:
    assert region(torch.zeros(3, 4, dtype=torch.bool), MATRIX) is None
    assert region(torch.zeros(0, 4, dtype=torch.bool), MATRIX) is None


def test_scattered() -> None:
    generator = torch.Generator().manual_seed(0)
    for shape, names in (((100, 228), MATRIX), ((22800,), ("N",)), ((2, 50, 4, 57), ATTENTION)):
        few = torch.zeros(22800, dtype=torch.bool)
        few[torch.randperm(22800, generator=generator)[:13]] = True
        found = region(few.reshape(shape), names)
        assert found is not None
        assert found.shape is Shape.SCATTERED
        assert found.words == "13 of 22800 elements, scattered"


def test_spread() -> None:
    some = torch.rand(100, 228, generator=torch.Generator().manual_seed(0)) < 0.5
    assert words(some, MATRIX).endswith("% of all elements, all over the output")
    only = torch.zeros_like(some)
    only[:, 17] = some[:, 17]
    assert words(only, MATRIX).endswith("% of the elements in column 17")


def test_a_ragged_end_is_known_as_one() -> None:
    for mask, ragged in (
        (matrix(slice(64, None)), True),
        (matrix(slice(70, None)), False),
        (matrix(slice(0, 64)), False),
    ):
        found = region(mask, MATRIX)
        assert found is not None
        assert found.ragged is ragged


@pytest.mark.parametrize(
    ("tile", "ragged", "second", "first"),
    [
        (None, True, False, False),
        ((64, 32), True, True, False),
        ((16, 32), False, False, False),  # rows 64 to 99 are three such tiles
        ((32, 32), False, False, False),
    ],
)
def test_the_kernels_tile_tells_the_ragged_end_from_the_second_block(
    tile: tuple[int, ...] | None, ragged: bool, second: bool, first: bool
) -> None:
    found = region(matrix(slice(64, None)), MATRIX, tile)
    assert found is not None
    assert (found.ragged, found.second, found.first) == (ragged, second, first)


def test_tiles_are_those_of_the_kernel() -> None:
    blocks = torch.arange(235)[:, None] // 128 != torch.arange(751) // 128
    assert words(blocks, MATRIX) == "20 of 24 tiles of 64 x 128: (0, 1), (0, 2), (0, 3), (0, 4), ..."
    found = region(blocks, MATRIX, (128, 128))
    assert found is not None
    assert found.words == "10 of 12 tiles of 128 x 128: (0, 1), (0, 2), (0, 3), (0, 4), ..."


def test_rows_with_elements_that_are_right_by_chance_are_no_tiles() -> None:
    mask = matrix(slice(128, None), shape=(223, 700))
    mask &= torch.rand(mask.shape, generator=torch.Generator().manual_seed(1)) < 0.93
    assert words(mask, MATRIX) == "the last 95 rows (128 to 222)"


@pytest.mark.parametrize("kind", ["all", "noise", "tiles", "triangle", "vector"])
def test_four_million_elements_take_no_time_that_anyone_notices(kind: str) -> None:
    shape = (2048, 2048)
    row, column = torch.arange(2048)[:, None], torch.arange(2048)
    mask = {
        "all": torch.ones(shape).bool(),
        "noise": torch.rand(shape) < 0.01,
        "tiles": (row // 64 + column // 64) % 3 == 0,
        "triangle": row > column,
        "vector": (torch.rand(shape) < 0.5).flatten(),
    }[kind]
    begin = time.process_time()
    region(mask, ("N",) if kind == "vector" else MATRIX)
    assert time.process_time() - begin < 4.0
