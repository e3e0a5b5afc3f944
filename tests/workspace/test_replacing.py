"""Replacing a learner's file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tlpuzzles.errors import UsageError
from tlpuzzles.workspace import replacing
from tlpuzzles.workspace.replacing import put_aside, read_present, replace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "my course é"
    folder.mkdir()
    return folder


def test_keeps_permissions(root: Path) -> None:
    file = root / "kernel.py"
    file.write_text("old")
    file.chmod(0o751)
    replace(file, b"new", root)
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert list(root.iterdir()) == [file]


def test_what_is_missing_is_made_as_any_file(root: Path) -> None:
    file = root / "folder" / "kernel.py"
    assert read_present(file, root) is None
    replace(file, b"new", root)
    (root / "usual").write_text("")
    assert file.stat().st_mode == (root / "usual").stat().st_mode


def test_a_fault_on_the_way_leaves_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "kernel.py"
    file.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(replacing.os, "fsync", full)
    with pytest.raises(UsageError, match="No space left on device"):
        replace(file, b"new", root)
    assert file.read_text() == "old"
    assert list(root.iterdir()) == [file]


def test_what_is_put_aside_writes_over_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = root / "kernel.py"
    (root / "kernel.before.py").symlink_to("nowhere")
    (root / "kernel.before-2.py").mkdir()
    assert put_aside(file, b"one", root) == root / "kernel.before-3.py"
    assert put_aside(file, b"two", root) == root / "kernel.before-4.py"
    # What is there need not be put there again.
    assert put_aside(file, b"one", root) == root / "kernel.before-3.py"
    assert [(root / f"kernel.before-{number}.py").read_bytes() for number in (3, 4)] == [b"one", b"two"]

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(replacing.os, "fsync", full)
    with pytest.raises(UsageError, match=r"was not replaced.*No space left on device"):
        put_aside(file, b"three", root)
    assert not (root / "kernel.before-5.py").exists()


def test_a_link_is_followed_within_the_workspace_only(root: Path, tmp_path: Path) -> None:
    inside, outside, link = root / "mine.py", tmp_path / "precious.py", root / "kernel.py"
    inside.write_text("old")
    outside.write_text("precious")
    link.symlink_to(inside)
    replace(link, b"new", root)
    assert (link.is_symlink(), inside.read_text()) == (True, "new")
    link.unlink()
    link.symlink_to(outside)
    for action in (lambda: replace(link, b"new", root), lambda: read_present(link, root)):
        with pytest.raises(UsageError, match="leads out of your workspace"):
            action()
    folder = root / "folder"
    folder.symlink_to(tmp_path)
    with pytest.raises(UsageError, match="leads out of your workspace"):
        replace(folder / "precious.py", b"new", root)
    assert outside.read_text() == "precious"
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(UsageError):
        replace(link, b"new", root)


def test_what_cannot_be_kept_is_said(root: Path) -> None:
    (root / "folder.py").mkdir()
    os.mkfifo(root / "pipe.py")
    (root / "long.py").write_bytes(bytes(replacing.MOST + 1))
    for name, why in (("folder.py", "no plain file"), ("pipe.py", "no plain file"), ("long.py", "more than 1024 KiB")):
        with pytest.raises(UsageError, match=why):
            read_present(root / name, root)


def test_a_drive_without_permissions_and_settled_folders_will_do(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    fsync = os.fsync
    monkeypatch.setattr(replacing.os, "fchmod", cannot)
    monkeypatch.setattr(
        replacing.os,
        "fsync",
        lambda descriptor: (cannot if stat.S_ISDIR(os.fstat(descriptor).st_mode) else fsync)(descriptor),
    )
    replace(root / "kernel.py", b"new", root)
    assert (root / "kernel.py").read_bytes() == b"new"
