"""The cells that notebooks have in common, and how a notebook is put together."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

INSTALL = Path(__file__).with_name("install.py")

DRIVE = """\
# @title Keep your work on your Google Drive (optional, on Colab)
# Without it, your kernels go when Colab takes this machine away.
KEEP_ON_DRIVE = False  # @param {type:"boolean"}
if KEEP_ON_DRIVE:
    from google.colab import drive

    drive.mount("/content/drive")
"""

START = "%load_ext tlpuzzles.notebook\n%workspace"
DOCTOR = "%tlpuzzles doctor"


def text(name: str, source: str) -> NotebookNode:
    return new_markdown_cell(source.strip(), id=name)


def code(name: str, source: str, *, form: bool = False) -> NotebookNode:
    """`form`: Colab shows the fields of a form instead of the code, and JupyterLab a button that opens it."""
    cell = new_code_cell(source.strip(), id=name)
    if form:
        cell.metadata["cellView"] = "form"
        cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


def set_up() -> list[NotebookNode]:
    """What every notebook begins with: each run has a machine of its own on Colab."""
    return [
        code("drive", DRIVE, form=True),
        code("install", INSTALL.read_text("utf-8"), form=True),
        code("start", START),
        code("doctor", DOCTOR),
    ]


def notebook(cells: list[NotebookNode]) -> str:
    """The file of a notebook with these cells."""
    metadata = {
        "accelerator": "GPU",
        "colab": {"gpuType": "T4", "provenance": [], "toc_visible": True},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    whole = new_notebook(cells=cells, metadata=metadata, nbformat_minor=5)
    nbformat.validate(whole)
    written: str = nbformat.writes(whole)
    return written + "\n"
