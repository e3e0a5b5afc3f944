"""Two gradings on one GPU wait for each other, whoever runs them and however they end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tlpuzzles.device.cuda import lock as locking
from tlpuzzles.device.cuda.lock import Lock, gpu_lock, lock_path

GPU = "GPU-8f6c3b1e"
HOLDER = """
import os, signal, sys
import filelock  # before the user changes, who may not be allowed to read it
from tlpuzzles.device.cuda.lock import gpu_lock
os.umask(0o077)
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
if len(sys.argv) > 2:
    os.setgid(int(sys.argv[2])), os.setuid(int(sys.argv[2]))
with gpu_lock(sys.argv[1], lambda what: print("waits", flush=True)) as outcome:
    print(outcome.lock.value, flush=True)
    sys.stdin.readline()
print("done", flush=True)
"""
LONG = 20
"""Seconds after which a test is broken, not slow."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own for each test; like /tmp, all may write there."""
    tmp_path.chmod(0o1777)
    monkeypatch.setenv("TLPUZZLES_LOCK_DIR", str(tmp_path))
    monkeypatch.setattr(locking, "POLL_SECONDS", 0.01)


@contextlib.contextmanager
def holder(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that takes the lock, and gives it back when a line is written to it."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDER, *arguments], stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def let_go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def never(what: str) -> None:
    pytest.fail(f"it waited: {what}")


def test_the_second_waits_for_the_first_and_other_gpus_do_not() -> None:
    with contextlib.ExitStack() as stack:
        with gpu_lock(GPU, never) as outcome:
            assert outcome.lock is Lock.HELD
            second, elsewhere = (stack.enter_context(holder(gpu)) for gpu in (GPU, "GPU-another"))
            assert said(elsewhere) == "held"
            assert said(second) == "waits"
        assert said(second) == "held"


def test_what_waits_goes_on_when_the_first_is_done() -> None:
    with holder(GPU) as first:
        assert said(first) == "held"
        waits: list[bool] = []

        def on_wait(what: str) -> None:
            waits.append(True)
            let_go(first)

        with gpu_lock(GPU, on_wait) as outcome:
            assert outcome.lock is Lock.HELD
            assert said(first) == "done"
        assert waits == [True]


def said_on_waiting(process: subprocess.Popen[str]) -> str:
    """What it is told to wait for while that process holds the lock."""
    told: list[str] = []

    def on_wait(what: str) -> None:
        told.append(what)
        process.kill()

    with gpu_lock(GPU, on_wait):
        (what,) = told
        return what


@pytest.mark.skipif(not locking.LOCKS.exists(), reason="the system does not tell who holds what")
def test_who_waits_is_told_for_which_process_even_if_that_is_stopped() -> None:
    with holder(GPU) as first:
        assert said(first) == "held"
        first.send_signal(signal.SIGSTOP)
        assert said_on_waiting(first) == (
            f"waiting for another grading on this GPU (process {first.pid} holds {lock_path(GPU)})"
        )


@pytest.mark.parametrize(
    "locks",
    [
        pytest.param(None, id="not told"),
        pytest.param("1: POSIX  ADVISORY  WRITE 1 {file} 0 EOF\n", id="another kind of lock"),
        pytest.param("1: FLOCK  ADVISORY  WRITE 1 00:00:1 0 EOF\n", id="another file"),
        pytest.param("1: -> FLOCK  ADVISORY  WRITE 1 {file} 0 EOF\n", id="another that waits"),
        pytest.param("odd\n\n1: FLOCK\n", id="odd lines"),
    ],
)
def test_who_waits_is_told_for_which_file_where_the_process_is_not_known(
    locks: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "LOCKS", tmp_path / "locks")
    with holder(GPU) as first:
        assert said(first) == "held"
        if locks is not None:
            file = lock_path(GPU).stat()
            name = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
            (tmp_path / "locks").write_text(locks.format(file=name))
        assert said_on_waiting(first) == (f"waiting for another grading on this GPU (which holds {lock_path(GPU)})")


def test_who_waited_for_a_file_that_was_deleted_holds_the_one_that_others_find() -> None:
    with holder(GPU) as first:
        assert said(first) == "held"
        waits: list[str] = []

        def on_wait(what: str) -> None:
            waits.append(what)
            lock_path(GPU).unlink()
            let_go(first)

        with gpu_lock(GPU, on_wait), holder(GPU) as second:
            assert said(second) == "waits"
        assert len(waits) == 1


def test_a_process_that_is_killed_holds_nothing() -> None:
    with holder(GPU) as first:
        assert said(first) == "held"
        with gpu_lock(GPU, lambda _: first.send_signal(signal.SIGKILL)) as outcome:
            assert outcome.lock is Lock.HELD


def test_it_may_be_taken_again_while_it_is_held_and_is_held_until_the_first_ends() -> None:
    with gpu_lock(GPU, never):
        with gpu_lock(GPU, never) as again:
            assert again.lock is Lock.HELD
        with holder(GPU) as other:
            assert said(other) == "waits"
    with holder(GPU) as other:
        assert said(other) == "held"
        waits: list[None] = []
        with gpu_lock(GPU, lambda _: waits.append(let_go(other))):
            assert waits == [None]


def test_an_error_gives_it_back() -> None:
    with pytest.raises(ZeroDivisionError), gpu_lock(GPU, never):
        raise ZeroDivisionError
    with holder(GPU) as other:
        assert said(other) == "held"


def test_ctrl_c_ends_the_wait() -> None:
    with gpu_lock(GPU, never), holder(GPU) as second:
        assert said(second) == "waits"
        second.send_signal(signal.SIGINT)
        assert second.wait(LONG) != 0
        assert said(second) == ""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be two users")
@pytest.mark.parametrize("mode", [0o1777, 0o777])
def test_other_users_wait_too(mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not in pytest's own folder, which other users may not enter.
    with tempfile.TemporaryDirectory(dir="/tmp") as shared:
        Path(shared).chmod(mode)
        monkeypatch.setenv("TLPUZZLES_LOCK_DIR", shared)
        with holder(GPU, "54321") as first:
            assert said(first) == "held"
            with holder(GPU, "54322") as second:
                assert said(second) == "waits"
                let_go(first)
                assert said(second) == "held"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    lock_path("dangling").symlink_to(target)
    with gpu_lock("dangling", never) as outcome:
        assert outcome.lock is Lock.UNAVAILABLE
    assert not target.exists()
    target.write_text("somebody's")
    lock_path(GPU).symlink_to(target)
    with gpu_lock(GPU, never) as outcome:
        assert outcome.lock is Lock.UNAVAILABLE
        assert f"{lock_path(GPU)} cannot be locked (it is a link)" in outcome.why
        assert "TLPUZZLES_LOCK_DIR" in outcome.why


def test_a_file_that_is_there_is_not_changed() -> None:
    lock_path(GPU).write_text("somebody's")
    lock_path(GPU).chmod(0o600)
    with gpu_lock(GPU, never) as outcome:
        assert outcome.lock is Lock.HELD
    assert lock_path(GPU).read_text() == "somebody's"
    assert lock_path(GPU).stat().st_mode & 0o777 == 0o600


def test_what_is_no_file_does_not_hold_it_up() -> None:
    os.mkfifo(lock_path(GPU))
    with gpu_lock(GPU, never) as outcome:
        assert outcome.lock is Lock.UNAVAILABLE
        assert "not a plain file" in outcome.why


@pytest.mark.parametrize("place", ["/proc", "/nowhere"])
def test_without_a_lock_file_it_goes_on_and_says_so(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TLPUZZLES_LOCK_DIR", place)
    with gpu_lock(GPU, never) as outcome:
        assert outcome.lock is Lock.UNAVAILABLE
        assert f"{place}/tlpuzzles-{GPU}.lock cannot be locked" in outcome.why
        with gpu_lock(GPU, never) as again:
            assert again.lock is Lock.UNAVAILABLE


def test_the_folder_is_not_that_of_temporary_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TLPUZZLES_LOCK_DIR")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert lock_path("NVIDIA H200/0") == Path("/tmp/tlpuzzles-NVIDIA_H200_0.lock")
    assert lock_path(0) == Path("/tmp/tlpuzzles-0.lock")
