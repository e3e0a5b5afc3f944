"""The button that stops a cell, and a notebook that goes: nothing goes on afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from tlpuzzles.course import catalog
from tlpuzzles.notebook.place import made
from tlpuzzles.workspace.folders import shipped

ONE = catalog.find("1")
SKELETON = shipped(ONE).file(ONE).read_text("utf-8")
HANGS = "import time\ntime.sleep(60)"

LEFT = """
import time
from tlpuzzles.notebook.service import Service

service = Service()
service.start()
print(service._process.pid, flush=True)
time.sleep(60)
"""


COMMAND = """
import sys
from pathlib import Path
from tlpuzzles.notebook.commands import run

run(["grade", "1", "--device", "cpu"], Path(sys.argv[1]))
"""


class Cell:
    """A cell of a running kernel, and what stands below it."""

    def __init__(self, client: BlockingKernelClient, source: str) -> None:
        self._client, self._id, self.texts = client, client.execute(source), list[str]()
        self.has_ended = False
        self.errors: list[str] = []

    def wait(self, wanted: str = "", seconds: float = 60) -> None:
        """Until a text has the word that is wanted, or the cell has ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self.has_ended:
            message = self._client.get_iopub_msg(timeout=seconds)
            if message["parent_header"].get("msg_id") != self._id:
                continue
            content = message["content"]
            self.has_ended = content.get("execution_state") == "idle"
            self.errors += content.get("traceback", [])
            self.texts += [content["data"]["text/plain"]] if "data" in content else []
            self.texts += [content["text"]] if "text" in content else []
            if wanted and self.texts and wanted in self.texts[-1]:
                return


def _is_alive(pid: int) -> bool:
    """Whether it is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _is_gone(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while _is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not _is_alive(pid)


def _descendants(pid: int) -> set[int]:
    """Of a process, as far down as there are any."""
    children = {
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    }
    return children.union(*map(_descendants, children))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TLPUZZLES_WORKSPACE", str(tmp_path / "kernels"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    return tmp_path


def test_the_stop_button_ends_the_grading_and_not_the_notebook(folder: Path) -> None:
    manager: KernelManager
    manager, client = start_new_kernel(cwd=str(folder))
    try:
        Cell(client, "%load_ext tlpuzzles.notebook").wait()
        cell = Cell(client, f"%%exercise 1\n{HANGS}")
        cell.wait("tracing the kernel")
        before = _descendants(manager.provisioner.pid)
        manager.interrupt_kernel()
        cell.wait()
        assert cell.errors == []
        assert cell.texts[-1].startswith("Stopped.")
        assert all(_is_gone(pid, 5) for pid in before)
        assert (folder / "kernels" / ONE.folder / ONE.file).read_text() == f"# %%exercise 1\n{HANGS}\n"
        again = Cell(client, f"%%exercise 1\n{SKELETON}")
        again.wait()
        assert "[NOT STARTED]" in again.texts[-1]

        (folder / "kernels" / ONE.folder / ONE.file).write_text(HANGS)
        before, files = _descendants(manager.provisioner.pid), set((folder / "tmp").glob("tlpuzzles-*"))
        command = Cell(client, "%tlpuzzles grade 1")
        command.wait("tracing the kernel")
        begun = _descendants(manager.provisioner.pid) - before
        assert begun
        manager.interrupt_kernel()
        command.wait()
        assert command.errors == []
        assert command.texts[-1].startswith("Stopped.")
        assert all(_is_gone(pid, 5) for pid in begun)
        assert set((folder / "tmp").glob("tlpuzzles-*")) <= files
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_command_ends_with_a_notebook_that_is_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    root = made(tmp_path / "kernels")
    (root / ONE.folder / ONE.file).write_text(HANGS)
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, str(root)], stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "tracing the kernel" in line:
                break
        below = _descendants(process.pid)
        assert below
        process.send_signal(signal.SIGKILL)
    assert all(_is_gone(pid, 10) for pid in below)
    assert list(tmp_path.glob("tlpuzzles-*")) == []


def test_the_grader_ends_with_a_notebook_that_is_killed(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", LEFT], stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        grader = int(process.stdout.readline())
        deadline = time.monotonic() + 20
        while not _descendants(grader) and time.monotonic() < deadline:
            time.sleep(0.05)
        below = _descendants(grader)
        assert below
        process.send_signal(signal.SIGKILL)
    assert all(_is_gone(pid, 10) for pid in {grader, *below})
    assert list(tmp_path.glob("tlpuzzles-*")) == []
