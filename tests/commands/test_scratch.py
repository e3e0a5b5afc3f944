"""What killed commands leave is removed by later ones, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tlpuzzles.commands import scratch
from tlpuzzles.commands.scratch import MOST, OWNED, scratch_folder

HOLD = """
import sys
from tlpuzzles.commands.scratch import scratch_folder

with scratch_folder() as folder:
    (folder / "large").write_bytes(bytes(1000))
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def among(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


class Holder:
    """Another process that has a folder of its own."""

    def __init__(self, among: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLD],
            env={**os.environ, "TMPDIR": str(among)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.folder = Path(self.process.stdout.readline().strip())

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def holder(among: Path) -> Iterator[Holder]:
    held = Holder(among)
    yield held
    held.kill()


def test_a_folder_goes_when_its_process_ends_or_after_it_was_killed(among: Path, holder: Holder) -> None:
    with scratch_folder() as folder:
        assert (holder.folder / "large").is_file(), "of a process that lives"
        assert folder.is_dir()
    assert list(among.iterdir()) == [holder.folder]
    holder.kill()
    assert (holder.folder / "large").is_file()
    with scratch_folder() as folder:
        assert list(among.iterdir()) == [folder]
    assert list(among.iterdir()) == []


def _left(among: Path, name: str, machine: bytes | None = None) -> Path:
    """A folder as a killed command leaves it."""
    folder = among / f"{scratch.PREFIX}{name}"
    folder.mkdir()
    (folder / OWNED).write_bytes(scratch.MACHINE.read_bytes() if machine is None else machine)
    return folder


def test_what_may_be_anybodys_stays(among: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (among / "elsewhere").mkdir()
    (among / "elsewhere" / OWNED).write_bytes(scratch.MACHINE.read_bytes())
    (among / f"{scratch.PREFIX}link").symlink_to("elsewhere")
    (among / f"{scratch.PREFIX}file").write_text("")
    (among / f"{scratch.PREFIX}without").mkdir()
    _left(among, "of-another-machine", b"another")
    (_left(among, "with-a-link") / OWNED).unlink()
    (among / f"{scratch.PREFIX}with-a-link" / OWNED).symlink_to(among / "elsewhere" / OWNED)
    (_left(among, "with-a-pipe") / OWNED).unlink()
    os.mkfifo(among / f"{scratch.PREFIX}with-a-pipe" / OWNED)
    _left(among, "left").rename(among / "of-another-name")
    before = sorted(among.rglob("*"))
    with scratch_folder():
        pass
    assert sorted(among.rglob("*")) == before
    _left(among, "of-another-user")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with scratch_folder():
        pass
    assert (among / f"{scratch.PREFIX}of-another-user").is_dir()


def test_what_lies_in_a_folder_is_removed_and_not_what_it_leads_to(among: Path) -> None:
    (among / "mine").mkdir()
    (among / "mine" / "kernel.py").write_text("mine")
    (_left(among, "left") / "link").symlink_to(among / "mine")
    with scratch_folder():
        pass
    assert [path.name for path in among.iterdir()] == ["mine"]
    assert (among / "mine" / "kernel.py").read_text() == "mine"


def test_one_command_removes_so_many(among: Path) -> None:
    for number in range(MOST + 3):
        _left(among, str(number))
    for left in (3, 0):
        with scratch_folder():
            pass
        assert len(list(among.iterdir())) == left


def test_where_the_machine_is_not_told_nothing_is_locked_or_removed(
    among: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = _left(among, "left")
    monkeypatch.setattr(scratch, "MACHINE", among / "nothing")
    with scratch_folder() as folder:
        assert list(folder.iterdir()) == []
    assert list(among.iterdir()) == [left]
