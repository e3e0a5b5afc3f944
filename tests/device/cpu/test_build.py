"""The machine's own compiler: found or not, with a cache or without."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

import pytest

from tlpuzzles.device.cpu import build

ANSWER = 'extern "C" __attribute__((visibility("default"))) int32_t answer() { return tile::add<int32_t>(40, 2); }'


def answer(library: Path) -> int:
    return int(ctypes.CDLL(str(library)).answer())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    work = tmp_path / "wörk with spaces"
    work.mkdir()
    return work


def test_compiles_with_a_header_that_was_precompiled(folder: Path) -> None:
    cache = folder / "cache é"
    ready = build.precompile_header(cache)
    assert ready is not None
    assert {path.suffix for path in ready.iterdir()} & {".gch", ".pch"}
    before = sorted(cache.rglob("*"))
    assert answer(build.compile([ANSWER], folder, cache)) == 42
    assert sorted(cache.rglob("*")) == before, "it was not compiled again"


def test_a_damaged_cache_costs_time_only(folder: Path) -> None:
    ready = build.precompile_header(folder / "cache")
    assert ready is not None
    for path in ready.iterdir():
        if path.suffix in (".gch", ".pch"):
            path.write_bytes(path.read_bytes()[:5000])
    assert answer(build.compile([ANSWER], folder, folder / "cache")) == 42


def test_precompiles_once_for_many(folder: Path) -> None:
    cache = folder / "cache"
    results: list[Path | None] = []
    threads = [threading.Thread(target=lambda: results.append(build.precompile_header(cache))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3
    assert len(set(results)) == 1
    assert [path.name for path in cache.iterdir()] == [results[0].name if results[0] else ""]


def test_does_without_a_cache(folder: Path, tmp_path: Path) -> None:
    not_a_folder = tmp_path / "file"
    not_a_folder.write_text("")
    for cache in (None, not_a_folder, Path("/proc/no such place")):
        assert build.precompile_header(cache) is None
        assert answer(build.compile([ANSWER], folder, cache)) == 42


def test_repeats_what_the_compiler_said(folder: Path) -> None:
    with pytest.raises(build.CompilerError, match="no_such_thing"):
        build.compile(["int x = no_such_thing;"], folder, None)


def test_says_how_to_get_a_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    assert build.find_compiler() is None
    assert build.precompile_header(folder) is None
    with pytest.raises(build.CompilerError, match=r"apt install g\+\+"):
        build.compile([ANSWER], folder, None)


def test_says_when_the_compiler_cannot_be_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = folder / "g++"
    broken.write_text("this is no program")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    with pytest.raises(build.CompilerError, match="could not be started"):
        build.compile([ANSWER], folder, None)
