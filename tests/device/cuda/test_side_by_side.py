"""How many kernels are compiled at a time on which machine."""

from __future__ import annotations

import os

import pytest

from tlpuzzles.device.cuda import side_by_side
from tlpuzzles.device.cuda.side_by_side import at_once

GIB = 1 << 20  # in KiB, as /proc/meminfo counts
LIMITED = {"max": str(1 << 30), "current": "0"}


@pytest.mark.parametrize(
    ("cores", "free_gib", "container", "expected"),
    [
        pytest.param(16, 120, {}, 16, id="a server: its cores"),
        pytest.param(2, 12, {}, 2, id="Colab"),
        pytest.param(1, 12, {}, 2, id="one core: another waits for the disk"),
        pytest.param(64, 4, {}, 9, id="little memory: 450 MiB each"),
        pytest.param(8, 0, {}, 1, id="none: one all the same"),
        pytest.param(16, 120, LIMITED, 2, id="a container of 1 GiB"),
        pytest.param(16, 120, {"max": "max", "current": "5"}, 16, id="a container without a limit"),
        pytest.param(16, None, {}, 2, id="unknown"),
    ],
)
def test_by_cores_and_memory(
    monkeypatch: pytest.MonkeyPatch, cores: int, free_gib: int | None, container: dict[str, str], expected: int
) -> None:
    files = {f"/sys/fs/cgroup/memory.{name}": f"{value}\n" for name, value in container.items()}
    if free_gib is not None:
        files["/proc/meminfo"] = f"MemTotal:  9 kB\nMemAvailable:   {free_gib * GIB} kB\n"
    monkeypatch.setattr(side_by_side, "_text", lambda path: files.get(path, ""))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert at_once() == expected
