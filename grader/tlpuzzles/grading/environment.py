"""What a grading was made with."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from tlpuzzles.verdict.model import Environment


@cache
def environment() -> Environment:
    """Versions of what decides a grading, read from the installed distributions without importing them."""
    return Environment(
        tlpuzzles=_version("tlpuzzles") or "unknown",
        tilelang=_version("tilelang"),
        torch=_version("torch"),
        python=platform.python_version(),
        sandbox="limits",
    )


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
