"""Executes the notebooks as they are handed out, in a kernel of their own, on the CPU."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from tlpuzzles.course import catalog
from tlpuzzles_solutions import path as solution
from tlpuzzles_solutions.cut import whole

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "notebooks"

EXERCISES = [exercise.folder for exercise in catalog.exercises()]
ALL = sorted(file.stem for file in FOLDER.glob("*.ipynb"))


def read(name: str) -> NotebookNode:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def cell(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.id == name)


def solved(folder: str) -> NotebookNode:
    """The notebook with the solution in the place of the skeleton."""
    exercise = next(one for one in catalog.exercises() if one.folder == folder)
    notebook = read(folder)
    answer = whole(solution(exercise.slug).read_text("utf-8"))
    cell(notebook, "exercise").source = f"%%exercise {exercise.number} --device cpu\n{answer}"
    return notebook


def execute(notebook: NotebookNode, folder: Path, **environment: str) -> NotebookNode:
    """Runs every cell, in `folder`, with a workspace in it. Raises CellExecutionError where a cell raises."""
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}})
    client.execute(env={**os.environ, "TLPUZZLES_WORKSPACE": str(folder / "kernels"), **environment})
    return notebook


def told(notebook: NotebookNode, name: str, kind: str = "text/plain") -> str:
    """What stands below a cell in the end."""
    outputs = cell(notebook, name).outputs
    return "".join(output.text if output.output_type == "stream" else output.data.get(kind, "") for output in outputs)
