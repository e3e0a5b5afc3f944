"""The map of a wrong output on every terminal: by colour, by shade, by letter."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.report import maps, samples
from tests.report.test_terminal import Ascii, report
from tlpuzzles.report.error_map import show_error_map
from tlpuzzles.report.layout import Page
from tlpuzzles.report.marks import marks_for
from tlpuzzles.report.severity import first_row
from tlpuzzles.verdict.error_map import CellState, ErrorMap
from tlpuzzles.verdict.model import Detail, Kind, Verdict


def drawn(shown: ErrorMap, *, width: int = 60, ascii_only: bool = False, **options: object) -> str:
    stream = Ascii() if ascii_only else io.StringIO()
    console = Console(file=stream, width=width, highlight=False, **options)  # type: ignore[arg-type]
    marks = marks_for(console)
    show_error_map(shown, Page(console, marks.ellipsis), marks)
    return stream.getvalue()


TILES = "....wwwwUUUU " * 4 + "wwww....UUUU " * 3


def test_a_matrix_has_its_rows_and_columns_and_its_blocks() -> None:
    assert drawn(maps.matrix(TILES, short=3)).splitlines() == [
        "  Where C is wrong",
        "    M \\ N 0                128              256",
        "     0-31 ················ ████████████████ UUUUUUUUUUUUUUUU",
        "    32-63 ················ ████████████████ UUUUUUUUUUUUUUUU",
        "    64-95 ················ ████████████████ UUUUUUUUUUUUUUUU",
        "   96-127 ················ ████████████████ UUUUUUUUUUUUUUUU",
        "",
        "  128-159 ████████████████ ················ UUUUUUUUUUUUUUUU",
        "  160-191 ████████████████ ················ UUUUUUUUUUUUUUUU",
        "  192-220 ████████████████ ················ UUUUUUUUUUUUUUUU",
        "  · right   █ 100 % off or more   U never written",
        "  a cell is 32 x 32, a block 128 x 128",
    ]


def test_without_unicode_steps_are_digits() -> None:
    text = drawn(maps.matrix(".somw?NIU " * 2 + "........."), ascii_only=True)
    assert text.isascii()
    assert "0-31 .... 1111 2222 3333 4444 4444 NNNN IIII UUUU".replace(" ", "") in text.replace(" ", "")
    for words in (
        ". right",
        "1 less than 1 % off",
        "2 less than 10 % off",
        "3 less than 100 % off",
        "4 100 % off or more",
        "I infinite",
        "N NaN",
        "U never written",
    ):
        assert words in " ".join(text.split())


def test_what_tells_severities_apart_is_never_the_colour_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = maps.matrix(".somwNIU " * 2 + "........")
    for ascii_only in (True, False):
        row = drawn(shown, ascii_only=ascii_only).splitlines()[2].split(maxsplit=1)[1].replace(" ", "")
        assert len(dict.fromkeys(row)) == 8
    assert "\x1b[" not in drawn(shown)
    assert "\x1b[1;31m█" in drawn(shown, force_terminal=True)
    assert "\x1b[3" not in drawn(shown, force_terminal=True, no_color=True)


def test_a_cell_that_is_wrong_in_part_is_filled_in_part() -> None:
    lines = drawn(maps.matrix(".hfx " * 2 + "....")).splitlines()
    assert lines[2].split()[1] == "····██··█···███N"
    assert "██·· in part" in lines[-2]
    assert "N NaN" in " ".join(lines)


def test_rows_that_are_all_alike_are_folded() -> None:
    lines = drawn(maps.matrix("....UUUU " * 8)).splitlines()
    assert [line.split()[0] for line in lines[2:-2]] == ["0-127", "128-255"]
    # Without blocks into three; of a vector only if it is wrong throughout, for its rows are no columns.
    blockless = drawn(maps.matrix("....UUUU " * 8, block=None)).splitlines()
    assert [line.split()[0] for line in blockless[2:5]] == ["0-95", "96-191", "192-255"]
    same = "........UUUUUUUU " * 6
    assert "2048-4095" in drawn(maps.vector(same))
    whole = drawn(maps.vector("wwwwwwwwwwwwwwww " * 6))
    assert [line.split()[0] for line in whole.splitlines()[2:5]] == ["0-4095", "4096-8191", "8192-12287"]


def test_a_vector_wraps_and_its_columns_are_offsets() -> None:
    shown = maps.vector("................ " * 2 + "........UUUU", short=37)
    assert drawn(shown, width=61).splitlines() == [
        "  Where C is wrong",
        "          N +0                       +1024",
        "     0-2047 ························ ························",
        "  2048-4095 ························ ························",
        "  4096-5594 ························ UUUUUUUUUUUU",
        "  · right   U never written",
        "  a cell is 128 elements, a block 1024 elements",
    ]
    assert "  4096-5594 ················ UUUUUUUU\n" in drawn(shown, width=60)
    assert "+" not in drawn(maps.vector("....UUUU"))


def test_where_there_is_no_room_between_blocks_cells_are_wide_enough_to_show_a_part() -> None:
    row = "h" * 23 + "U "
    assert "   0-31 " + "█·" * 23 + "UU\n" in drawn(maps.matrix(row * 2 + "." * 24), width=60)


def test_of_more_axes_it_says_which_slice_is_shown() -> None:
    rows = "................ " * 2 + "wwwwwwwwwwwwwwww " * 2
    assert "Where O is wrong, at batch 0, heads 2 (4 of 6 slices are)" in drawn(maps.attention(rows))
    assert "(all 6 slices are)" in drawn(maps.attention(rows, wrong_slices=6))
    assert "(the only wrong slice of 6)" in " ".join(drawn(maps.attention(rows, wrong_slices=1)).split())
    assert "seq_len \\ dim 0" in drawn(maps.attention(rows))


@pytest.mark.parametrize("width", [24, 40, 60, 76, 100, 200])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_it_fits_and_is_short(width: int, ascii_only: bool) -> None:
    row = "........................ "
    for shown in (
        maps.matrix(row * 7 + row.replace(".", "w")),
        maps.matrix(row * 7 + row.replace(".", "w"), block=32),
        maps.matrix(row * 7 + row.replace(".", "w"), cell=256, block=64),
        maps.vector(row * 7 + "wwww", block=None),
        maps.attention("................ " * 7 + "UUUUUUUUUUUUUUUU"),
    ):
        lines = drawn(shown, width=width, ascii_only=ascii_only).splitlines()
        if width >= 60:
            assert max(map(len, lines)) <= min(width, 100)
            assert len(lines) <= 13


@pytest.mark.parametrize(
    ("index", "wrong", "says"),
    [
        (0, 64, "query 0, the very first: all of it is wrong"),
        (64, 64, "query 64, the first of block 1: all of it is wrong; all before it are right"),
        (63, 5, "query 63, the last of block 0: 5 of its 64 elements are wrong; all before it are right"),
        (70, 64, "query 70, in block 1: all of it is wrong; all before it are right"),
    ],
)
def test_the_first_broken_row_in_words(index: int, wrong: int, says: str) -> None:
    shown = maps.attention("................ " * 3 + "wwwwwwwwwwwwwwww", first_row=index, wrong=wrong)
    assert first_row(shown) == says
    assert first_row(maps.matrix("..ww")) is None


def test_the_report_has_the_map_of_the_case_it_explains_and_no_other() -> None:
    def failed(id_: str, shown: ErrorMap) -> Detail:
        fields = {"case": id_, "axes": ("M", "N"), "first_wrong": (0, 1), "expected": 1.5, "found": float("nan")}
        return Detail.model_validate({**fields, "error_map": shown})

    one, other = maps.matrix("..UU ..UU ...."), maps.matrix("NNNN .... ....")
    checks = [
        samples.check(id_, id_, Kind.CORRECTNESS, Verdict.FAILED, f"{id_} is wrong.", failed(id_, shown))
        for id_, shown in (("first", one), ("second", other))
    ]
    text = report(samples.result(checks, Verdict.FAILED))
    assert text.count("Where C is wrong") == 1
    assert "UUUU" in text
    assert "NNNN" not in text
    assert one.first is CellState.UNWRITTEN
    assert "nothing: it was never written" in text
    query = samples.check("q", "q", Kind.CORRECTNESS, Verdict.FAILED, "Wrong.", failed("q", maps.attention("ww wU")))
    assert "breaks first in" in report(samples.result([query], Verdict.FAILED))
