"""Looking at a machine, where importing a package may end the process or never return."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.commands.running import run
from tlpuzzles.doctor import look as looking
from tlpuzzles.doctor.seen import End, Seen


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose torch.py and tilelang.py are imported in place of the real ones, both well."""
    (tmp_path / "torch.py").write_text("class version: cuda = None; hip = None\n__version__ = '2.13.0+cpu'\n")
    (tmp_path / "tilelang").mkdir()
    (tmp_path / "tilelang" / "__init__.py").write_text("__version__ = '0.1.15'")
    (tmp_path / "tilelang" / "env.py").write_text("CUDA_HOME = ''")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("TILELANG_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TLPUZZLES_CACHE_DIR", str(tmp_path / "ours"))
    return tmp_path


def look() -> Seen:
    return looking.look()


def test_what_is_imported_tells_of_itself(packages: Path) -> None:
    seen = look()
    assert seen.imports["torch"].end is End.IMPORTED
    assert seen.imports["torch"].facts == {"version": "2.13.0+cpu", "cuda": "", "hip": ""}
    assert seen.imports["tilelang"].facts["version"] == "0.1.15"


def test_an_import_that_ends_the_process_is_reported(packages: Path) -> None:
    (packages / "torch.py").write_text("import os, sys\nprint('last words', file=sys.stderr)\nos.abort()")
    torch = look().imports["torch"]
    assert torch.end is End.DIED
    assert torch.message == "its process was ended by SIGABRT; last words"
    (packages / "torch.py").write_text("import os\nos.write(2, b'Traceback of C++')\nos.abort()")
    assert look().imports["torch"].end is End.DIED


def test_an_import_that_exits_quietly_is_reported(packages: Path) -> None:
    (packages / "torch.py").write_text("raise SystemExit(0)")
    torch = look().imports["torch"]
    assert (torch.end, torch.message) == (End.DIED, "its process ended with status 0")


def test_an_import_that_raises_is_reported(packages: Path) -> None:
    (packages / "torch.py").write_text("raise ImportError('libnvrtc.so.13: cannot open shared object file')")
    torch = look().imports["torch"]
    assert (torch.end, torch.message) == (End.RAISED, "ImportError: libnvrtc.so.13: cannot open shared object file")


def test_an_import_that_never_returns_is_reported(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "IMPORT_LIMIT", 0.5)
    (packages / "torch.py").write_text("import time; time.sleep(60)")
    assert look().imports["torch"].end is End.TIMED_OUT


def test_a_compiler_is_tried_not_only_found(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = look().cxx
    assert good is not None
    assert good.error == ""
    fake = packages / "g++"
    fake.write_text('#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "cannot execute \'cc1plus\'" >&2; exit 1\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{packages}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CXX", raising=False)
    bad = look().cxx
    assert bad is not None
    assert bad.error == "cannot execute 'cc1plus'"


def test_the_command_exits_with_1_on_a_problem_and_says_what_to_do(
    packages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = run(capsys, "doctor")
    assert good.status == 0
    assert good.out.rstrip().splitlines()[-1].startswith("Ready to grade")
    (packages / "tilelang" / "__init__.py").write_text("import os; os.abort()")
    bad = run(capsys, "doctor")
    assert bad.status == 1
    assert "problem\ttilelang\tcannot be imported: its process was ended by SIGABRT" in bad.out
    assert "To do: " in bad.out
    assert "1 problem to mend" in bad.out


def test_json(packages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, "doctor", "--json").out)
    names = [finding["name"] for finding in document["findings"]]
    assert document["schema"] == 1
    assert {"Python", "torch", "tilelang", "GPU driver", "nvcc", "C++ compiler", "cache"} <= set(names)
