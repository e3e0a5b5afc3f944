"""Children end in every way that processes end, and the parent says which."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tlpuzzles.border import watching
from tlpuzzles.border.children import Warm, WarmDied
from tlpuzzles.border.limits import Limits
from tlpuzzles.border.watching import MAX_OUTPUT, End, Report


def run(
    warm: Warm,
    tmp_path: Path,
    text: str,
    *,
    seconds: float = 10.0,
    sees_gpu: bool = False,
    cache: Path | None = None,
) -> Report:
    file = tmp_path / "learner.py"
    file.write_text(text)
    job = {"path": str(file), "text": str(file), "factory": "f", "arch": "cpu", "cases": []}
    return warm.run("trace", job, Limits(seconds, memory=4 << 30), tmp_path, sees_gpu=sees_gpu, cache=cache)


def test_finished(warm: Warm, tmp_path: Path) -> None:
    report = run(warm, tmp_path, "def f(): ...\nprint('hello')\n")
    assert report.end is End.FINISHED
    assert report.output == "hello\n"
    assert [m["kind"] for m in report.messages] == ["loaded"]


def test_tilelangs_cache_is_the_childs_own_unless_it_is_given_one(warm: Warm, tmp_path: Path) -> None:
    tell = "import os\nprint(os.environ['TILELANG_CACHE_DIR'])\ndef f(): ...\n"
    assert run(warm, tmp_path, tell).output.strip() == str(tmp_path / "tilelang")
    given = run(warm, tmp_path, tell, cache=tmp_path / "given")
    assert given.output.strip() == str(tmp_path / "given")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("import os; os._exit(0)", End.EXITED),
        ("import os; os._exit(3)", End.EXITED),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", End.SIGNALLED),
        ("import os, signal; os.killpg(0, signal.SIGKILL)", End.SIGNALLED),
        ("while True: pass", End.TIMED_OUT),
        ("import time, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", End.TIMED_OUT),
        ("while True: print('x' * 100000)", End.TIMED_OUT),
    ],
)
def test_unfinished(warm: Warm, tmp_path: Path, text: str, end: End) -> None:
    seconds = 1.0 if end is End.TIMED_OUT else 30.0
    report = run(warm, tmp_path, text, seconds=seconds)
    assert report.end is end
    assert len(report.output) <= MAX_OUTPUT
    assert report.seconds < seconds + 15


def test_memory_is_limited(warm: Warm, tmp_path: Path) -> None:
    report = run(warm, tmp_path, "x = bytearray(6 << 30)\n")
    assert report.messages[0]["type"] == "MemoryError"


def test_messages_written_by_hand_are_only_messages(warm: Warm, tmp_path: Path) -> None:
    """A learner who finds the channel can say anything on it, and gains nothing."""
    forge = (
        "import os\n"
        "for fd in range(3, 64):\n"
        '    try: os.write(fd, b\'{"kind": "done"}\\nnot json\\n[1]\\n\')\n'
        "    except OSError: pass\n"
        "os._exit(7)\n"
    )
    report = run(warm, tmp_path, forge)
    assert report.end is End.EXITED
    assert report.code == 7


def test_too_many_messages_end_the_child(warm: Warm, tmp_path: Path) -> None:
    flood = (
        'import os\nline = b\'{"kind": "x", "y": "\' + b\'y\' * 1000000 + b\'"}\\n\'\n'
        "for fd in range(3, 64):\n"
        "    try:\n"
        "        while True: os.write(fd, line)\n"
        "    except OSError: pass\n"
    )
    report = run(warm, tmp_path, flood)
    assert report.end in (End.FLOODED, End.FINISHED)
    assert report.end is End.FLOODED


def test_what_a_child_started_ends_with_it(warm: Warm, tmp_path: Path) -> None:
    """Also what put itself into a session of its own."""
    pids = tmp_path / "pids"
    stray = (
        "import os, time\n"
        f"out = open({str(pids)!r}, 'w')\n"
        "def start(detach):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        if detach: os.setsid()\n"
        "        time.sleep(60)\n"
        "        os._exit(0)\n"
        "    print(pid, file=out, flush=True)\n"
        "start(False); start(True)\n"
        "def f(): ...\n"
    )
    report = run(warm, tmp_path, stray)
    assert report.end is End.FINISHED
    left = [int(pid) for pid in pids.read_text().split()]
    assert len(left) == 2
    deadline = time.monotonic() + 3
    while any(_alive(pid) for pid in left) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(_alive(pid) for pid in left)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_child_that_kills_the_warm_process_is_no_pass(tmp_path: Path) -> None:
    with Warm(tmp_path) as warm:
        file = tmp_path / "learner.py"
        file.write_text("import os, signal; os.kill(os.getppid(), signal.SIGKILL)")
        job = {"path": str(file), "text": str(file), "factory": "f", "arch": "cpu", "cases": []}
        with pytest.raises(WarmDied):
            warm.run("trace", job, Limits(10), tmp_path)
        with pytest.raises(WarmDied):
            warm.run("trace", job, Limits(10), tmp_path)


def test_a_broken_installation_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so.99 is missing')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with Warm(tmp_path) as warm, pytest.raises(WarmDied, match=r"libcudart.so.99 is missing"):
        warm.run("trace", {}, Limits(10), tmp_path)


def test_closing_ends_everything(tmp_path: Path) -> None:
    warm = Warm(tmp_path)
    process = warm._process.pid
    warm.close()
    assert not Path(f"/proc/{process}").exists()


@pytest.mark.parametrize("sees_gpu", [False, True])
def test_a_child_cannot_make_the_warm_process_deaf(warm: Warm, tmp_path: Path, sees_gpu: bool) -> None:
    """It is forked from it, and must not find the files by which it listens."""
    deafen = (
        "import os, select\n"
        "for fd in range(3, 64):\n"
        "    try: where = os.readlink(f'/proc/self/fd/{fd}')\n"
        "    except OSError: continue\n"
        "    print(where.partition(':')[0])\n"
    )
    report = run(warm, tmp_path, deafen + "def f(): ...\n", sees_gpu=sees_gpu)
    # Where there is a GPU, a process that is to use it keeps what NVIDIA's libraries opened.
    assert {where for where in report.output.split() if not where.startswith("/dev/nvidia")} == {"pipe"}
    assert run(warm, tmp_path, "def f(): ...\n").end is End.FINISHED


def test_a_warm_process_that_is_stopped_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = "import os, signal; os.kill(os.getppid(), signal.SIGSTOP)\ndef f(): ...\n"
    with Warm(tmp_path) as warm:
        # Its imports alone may take longer than the test is willing to wait.
        assert run(warm, tmp_path, "def f(): ...\n").end is End.FINISHED
        monkeypatch.setattr(watching, "START", 3.0)
        with pytest.raises(WarmDied):
            run(warm, tmp_path, stop, seconds=1.0)
        with pytest.raises(WarmDied):
            run(warm, tmp_path, "def f(): ...\n")


def test_what_a_child_that_kills_the_warm_process_has_started_is_ended_too(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    escapes = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.closerange(0, 200)\n"
        f"        open({str(file)!r}, 'w').write(str(os.getpid()))\n"
        "        time.sleep(60)\n"
        "    os._exit(0)\n"
        f"while not os.path.exists({str(file)!r}) or not open({str(file)!r}).read(): time.sleep(0.01)\n"
        "os.kill(os.getppid(), signal.SIGKILL)\n"
        "time.sleep(5)\n"
    )
    with Warm(tmp_path) as warm:
        with pytest.raises(WarmDied):
            run(warm, tmp_path, escapes)
        warm.revive()
        assert not _alive(int(file.read_text()))
