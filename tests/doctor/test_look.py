"""Looking at a machine, where importing a package may end the process or never return."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.commands.running import run
from tlpuzzles.doctor import look as looking
from tlpuzzles.doctor.seen import Driver, End, Gpu, Imported, Seen
from tlpuzzles.verdict.thresholds import FILE, shipped, write


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


NVML = """
class NVMLError(Exception): pass
class NVMLError_LibraryNotFound(NVMLError): pass
class NVMLLibraryMismatchError(Exception): pass
class Used: gpu = 97
class Process: pid = 1
def nvmlInit(): pass
def nvmlShutdown(): pass
def nvmlDeviceGetCount(): return 1
def nvmlDeviceGetHandleByIndex(index): return index
def nvmlDeviceGetUUID(handle): return 'GPU-1234'
def nvmlDeviceGetUtilizationRates(handle): return Used
def nvmlDeviceGetCurrentClocksEventReasons(handle): return 0x20
def nvmlDeviceGetComputeRunningProcesses(handle): return [Process]
def nvmlDeviceGetPersistenceMode(handle): return 0
"""


def test_the_gpu_is_asked_for_what_disturbs_timing(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (packages / "pynvml.py").write_text(NVML)
    monkeypatch.setattr(looking, "_driver", lambda: Driver((13, 0), (Gpu("H200", (9, 0), 140),)))
    monkeypatch.setenv("TLPUZZLES_LOCK_DIR", "/nowhere")
    timing = look().timing
    assert timing is not None
    assert (timing.busy, timing.others, timing.throttled, timing.persistent) == (True, 1, ("temperature",), False)
    assert timing.lock_error.startswith("/nowhere/tlpuzzles-GPU-1234.lock cannot be locked")


def test_without_a_gpu_there_is_nothing_to_disturb(packages: Path) -> None:
    assert look().timing is None


def test_the_marks_of_the_current_workspace_are_read(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "_imported", lambda name: Imported(End.IMPORTED, {}))
    for slow in ("_driver", "_cxx"):
        monkeypatch.setattr(looking, slow, lambda: None)
    inside = packages / "class" / "02_tiled_gemm"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    file = packages / "class" / FILE
    write(file, shipped())
    assert look().marks is None, "the file is no workspace's"
    (packages / "class" / "course.toml").touch()
    marks = look().marks
    assert marks is not None
    assert (marks.path, marks.thresholds, marks.strangers, marks.error) == (str(file), shipped(), (), "")
    file.write_text(file.read_text().replace('"speed-4096"', '"speed-4000"'))
    marks = look().marks
    assert marks is not None
    assert 'tiled_gemm has no timed case "speed-4000"' in marks.strangers[0]
    file.write_text("schema = 2")
    marks = look().marks
    assert marks is not None
    assert (marks.thresholds, marks.error.partition(".toml")[2][:13]) == (None, " has schema 2")
    file.unlink()
    assert look().marks is None


def test_json(packages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, "doctor", "--json").out)
    names = [finding["name"] for finding in document["findings"]]
    assert document["schema"] == 1
    assert {"Python", "torch", "tilelang", "GPU driver", "nvcc", "C++ compiler", "cache"} <= set(names)
