from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.grades import grades
from tlpuzzles.border.children import Warm
from tlpuzzles.grading.choices import Portability
from tlpuzzles.grading.cpu import Cpu
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.options import Options
from tlpuzzles.verdict.model import Result

if "PYTEST_XDIST_WORKER" not in os.environ:
    # Tests neither read nor fill the user's cache. Workers have this one from the process that starts them.
    os.environ["TLPUZZLES_CACHE_DIR"] = tempfile.mkdtemp(prefix="tlpuzzles-tests-")
    atexit.register(shutil.rmtree, os.environ["TLPUZZLES_CACHE_DIR"], ignore_errors=True)

QUICK = Options(seed=20_231, portability=Portability.OFF, stop_at_first_failure=True, trace_seconds=2.0)
"""For the many kernels that are graded in tests: other GPUs have tests of their own."""


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """One process with torch and tilelang imported, for every test that needs children."""
    with Warm(tmp_path_factory.mktemp("warm")) as process:
        yield process


@pytest.fixture(scope="session")
def grader(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Grader:
    """Grades on the CPU, with a cache of its own."""
    return Grader(warm, tmp_path_factory.mktemp("grading"), Cpu("test", tmp_path_factory.mktemp("cache")))


@pytest.fixture
def grade(grader: Grader, learner: Path) -> Callable[..., Result]:
    """Grades a source text as a learner's file: grade("1", text, portability=...)."""

    return grades(grader, learner, QUICK)


@pytest.fixture
def learner(tmp_path: Path) -> Path:
    """A folder for a learner's files, with a path as people have them."""
    folder = tmp_path / "my kernels é"
    folder.mkdir()
    return folder
