from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tlpuzzles.border.children import Warm


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """One process with torch and tilelang imported, for every test that needs children."""
    with Warm(tmp_path_factory.mktemp("warm")) as process:
        yield process


@pytest.fixture
def learner(tmp_path: Path) -> Path:
    """A folder for a learner's files, with a path as people have them."""
    folder = tmp_path / "my kernels é"
    folder.mkdir()
    return folder
