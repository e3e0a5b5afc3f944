"""The notebooks as they are handed out: they say what the course says, and every one of them runs."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from tools.notebooks import pictures
from tools.notebooks.__main__ import all_notebooks, main, shown

from tests.notebook.notebooks import ALL, EXERCISES, FOLDER, cell, execute, read, solved, told
from tlpuzzles.commands.reading import glossary_words
from tlpuzzles.course import catalog
from tlpuzzles.device.cuda import devices
from tlpuzzles.workspace.folders import shipped

FIRST, *OTHERS = EXERCISES

each = pytest.mark.parametrize("name", ALL)
each_exercise = pytest.mark.parametrize("name", EXERCISES)


def _prose(notebook: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_they_are_what_the_lessons_and_skeletons_make() -> None:
    made = all_notebooks()
    assert sorted(f"{name}.ipynb" for name in ALL) == sorted(made)
    for name, text in made.items():
        assert (FOLDER / name).read_text("utf-8") == text, "run python -m tools.notebooks"


def test_their_pictures_are_those_of_the_lessons() -> None:
    stems = shown()
    assert len(stems) >= len(EXERCISES)
    assert [stem for stem in stems if not pictures.is_current(stem)] == [], "run python -m tools.notebooks"
    assert sorted(file.stem for file in pictures.FOLDER.iterdir()) == sorted(set(stems))


def test_copies_for_a_class_have_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = 'https://example.org/a "b"/tlpuzzles-7.0-py3-none-any.whl'
    monkeypatch.setattr("sys.argv", ["notebooks", "--source", address, str(tmp_path / "class")])
    main()
    for name in ALL:
        handed_out = nbformat.read(tmp_path / "class" / f"{name}.ipynb", as_version=4)
        first, second = (cell(one, "install").source.splitlines() for one in (read(name), handed_out))
        assert [line for line in second if line not in first] == [
            f'SOURCE = {json.dumps(address)}  # @param {{type:"string"}}'
        ]


@each
def test_they_are_handed_out_without_results(name: str) -> None:
    for one in read(name).cells:
        assert one.get("outputs", []) == []
        assert one.get("execution_count") is None


@each_exercise
def test_an_exercise_is_its_skeleton_and_its_lesson(name: str) -> None:
    exercise = next(one for one in catalog.exercises() if one.folder == name)
    notebook, folders = read(name), shipped(exercise)
    skeleton = folders.file(exercise).read_text("utf-8").strip()
    assert cell(notebook, "exercise").source == f"%%exercise {exercise.number}\n{skeleton}"
    prose = _prose(notebook)
    lesson = folders.lesson(exercise).read_text("utf-8")
    for heading in re.findall(r"^## .*$", lesson, re.MULTILINE):
        assert prose.count(f"\n{heading}\n") == 1
    before = cell(notebook, "kernel").source
    assert '`%%exercise` not found? Run the cells under "Set up" again' in before
    assert "## Set up" in prose
    order = [one.id for one in notebook.cells]
    task = next(one.id for one in notebook.cells if one.source.startswith("## The task"))
    assert order.index("install") < order.index("start") < order.index(task) < order.index("exercise")


@each
def test_pictures_and_links_lead_somewhere(name: str) -> None:
    prose = _prose(read(name))
    for target in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", prose):
        kind, _, data = target.partition(";base64,")
        assert kind == "data:image/png"
        assert base64.b64decode(data, validate=True).startswith(b"\x89PNG")
    anchors = re.findall(r'<a name="([\w-]+)" id="\1"></a>', prose)
    assert len(anchors) == len(set(anchors))
    for target in re.findall(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)", prose):
        assert target.removeprefix("#") in anchors or target.startswith("https://"), target
    exercise = next((one for one in catalog.exercises() if one.folder == name), None)
    if exercise is not None:
        lesson = shipped(exercise).lesson(exercise).read_text("utf-8")
        assert set(anchors) == set(glossary_words(lesson))
        assert prose.count("data:image/png") == lesson.count(".svg)")


@each
def test_nothing_is_said_that_only_a_terminal_understands(name: str) -> None:
    prose = _prose(read(name))
    assert re.findall(r"(?<![%!\w/.*-])tlpuzzles (?:grade|hint|progress|show|doctor|inspect)\b", prose) == []


def _unsolved(name: str, folder: Path) -> None:
    done = execute(read(name), folder)
    exercise = next(one for one in catalog.exercises() if one.folder == name)
    assert f"Your workspace: {folder / 'kernels'}" in told(done, "start")
    assert "Ready to grade" in told(done, "doctor")
    assert "[NOT STARTED]" in told(done, "exercise")
    assert "TODO 1" in told(done, "exercise", "text/html")
    assert f"{exercise.number} {exercise.slug}: hint 1 of" in told(done, "hint")
    assert "0 of 8 passed" in told(done, "progress")


def _solved(name: str, folder: Path) -> None:
    done = execute(solved(name), folder)
    assert "[PASSED]" in told(done, "exercise")
    assert "PASSED" in told(done, "exercise", "text/html").upper()
    # The report alone: what went on before is gone.
    assert len(cell(done, "exercise").outputs) == 1
    assert "1 of 8 passed" in told(done, "progress")


@pytest.mark.slow
def test_the_first_runs_as_it_is(tmp_path: Path) -> None:
    _unsolved(FIRST, tmp_path)


def test_the_first_runs_with_its_solution(tmp_path: Path) -> None:
    _solved(FIRST, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_each_runs_as_it_is(name: str, tmp_path: Path) -> None:
    _unsolved(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_each_runs_with_its_solution(name: str, tmp_path: Path) -> None:
    _solved(name, tmp_path)


@pytest.mark.slow
def test_the_one_to_begin_with_runs(tmp_path: Path) -> None:
    done = execute(read("00_start"), tmp_path)
    assert "Ready to grade" in told(done, "doctor")
    assert "0 of 8 passed" in told(done, "progress")


@pytest.mark.slow
@pytest.mark.skipif(devices.find().presence is devices.Presence.PRESENT, reason="would calibrate for minutes")
def test_the_teachers_says_that_it_needs_a_gpu(tmp_path: Path) -> None:
    done = execute(read("teachers_calibrate"), tmp_path)
    assert f"Your workspace: {tmp_path / 'class'}" in told(done, "start")
    assert "calibrate measures on a GPU, and none can be used" in told(done, "calibrate")
    assert "nothing was measured" in told(done, "download")
