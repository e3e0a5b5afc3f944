"""Makes the notebooks in notebooks/ from the lessons and skeletons.

`python -m tools.notebooks` writes those that have changed; a test holds what is there to what it would write. Where a
picture of a lesson has changed, it is made anew, which takes rsvg-convert (librsvg2-bin) and pngquant.

`python -m tools.notebooks --source ADDRESS FOLDER` writes copies for a class, whose cell that installs has that address.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from tools.notebooks import exercise, pictures, start, teachers

from tlpuzzles.course import catalog
from tlpuzzles.workspace.folders import shipped

FOLDER = pictures.ROOT / "notebooks"


def all_notebooks() -> dict[str, str]:
    """Every notebook by the name of its file."""
    made = {f"{one.folder}.ipynb": exercise.make(one) for one in catalog.exercises()}
    return {"00_start.ipynb": start.make(), **made, "teachers_calibrate.ipynb": teachers.make()}


def shown() -> list[str]:
    """The stems of the pictures that lessons show."""
    lessons = (shipped(one).lesson(one).read_text("utf-8") for one in catalog.exercises())
    return [stem for text in lessons for stem in re.findall(r"docs/pictures/([\w-]+)\.svg\)", text)]


def for_class(source: str) -> dict[str, str]:
    """The notebooks, with the address that a class gets tlpuzzles from."""
    empty = json.dumps('SOURCE = "" ')[1:-1]
    filled = json.dumps(f"SOURCE = {json.dumps(source)} ")[1:-1]
    return {name: text.replace(empty, filled) for name, text in all_notebooks().items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.notebooks", description="Makes the notebooks.")
    parser.add_argument("--source", metavar="ADDRESS", help="what SOURCE is to be in copies for a class")
    parser.add_argument("folder", nargs="?", type=Path, help="where copies for a class go")
    chosen = parser.parse_args()
    if (chosen.source is None) != (chosen.folder is None):
        parser.error("copies for a class take both: --source ADDRESS FOLDER")
    if chosen.source is not None:
        chosen.folder.mkdir(parents=True, exist_ok=True)
        for name, text in for_class(chosen.source).items():
            (chosen.folder / name).write_text(text, "utf-8")
        return
    for stem in shown():
        if not pictures.is_current(stem):
            pictures.make(stem)
            print(f"notebooks/pictures/{stem}.png")
    for name, text in all_notebooks().items():
        file = FOLDER / name
        if not file.is_file() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")
            print(f"notebooks/{name}")


if __name__ == "__main__":
    main()
