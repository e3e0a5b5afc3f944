"""Reading a file of which anything may be true."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tlpuzzles.plain import one_line, read_plain


def test_a_plain_file_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1234")
    (tmp_path / "link").symlink_to("file")
    assert read_plain(tmp_path / "link", 4) == b"1234"


def test_what_is_longer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 1025)
    with pytest.raises(OSError, match="it has more than 1 KiB"):
        read_plain(tmp_path / "file", 1024)


def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match="it is not a plain file"):
            read_plain(path, 1024)


def test_a_name_stays_on_its_line_and_drives_no_terminal() -> None:
    assert (
        one_line(Path("a\nExercise 1  [PASSED]\x1b[31m\u202e\u2028é\udcff.py")) == "a?Exercise 1  [PASSED]?[31m??é?.py"
    )
