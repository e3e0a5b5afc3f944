"""Where the cache is, and what happens where it cannot be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tlpuzzles.workspace.cache import cache_path, why_unwritable


def test_the_variables_that_name_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TLPUZZLES_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_path() == tmp_path / ".cache" / "tlpuzzles"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert cache_path() == tmp_path / ".cache" / "tlpuzzles"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    assert cache_path() == tmp_path / "shared" / "tlpuzzles"
    monkeypatch.setenv("TLPUZZLES_CACHE_DIR", str(tmp_path / "ours"))
    assert cache_path() == tmp_path / "ours"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TLPUZZLES_CACHE_DIR", "relative")
    assert cache_path() == tmp_path / "relative"  # children may run in other folders


def test_a_folder_that_cannot_be_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert why_unwritable(tmp_path / "new" / "folder") is None
    assert (tmp_path / "new" / "folder").is_dir()
    assert why_unwritable(tmp_path / "file" / "below") == "Not a directory"
    assert why_unwritable(Path("/proc/tlpuzzles")) is not None
    assert list((tmp_path / "new" / "folder").iterdir()) == []


def test_without_it_a_temporary_one_serves_until_the_process_ends() -> None:
    code = (
        "import os\n"
        "from tlpuzzles.workspace.cache import cache_dir\n"
        "folder = cache_dir()\n"
        "(folder / 'kernel.so').write_text('x')\n"
        "child = os.fork()\n"
        "if child == 0: raise SystemExit\n"
        "os.waitpid(child, 0)\n"
        "assert (folder / 'kernel.so').exists(), 'a child took the folder away'\n"
        "assert cache_dir() == folder\n"
        "print(folder)"
    )
    environment = {"TLPUZZLES_CACHE_DIR": "/proc/tlpuzzles", "PATH": "/usr/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert not Path(done.stdout.strip()).exists()
