"""Makes a distribution with exercises of its own, as another course would install it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

EXERCISE = """
from tlpuzzles.course.vocabulary import Exercise, TensorSpec

EXERCISE = Exercise(
    number={number}, slug="{slug}", title="Sum", summary="A sum.", factory="make_sum",
    inputs=(TensorSpec("A", ("N",)),), output=TensorSpec("B", ("N",)), cases=(),
    draw=None, reference=None, tolerance={{}}, flops=None,
)
"""


def distribution(
    folder: Path, name: str = "othercourse", *, number: int = 70, slug: str = "vector_sum", source: str = ""
) -> None:
    """Writes a distribution with one exercise into a folder that is on sys.path."""
    info = folder / f"{name}-2.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.1\n")
    (info / "entry_points.txt").write_text(f"[tlpuzzles.exercises]\n{slug} = {name}.ours:EXERCISE\n")
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("")
    (folder / name / "ours.py").write_text(dedent(source) or EXERCISE.format(number=number, slug=slug))
