"""The database: two at once, a process killed while it writes, and files that are no record."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workspace.results import graded, keep
from tlpuzzles.course import catalog
from tlpuzzles.workspace import attempts, record, schema
from tlpuzzles.workspace.keeping import keep_file, keep_hint
from tlpuzzles.workspace.record import Record, Unusable

ONE = catalog.find("1")


def _python(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_nothing_is_made_by_reading(tmp_path: Path) -> None:
    assert attempts.read(tmp_path) == {}
    assert list(tmp_path.iterdir()) == []


def test_git_leaves_the_record_alone(tmp_path: Path) -> None:
    keep_hint(tmp_path, ONE, 1)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    status = subprocess.run(
        ["git", "-C", str(tmp_path), "status", "--short"], check=True, capture_output=True, text=True
    )
    assert status.stdout == ""


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.workspace.results import graded, keep\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for i in range(40): keep(Path(sys.argv[1]), f'{sys.argv[2]} {i}', graded(ratios=(0.5, 0.6)))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    pipe = subprocess.PIPE
    both = [subprocess.Popen([*command, who], stdin=pipe, stdout=pipe, stderr=pipe, text=True) for who in "ab"]
    for process in both:  # neither begins before the other can
        assert process.stdout is not None
        process.stdout.readline()
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in both:
        assert process.communicate(timeout=60)[1] == ""
    kept = attempts.read(tmp_path)["vector_add"].attempts
    assert [attempt.number for attempt in kept] == list(range(1, 81))
    texts = [attempts.content(tmp_path, attempt) for attempt in kept]
    assert sorted(texts) == sorted(f"{who} {i}".encode() for who in "ab" for i in range(40))  # type: ignore[type-var]


def test_a_process_killed_while_it_writes_leaves_what_was_there(tmp_path: Path) -> None:
    keep(tmp_path, "first", graded())
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from tlpuzzles.workspace.record import Record\n"
        "with Record(Path(sys.argv[1])).writing() as connection:\n"
        "    connection.execute('PRAGMA cache_size = 2')\n"  # so that pages go to the file before the end
        "    connection.execute('DELETE FROM attempts')\n"
        "    for i in range(400):\n"
        "        connection.execute('INSERT INTO files VALUES (?, ?)', (str(i), bytes(4000)))\n"
        "    print('within', flush=True)\n"
        "    time.sleep(60)\n"
    )
    process = _python(code, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "within\n"
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=20)
    database = tmp_path / ".tlpuzzles" / "progress.db"
    assert Path(f"{database}-journal").exists()
    assert database.stat().st_size > 400 * 4000  # half of it is in the file
    past = attempts.read(tmp_path)["vector_add"]
    assert [attempt.number for attempt in past.attempts] == [1]
    keep(tmp_path, "second", graded())
    with Record(tmp_path).reading() as connection:
        assert connection is not None
        assert connection.execute("SELECT count(*) FROM files").fetchone() == (2,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_one_that_waits_too_long_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "PATIENCE", 0.1)
    keep(tmp_path, "first", graded())
    with Record(tmp_path).writing() as connection:
        connection.execute("DELETE FROM ratios")
        with pytest.raises(Unusable, match="in use by another tlpuzzles"):
            keep(tmp_path, "second", graded())


@pytest.mark.parametrize("content", [b"not a database at all" * 400, b"SQLite format 3\0" + bytes(range(256)) * 40])
def test_a_file_that_is_no_record_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / ".tlpuzzles"
    folder.mkdir()
    (folder / "progress.db").write_bytes(content)
    for action in (lambda: attempts.read(tmp_path), lambda: keep(tmp_path, "x", graded())):
        with pytest.raises(Unusable, match=r"is damaged .* mv .*progress\.db .*progress\.db\.old"):
            action()
    assert (folder / "progress.db").read_bytes() == content


def test_a_damaged_page_is_found(tmp_path: Path) -> None:
    for number in range(60):
        keep(tmp_path, "x" * 500 + str(number), graded())
    database = tmp_path / ".tlpuzzles" / "progress.db"
    whole = database.read_bytes()
    database.write_bytes(whole[:4096] + os.urandom(len(whole) - 4096))
    with pytest.raises(Unusable, match="is damaged"):
        attempts.read(tmp_path)


def test_a_value_that_nobody_wrote_is_damage(tmp_path: Path) -> None:
    keep(tmp_path, "x", graded())
    with Record(tmp_path).writing() as connection:
        connection.execute("UPDATE attempts SET verdict = 'excellent'")
    with pytest.raises(Unusable, match=r"is damaged .*excellent"):
        attempts.read(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE attempts SET earned = 'x'",
        "UPDATE attempts SET earned = 1.5",
        "UPDATE attempts SET earned = -1",
        "UPDATE attempts SET earned = 61",
        "UPDATE attempts SET possible = 'x'",
        "UPDATE attempts SET possible = 9223372036854775807",
        "UPDATE attempts SET not_graded = x'00ff'",
        "UPDATE attempts SET number = '\u202e1'",
        "UPDATE attempts SET number = 0",
        "UPDATE attempts SET hint = '\u202e1'",
        "UPDATE attempts SET at = '9999-12-31T23:59:59-23:59'",
        "UPDATE attempts SET at = '0001-01-01T00:00:00+23:59'",
        "UPDATE attempts SET at = '2026-01-01T00:00:00'",
        "UPDATE attempts SET at = 5",
        "UPDATE attempts SET origin = 'found'",
        "UPDATE attempts SET origin = x'00ff'",
        "UPDATE attempts SET verdict = 7",
        "UPDATE attempts SET path = x'00ff'",
        "UPDATE attempts SET path = CAST(x'ff' AS TEXT)",
        "UPDATE attempts SET file = x'00ff'",
        "UPDATE attempts SET only_case = '\u202ecase'",
        "UPDATE attempts SET only_case = 'a' || char(10) || 'b'",
        "UPDATE attempts SET device = x'00ff'",
        "UPDATE attempts SET arch = x'00ff'",
        "UPDATE attempts SET exercise = x'00ff'",
        "INSERT INTO ratios SELECT id, 'speed', 'x', 'c' FROM attempts",
        "INSERT INTO ratios SELECT id, 'speed', x'00ff', 'c' FROM attempts",
        "INSERT INTO ratios SELECT id, 'speed', 9e999, 'c' FROM attempts",
        "INSERT INTO ratios SELECT id, 'speed', -0.5, 'c' FROM attempts",
        "INSERT INTO ratios SELECT id, x'00ff', 0.5, 'c' FROM attempts",
        "INSERT INTO hints VALUES ('vector_add', '\u202e2', '')",
        "INSERT INTO hints VALUES (x'00ff', 2, '')",
        "INSERT INTO given_up VALUES (x'00ff', '')",
        "PRAGMA user_version = -1",
    ],
)
def test_a_value_of_another_kind_is_damage(tmp_path: Path, statement: str) -> None:
    keep(tmp_path, "x", graded())
    with sqlite3.connect(tmp_path / ".tlpuzzles" / "progress.db") as connection:
        connection.execute(statement)
    with pytest.raises(Unusable, match=r"is damaged \(.*\)\. Move it away, and a new record is begun: mv ") as raised:
        attempts.read(tmp_path)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize("content", ["'x'", "99999999999", "1.5", "zeroblob(1048577)"])
def test_a_content_of_another_kind_is_damage(tmp_path: Path, content: str) -> None:
    keep(tmp_path, "x", graded())
    (attempt,) = attempts.read(tmp_path)["vector_add"].attempts
    with Record(tmp_path).writing() as connection:
        connection.execute(f"UPDATE files SET content = {content}")
    with pytest.raises(Unusable, match=r"is damaged \(content is "):
        attempts.content(tmp_path, attempt)


@pytest.mark.parametrize("number", ["'\u202e1'", "1.5", "9223372036854775807"])
def test_no_number_is_made_from_one_that_is_none(tmp_path: Path, number: str) -> None:
    keep(tmp_path, "x", graded())
    with Record(tmp_path).writing() as connection:
        connection.execute(f"UPDATE attempts SET number = {number}")
    for action in (lambda: keep(tmp_path, "y", graded()), lambda: keep_file(tmp_path, ONE, Path("x"), b"x")):
        with pytest.raises(Unusable, match=r"is damaged \(number is "):
            action()


def test_one_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    keep(tmp_path, "x", graded())
    with Record(tmp_path).writing() as connection:
        connection.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")
    before = (tmp_path / ".tlpuzzles" / "progress.db").read_bytes()
    for action in (lambda: attempts.read(tmp_path), lambda: keep(tmp_path, "y", graded())):
        with pytest.raises(Unusable, match=r"newer tlpuzzles.*Update tlpuzzles"):
            action()
    assert (tmp_path / ".tlpuzzles" / "progress.db").read_bytes() == before


@pytest.mark.parametrize("first", ["reading", "writing"])
def test_one_of_an_older_version_becomes_a_newer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    keep(tmp_path, "x", graded())
    later = (*schema.MIGRATIONS, ("ALTER TABLE attempts ADD COLUMN mood TEXT DEFAULT 'fine'",))
    monkeypatch.setattr(record, "MIGRATIONS", later)
    if first == "writing":
        keep(tmp_path, "y", graded())
    kept = attempts.read(tmp_path)["vector_add"].attempts
    assert len(kept) == (2 if first == "writing" else 1)
    with sqlite3.connect(tmp_path / ".tlpuzzles" / "progress.db") as connection:
        assert connection.execute("SELECT mood FROM attempts").fetchone() == ("fine",)
        assert connection.execute("PRAGMA user_version").fetchone() == (len(later),)


def test_a_step_that_fails_leaves_the_older_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, "x", graded())
    before = (tmp_path / ".tlpuzzles" / "progress.db").read_bytes()
    monkeypatch.setattr(record, "MIGRATIONS", (*schema.MIGRATIONS, ("DROP TABLE ratios", "DROP TABLE nonsense")))
    with pytest.raises(Unusable):
        attempts.read(tmp_path)
    assert (tmp_path / ".tlpuzzles" / "progress.db").read_bytes() == before


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "root"
    for folder in (elsewhere, root):
        folder.mkdir()
    (root / ".tlpuzzles").symlink_to(elsewhere)
    with pytest.raises(Unusable, match="link"):
        keep_file(root, ONE, Path("x"), b"x")
    (root / ".tlpuzzles").unlink()
    (root / ".tlpuzzles").mkdir()
    (root / ".tlpuzzles" / "progress.db").symlink_to(elsewhere / "new.db")
    with pytest.raises(Unusable, match="link"):
        keep_file(root, ONE, Path("x"), b"x")
    assert list(elsewhere.iterdir()) == []


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".tlpuzzles").mkdir()
    os.mkfifo(tmp_path / ".tlpuzzles" / "progress.db")
    with pytest.raises(Unusable, match="no file"):
        attempts.read(tmp_path)


def test_a_file_in_the_folders_place(tmp_path: Path) -> None:
    (tmp_path / ".tlpuzzles").write_text("")
    with pytest.raises(Unusable, match="cannot be used: File exists"):
        keep_hint(tmp_path, ONE, 1)


def test_a_folder_that_may_not_be_looked_into_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bool:  # as Python does before 3.14; tests may run as root, for whom all is permitted
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    for action in (lambda: attempts.read(tmp_path), lambda: keep_hint(tmp_path, ONE, 1)):
        with pytest.raises(Unusable, match=r"cannot be used: Permission denied\. Look at the permissions"):
            action()


def test_a_text_in_it_that_is_none_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So tells sqlite3 of a file into which something else was written: its message quotes what it cannot decode."""
    record = Record(tmp_path)
    with record.writing():
        pass

    def connect(mode: str) -> sqlite3.Connection:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    monkeypatch.setattr(record, "_connect", connect)
    with pytest.raises(Unusable, match="is damaged"), record.reading():
        pass
