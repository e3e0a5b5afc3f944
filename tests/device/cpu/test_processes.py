"""Processes that run side by side end in time, and none is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tlpuzzles.device.cpu.processes import Command, run_each


def python(text: str, seconds: float = 20.0) -> Command:
    return Command([sys.executable, "-I", "-S", "-c", text], seconds)


def is_there(pid: int) -> bool:
    """Whether it stays: one that was killed a moment ago may still be about to go."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except (FileNotFoundError, ProcessLookupError):
            return False
        time.sleep(0.01)
    return True


def told(file: Path) -> int:
    """The process id that a process wrote there."""
    deadline = time.monotonic() + 20
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return int(file.read_text())


def test_every_command_has_its_own_end_in_the_order_asked_for() -> None:
    seen: list[int] = []
    ended = run_each([python(f"raise SystemExit({status})") for status in range(5)], 2, seen.append)

    assert [one.returncode for one in ended] == list(range(5))
    assert sorted(seen) == list(range(5))


def test_they_run_side_by_side_and_no_more_than_that() -> None:
    naps = [python("import time; time.sleep(0.6)") for _ in range(4)]
    begin = time.monotonic()
    run_each(naps, 2)
    assert 1.2 <= time.monotonic() - begin < 2.2


def test_the_next_begins_when_one_ends_and_the_others_go_on() -> None:
    begin = time.monotonic()
    run_each([python(f"import time; time.sleep({nap})") for nap in (0.3, 1.5, 1.2)], 2)
    assert time.monotonic() - begin < 2.2


@pytest.mark.parametrize("beside", [0, 1])
def test_one_that_takes_too_long_is_killed_with_what_it_started(tmp_path: Path, beside: int) -> None:
    file = tmp_path / "child"
    text = f"import os, time\npid = os.fork()\nif pid: open({str(file)!r}, 'w').write(str(pid))\ntime.sleep(60)"
    ended = run_each([python(text, 1.0), *[python("import time; time.sleep(0.1)")] * beside], 2)

    assert ended[0].timed_out
    assert ended[0].returncode == -signal.SIGKILL
    assert 1.0 <= ended[0].seconds < 20.0  # of 60, on a busy machine too
    assert not any(one.timed_out for one in ended[1:])
    assert not is_there(told(file))


INTERRUPTED = """
import sys
from tests.commands.running import heed_interrupts
from tests.device.cpu.test_processes import python
from tlpuzzles.device.cpu.processes import run_each

heed_interrupts()
waits = "import os, sys, time; open({!r}, 'w').write(str(os.getpid())); time.sleep(60)"
run_each([python(waits.format(file)) for file in sys.argv[1:]], 2)
"""


def test_an_interrupt_ends_all_of_them(tmp_path: Path) -> None:
    files = [tmp_path / name for name in "ab"]
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, *map(str, files)], stderr=subprocess.DEVNULL) as parent:
        children = [told(file) for file in files]
        parent.send_signal(signal.SIGINT)
    assert not any(is_there(child) for child in children)


def test_one_that_cannot_be_started_ends_those_that_run(tmp_path: Path) -> None:
    file = tmp_path / "child"
    waits = python(f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    with pytest.raises(FileNotFoundError):
        run_each(
            [
                waits,
                python(f"import time\nwhile not open({str(file)!r}, 'a+').tell(): time.sleep(0.01)"),
                Command(["/no/such/program"], 1.0),
            ],
            2,
        )
    assert not is_there(told(file))


def test_one_alone_is_not_looked_at_in_vain() -> None:
    begin = time.process_time()
    (ended,) = run_each([python("import time; time.sleep(1)")], 1)
    assert ended.returncode == 0
    assert time.process_time() - begin < 0.2
