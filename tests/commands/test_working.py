"""How a command that grades ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

TWICE = """
import os, signal, time
from tlpuzzles.commands.working import warm_process

with warm_process() as (warm, scratch):
    ended = warm.close

    def close():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)
        ended()
        print('cleaned up')

    warm.close = close
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)
"""


def test_a_second_signal_does_not_end_the_cleaning_up(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", TWICE], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, "cleaned up\n")
    assert list(tmp_path.iterdir()) == []
