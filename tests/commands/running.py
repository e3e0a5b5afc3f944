"""Runs the command line as a user does, in this process or in one of its own."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tlpuzzles.cli import main


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


def heed_interrupts() -> None:
    """For a process to be interrupted: what a shell starts in the background, these tests perhaps, ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """Runs a command in this process, with its output piped."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return Ran(ended.value.code, out, err)


def run_process(*arguments: str, cwd: Path, **environment: str) -> Ran:
    """Runs a command in a process of its own, with its output piped."""
    done = subprocess.run(
        [sys.executable, "-m", "tlpuzzles", *arguments],
        cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr)


def run_on_terminal(*arguments: str, cwd: Path, columns: int = 60) -> str:
    """What a terminal of that width shows of a command."""
    shown, terminal = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "tlpuzzles", *arguments],
        cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    text = b""
    try:
        while chunk := os.read(shown, 65536):
            text += chunk
    except OSError:  # how Linux says that the other end of a terminal was closed
        pass
    finally:
        os.close(shown)
        process.wait(timeout=60)
    return text.decode().replace("\r\n", "\n")
