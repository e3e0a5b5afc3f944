"""Reference solutions of the tlpuzzles exercises. They are the masters from which the skeletons are cut (see `cut`)."""

from __future__ import annotations

from pathlib import Path


def path(slug: str) -> Path:
    """The solution of the exercise called `slug`, e.g. "tiled_gemm". Raises FileNotFoundError if there is none."""
    file = Path(__file__).with_name(f"{slug}.py")
    if slug in ("__init__", "cut") or not file.is_file():
        raise FileNotFoundError(f"there is no reference solution of an exercise called {slug!r}")
    return file


def guide(slug: str) -> Path:
    """The reading guide to that solution, Markdown. Raises FileNotFoundError if there is none."""
    file = Path(__file__).parent / "guides" / f"{slug}.md"
    if not file.is_file():
        raise FileNotFoundError(f"there is no reading guide to an exercise called {slug!r}")
    return file
