"""Saves are told once each, however an editor makes them, and looked for where a file system does not tell them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue

import pytest

from tlpuzzles.watch import saves
from tlpuzzles.watch.saves import Saves, needs_polling

LONG = 10.0


@pytest.fixture(params=[False, True], ids=["told", "polled"])
def saved(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue[Path]]:
    monkeypatch.setattr(saves, "needs_polling", lambda folder: request.param)
    told: Queue[Path] = Queue()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text("one")
    with Saves(tmp_path, [tmp_path / "a" / "a.py", tmp_path / "b" / "b.py"], told.put):
        # Until it looks: what is saved before that is told by nobody.
        for number in range(100):
            (tmp_path / "a" / "a.py").write_text(f"{number}")
            try:
                told.get(timeout=0.5)
                break
            except Empty:
                continue
        while True:
            try:
                told.get(timeout=1.0)
            except Empty:
                break
        yield told


def none_more(told: Queue[Path]) -> bool:
    with pytest.raises(Empty):
        told.get(timeout=0.8)
    return True


def test_a_file_that_is_written_is_told_once(saved: Queue[Path], tmp_path: Path) -> None:
    (tmp_path / "b" / "b.py").write_text("two")
    assert saved.get(timeout=LONG) == tmp_path / "b" / "b.py"
    assert none_more(saved)


def test_an_editor_that_writes_another_file_and_renames_it_saves(saved: Queue[Path], tmp_path: Path) -> None:
    (tmp_path / "a" / ".a.py.swp").write_text("two")
    (tmp_path / "a" / ".a.py.swp").rename(tmp_path / "a" / "a.py")
    assert saved.get(timeout=LONG) == tmp_path / "a" / "a.py"
    assert none_more(saved)


def test_other_files_and_a_deleted_one_are_no_saves(saved: Queue[Path], tmp_path: Path) -> None:
    (tmp_path / "a" / "notes.txt").write_text("x")
    (tmp_path / "a" / "a.py").unlink()
    assert none_more(saved)


@pytest.mark.parametrize(
    ("mount", "polls"),
    [
        ("/dev/sda1 / ext4 rw 0 0", False),
        ("drive /content/drive fuse.drive rw 0 0", True),
        ("C: /content/drive 9p rw 0 0", True),
        ("server:/home /content nfs4 rw 0 0", True),
        ("server:/home /content/drive/My\\040Drive nfs4 rw 0 0", True),
        ("server:/home /content/other nfs4 rw 0 0", False),
        ("odd", False),
    ],
)
def test_network_drives_are_polled(tmp_path: Path, mount: str, polls: bool) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"overlay / overlay rw 0 0\n{mount}\n")
    assert needs_polling(Path("/content/drive/My Drive/kernels"), mounts) is polls


def test_without_a_list_of_mounts_it_is_an_ordinary_disk(tmp_path: Path) -> None:
    assert needs_polling(tmp_path, tmp_path / "none") is False


def test_the_nearest_mount_decides(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("server:/ / nfs rw 0 0\n/dev/sda1 /home ext4 rw 0 0\n")
    assert needs_polling(Path("/home/me"), mounts) is False
    assert needs_polling(Path("/srv"), mounts) is True


def test_a_file_that_is_a_link_is_saved_where_it_leads(tmp_path: Path) -> None:
    """As where somebody keeps their files elsewhere."""
    (tmp_path / "work").mkdir()
    (tmp_path / "elsewhere").mkdir()
    real = tmp_path / "elsewhere" / "real.py"
    real.write_text("one")
    link = tmp_path / "work" / "a.py"
    link.symlink_to(real)
    told: Queue[Path] = Queue()
    with Saves(tmp_path / "work", [link], told.put):
        for number in range(20):
            real.write_text(f"{number}")
            try:
                assert told.get(timeout=0.5) == link
                return
            except Empty:
                continue
    raise AssertionError("no save was told")
