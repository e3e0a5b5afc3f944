"""Kernels compiled into the cache by several processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tlpuzzles.border.watching import End, Report
from tlpuzzles.grading import ahead, caches
from tlpuzzles.grading.ahead import compile_ahead


@dataclass
class Played:
    compiled: list[list[str]] = field(default_factory=list)
    caches: set[Path] = field(default_factory=set)

    def run(self, role: str, job: dict[str, Any], _limits: object, folder: Path, **options: Any) -> Report:
        assert role == "cuda"
        assert job["cases"] == []
        assert folder.is_dir()
        self.compiled.append(list(job["kernels"].values()))
        self.caches.add(options["cache"])
        return Report(End.FINISHED, [], "", 0, 0)


@pytest.mark.parametrize(
    ("kernels", "at_once", "processes"),
    [
        pytest.param(24, 16, 8, id="many kernels and cores"),
        pytest.param(5, 16, 5, id="few kernels"),
        pytest.param(24, 2, 0, id="few cores"),
        pytest.param(1, 16, 0, id="a single one"),
    ],
)
def test_each_kernel_is_compiled_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kernels: int, at_once: int, processes: int
) -> None:
    monkeypatch.setattr(caches, "cache_dir", lambda: tmp_path / "cache")
    monkeypatch.setattr(ahead, "at_once", lambda: at_once)
    played = Played()
    files = [tmp_path / f"{number}.json" for number in range(kernels)]
    compile_ahead(played, "sm_90a", [*files, files[0]], tmp_path)  # type: ignore[arg-type]

    assert len(played.compiled) == processes
    if processes:
        assert sorted(file for some in played.compiled for file in some) == sorted(map(str, files))
        assert played.caches == {caches.kernels()}


def test_without_a_cache_nothing_is_compiled_for_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(caches, "cache_dir", lambda: Path("/proc/tlpuzzles"))
    monkeypatch.setattr(ahead, "at_once", lambda: 16)
    played = Played()
    compile_ahead(played, "sm_90a", [tmp_path / str(number) for number in range(24)], tmp_path)  # type: ignore[arg-type]
    assert played.compiled == []
