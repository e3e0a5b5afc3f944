"""An inspection in a terminal and as pictures."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from tlpuzzles.errors import NotWritten
from tlpuzzles.report.inspection import show
from tlpuzzles.report.pipelined import sentences
from tlpuzzles.report.tile_pictures import draw, picture
from tlpuzzles.seeing.model import (
    Band,
    Bound,
    Compilation,
    Fragment,
    Inspection,
    Launch,
    Occupancy,
    Pipeline,
    Seen,
    Shared,
    Sight,
    Tile,
    WarpMap,
    Way,
)
from tlpuzzles.verdict.model import Check, Detail, Kind, Location, Verdict

SVG = "{http://www.w3.org/2000/svg}"
SUMS = Fragment(
    threads=128,
    copies=1,
    places=128,
    registers=128,
    thread_grid=tuple(tuple(row % 8 * 4 + column % 8 // 2 for column in range(32)) for row in range(16)),
    place_grid=tuple(tuple(column // 8 * 4 + row // 8 * 2 + column % 2 for column in range(32)) for row in range(16)),
    thread_formula="i % 8 * 4 + j % 8 // 2",
    place_formula="j // 8 * 4 + j % 2",
    warps=WarpMap(
        rows=(Band(first=0, last=63), Band(first=64, last=127)),
        columns=(Band(first=0, last=63), Band(first=64, last=127)),
        warps=((0, 2), (1, 3)),
    ),
)
LEFT = Shared(
    swizzled=True,
    stages=4,
    base=0,
    chunk=8,
    offset_grid=tuple(tuple(64 * row + 16 * ((column + row) % 4) for column in range(4)) for row in range(16)),
    conflict=1,
    plain_conflict=4,
    offset_formula="i * 32 + j",
)
TILES = (
    Tile(name="A_shared", dtype="float16", shape=(128, 32), bytes=8192, held=LEFT),
    Tile(name="A_too", dtype="float16", shape=(128, 32), bytes=8192, held=LEFT.model_copy(update={"base": 32768})),
    Tile(name="C_local", dtype="float32", shape=(128, 128), bytes=65536, held=SUMS),
)
LOOP = Pipeline(
    loop="ko", line=92, stages=4, trips=128, way=Way.CP_ASYNC, ahead=3, copies={"A_shared": 4}, copy_instructions=2,
    groups=1, groups_before=3, waits=(3,), mbarriers=0, producers=0, consumers=0, producer_registers=None,
    consumer_registers=None,
)  # fmt: skip
LAUNCH = Launch(
    kernel="kernel_kernel",
    threads=128,
    most_threads=1024,
    grid=(32, 16, 1),
    dynamic_bytes=65_536,
    static_bytes=0,
    most_shared_bytes=166_912,
    compilation=Compilation(registers=210, local_bytes=96),
    occupancy=Occupancy(blocks=2, warps=8, most_warps=64, bounds=(Bound.SHARED, Bound.REGISTERS)),
)
SEEN = Seen(
    source="#include <x>\n__global__ void f() {\n  __syncthreads();\n  __syncthreads();\n}\n",
    sights=(
        Sight(kind="launch bounds", says="f begins here; a block has 128 threads", lines=(2,)),
        Sight(kind="barrier", says="all threads of the block wait for each other", lines=(3, 4)),
    ),
    tiles=TILES,
    pipelines=(LOOP,),
    launches=(LAUNCH,),
)
FOUND = Inspection(
    exercise="tiled_gemm", file="my é.py", arch="sm_80", gpus="A100", case="speed", title="a large product",
    arguments={"M": "4096", "dtype": "'float16'"}, seen=SEEN,
)  # fmt: skip


class Ascii(io.StringIO):
    encoding = "ascii"  # type: ignore[assignment]


def shown(found: Inspection = FOUND, stream: io.StringIO | None = None, *, width: int = 60, whole: bool = False) -> str:
    stream = stream or io.StringIO()
    show(found, Console(file=stream, width=width, highlight=False), title="Exercise 2  Tiled GEMM", whole=whole)
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 140])
@pytest.mark.parametrize("stream", [io.StringIO, Ascii])
def test_it_fits_the_terminal(width: int, stream: type[io.StringIO]) -> None:
    text = shown(stream=stream(), width=width)

    assert max(map(len, text.splitlines())) <= min(width, 100)
    if stream is Ascii:
        text.encode("ascii")


def test_it_tells_landmarks_tiles_pipeline_and_limits() -> None:
    text = shown(width=100)
    flat = " ".join(text.split())

    assert "for an A100 (sm_80)" in text
    assert "3-4 barrier all threads" in flat
    assert "A_shared, A_too 128 x 32 float16" in flat  # laid out alike: drawn once
    assert "The first 8 of 128 rows, and 32 of 32 columns." in text
    assert "The first 8 of 128 rows, and 12 of 128 columns." in text
    assert "T0/r0" in text
    assert "T31/r1" in text
    assert "@16/b4" in text
    assert "64-127 w1 w3" in flat
    assert "Prologue: copies for 3 trips. Steady state: a loop of 125 trips" in flat
    assert "3 before the loop, 1 more in each trip. A trip waits until at most 3 are under way" in flat
    assert "65,536 of 166,912 bytes" in text
    assert "210 of 255 a thread" in text
    assert "96 bytes a thread" in text
    assert "2 blocks a multiprocessor, 8 of 64 warps; shared memory and the register file allow no more" in flat


def test_the_whole_source_has_each_line_and_its_landmark_before_it() -> None:
    lines = shown(whole=True).splitlines()

    at = next(number for number, line in enumerate(lines) if line.startswith("3 │   __syncthreads();"))
    assert "wait for each other" in lines[at - 1]
    assert any(line.startswith("1 │ #include <x>") for line in lines)


def test_without_nvcc_it_says_what_is_not_known() -> None:
    launch = LAUNCH.model_copy(update={"compilation": None})
    seen = SEEN.model_copy(update={"launches": (launch,), "nvcc": "there is no nvcc"})
    flat = " ".join(shown(FOUND.model_copy(update={"seen": seen})).split())

    assert "not known: there is no nvcc" in flat
    assert "at most 2 blocks" in flat
    assert "may allow less" in flat


def test_a_problem_is_explained_as_in_a_grading() -> None:
    problem = Check(
        id="build",
        title="the file gives a kernel",
        kind=Kind.BUILD,
        verdict=Verdict.FAILED,
        message="Line 3 is wrong.",
        detail=Detail(location=Location(file="my.py", line=3, source="    x = y")),
    )
    text = shown(FOUND.model_copy(update={"seen": None, "problem": problem}))

    assert "Line 3 is wrong." in text
    assert "my.py:3" in text
    assert "x = y" in text
    assert "landmarks" not in text


def test_what_a_source_holds_cannot_drive_the_terminal() -> None:
    seen = SEEN.model_copy(update={"source": "int a; \x1b[31m\x07 red\n"})
    text = shown(FOUND.model_copy(update={"seen": seen}), whole=True)
    assert "\x1b" not in text
    assert "\x07" not in text


@pytest.mark.parametrize("way", Way)
@pytest.mark.parametrize("trips", [None, 128])
def test_every_way_of_a_pipeline_is_told(way: Way, trips: int | None) -> None:
    ahead = 0 if way in (Way.NONE, Way.PRODUCERS) else 3
    told = " ".join(sentences(LOOP.model_copy(update={"way": way, "trips": trips, "ahead": ahead})))
    assert ("Prologue" in told) == (ahead > 0)
    assert told.endswith(".")
    assert "None" not in told


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: tile.name)
def test_a_picture_is_complete_described_and_has_both_colours(tile: Tile) -> None:
    text = picture(tile)
    root = ElementTree.fromstring(text)
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")

    assert title is not None
    assert tile.name in (title.text or "")
    assert description is not None
    assert len(description.text or "") > 100
    assert "prefers-color-scheme: dark" in text
    _, _, width, height = (float(number) for number in root.attrib["viewBox"].split())
    for rect in root.findall(f"{SVG}rect"):
        assert float(rect.attrib["x"]) + float(rect.attrib["width"]) <= width
        assert float(rect.attrib["y"]) + float(rect.attrib["height"]) <= height


def test_each_tile_has_a_file_of_its_own(tmp_path: Path) -> None:
    strange = TILES[0].model_copy(update={"name": "../<x>"})
    files = draw([*TILES, strange, TILES[0]], tmp_path)

    assert len(set(files)) == 5
    assert sorted(files) == sorted(file.name for file in tmp_path.iterdir())
    with pytest.raises(NotWritten, match="cannot be written"):
        draw(TILES, tmp_path / "none")


def test_a_tile_is_not_drawn_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text("mine")
    (tmp_path / "tiles").mkdir()
    (name,) = draw(TILES[:1], tmp_path / "tiles")
    for make in (Path.symlink_to, Path.hardlink_to):
        (tmp_path / "tiles" / name).unlink()
        make(tmp_path / "tiles" / name, tmp_path / "kernel.py")
        draw(TILES[:1], tmp_path / "tiles")
        assert (tmp_path / "kernel.py").read_text() == "mine"
        assert (tmp_path / "tiles" / name).read_text("utf-8").startswith("<svg")


def test_that_numbers_of_threads_begin_after_producers_is_said_where_it_is_so() -> None:
    later = TILES[2].model_copy(update={"held": SUMS.model_copy(update={"first_thread": 128})})
    said = "These threads are T128 to T255: before them TileLang has put 128 more, which only copy."
    assert said in _told(picture(later))
    assert said in " ".join(
        shown(FOUND.model_copy(update={"seen": SEEN.model_copy(update={"tiles": (later,)})})).split()
    )
    assert "These threads" not in shown() + _told(picture(TILES[2]))


def test_lines_of_a_picture_stay_inside_and_keep_terms_of_a_formula_whole() -> None:
    long = "i // 16 * 1024 + i % 16 * 64 + (i // 8 % 2 + j // 32 % 2) % 2 * 32 + j // 256 * 4096 + j % 16 * 16 + i % 2"
    text = picture(TILES[0].model_copy(update={"held": LEFT.model_copy(update={"offset_formula": long})}))
    svg = ElementTree.fromstring(text)
    lines = [line.text or "" for line in svg.iter(f"{SVG}text") if line.get("class") == "says quiet"]
    assert " ".join(lines).replace("\u00a0", " ").endswith(f"element = {long}")
    assert all(20 + 7.2 * len(line) <= float(svg.get("width", "0")) for line in lines)
    assert not any(line.startswith(("*", "//", "%")) or line.endswith(("*", "//", "%")) for line in lines)
    assert min(map(len, lines)) > 20, "nothing stands alone"


def _told(svg: str) -> str:
    root = ElementTree.fromstring(svg)
    return " ".join(line.text or "" for line in root.iter(f"{SVG}text") if line.get("class") == "says quiet")
