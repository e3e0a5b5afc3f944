"""The warm process: imports torch and tilelang once, then forks a child for each job.

It runs no learner's code and holds no seed. Forking it gives every job a process of its own within milliseconds, where
an import takes seconds. It must therefore never start a thread or open a GPU: neither survives a fork.

A job comes over the control socket as one JSON message with three file descriptors: where the child writes its
messages, where its standard output and error go, and where this process writes the child's process id and, later, how
it ended.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from tlpuzzles.border.limits import Limits, adopt_orphans, children, confine, die_with_parent

MAX_REQUEST = 1 << 20
ROLES = {
    "trace": "tlpuzzles.border.tracer:trace",
    "call": "tlpuzzles.border.caller:call",
    "tune": "tlpuzzles.border.tuner:tune",
    "build": "tlpuzzles.grading.roles.building:build",
    "judge": "tlpuzzles.grading.roles.judging:judge",
    "lower": "tlpuzzles.grading.roles.lowering:lower",
    "weigh": "tlpuzzles.grading.roles.weighing:weigh",
    "inspect": "tlpuzzles.grading.roles.inspecting:inspect",
    "cuda": "tlpuzzles.grading.roles.launching:launch",
    "measure": "tlpuzzles.grading.roles.measuring:measure",
    "time": "tlpuzzles.grading.roles.timing:measure",
    "probe": "tlpuzzles.grading.roles.launching:probe",
}
"""What a child can do: a function of (job, emit) that reports through `emit`, one JSON object at a time."""

Emit = Callable[[dict[str, Any]], None]


def main(control_fd: int, parent: int) -> None:
    """Serves jobs until the control socket closes or the parent dies."""
    die_with_parent()
    if os.getppid() != parent:
        return
    adopt_orphans()
    control = socket.socket(fileno=control_fd)
    _import_all()
    wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    statuses: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(wake_read, selectors.EVENT_READ)
        own = {control.fileno(), wake_read, wake_write, selector.fileno()}
        while True:
            for key, _ in selector.select():
                if key.fileobj is control:
                    if not _serve(control, statuses, own):
                        _end_all(statuses)
                        return
                else:
                    _drain(wake_read)
            _reap(statuses)


def _import_all() -> None:
    # Off for the children too, which live for seconds: looking for cycles takes a tenth of an import or a lowering.
    gc.disable()
    import tilelang.language  # noqa: F401 - for the children
    import torch

    # A forked child's copy of torch's thread pool has no threads, and its next parallel operation would wait for them.
    torch.set_num_threads(1)
    for target in ROLES.values():
        importlib.import_module(target.split(":")[0])
    gc.collect()
    gc.freeze()


def _serve(control: socket.socket, statuses: dict[int, int], own: set[int]) -> bool:
    data, fds, _, _ = socket.recv_fds(control, MAX_REQUEST, 3)
    if not data:
        return False
    messages, output, status = fds
    request = json.loads(data)
    pid = os.fork()
    if pid == 0:
        _become(request, messages, output, own | set(statuses.values()) | {status})
    os.close(messages)
    os.close(output)
    statuses[pid] = status
    _tell(status, {"pid": pid})
    return True


def _become(request: dict[str, Any], messages: int, output: int, foreign: set[int]) -> NoReturn:
    """The child's whole life. `foreign`: files of the warm process and of its other children."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # TVM's handler prints a native backtrace, which can take forever: a crash should be a death and nothing more.
    for fatal in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT):
        signal.signal(fatal, signal.SIG_DFL)
    code = 1
    try:
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        _close_files(messages, foreign | {output}, keeps_driver=request["sees_gpu"])
        os.environ.update(request["environment"])
        tempfile.tempdir = None
        os.chdir(request["folder"])
        confine(Limits(**request["limits"]))
        channel = os.fdopen(messages, "w", encoding="utf-8")

        def emit(message: dict[str, Any]) -> None:
            channel.write(json.dumps(message) + "\n")
            channel.flush()

        module, function = ROLES[request["role"]].split(":")
        getattr(importlib.import_module(module), function)(request["job"], emit)
        emit({"kind": "done"})
        code = 0
    except BaseException:  # noqa: BLE001 - whatever ends a child must not return into the warm process's loop
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _close_files(messages: int, foreign: set[int], *, keeps_driver: bool) -> None:
    """Closes what must not be a child's: through its epoll the warm process could be made deaf.

    A process that is to use the GPU keeps what NVIDIA's libraries opened when they were imported: they take their state
    from before the fork, and find no driver without those files.
    """
    if keeps_driver:
        for fd in foreign:
            os.close(fd)
    else:
        os.closerange(3, messages)
        os.closerange(messages + 1, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 65536 else 65536)


def _reap(statuses: dict[int, int]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        fd = statuses.pop(pid, None)
        if fd is not None:
            _end_group(pid)
        _end_strays(statuses)
        if fd is not None:
            _tell(fd, {"status": os.waitstatus_to_exitcode(status)})
            os.close(fd)


def _end_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _end_strays(statuses: dict[int, int]) -> None:
    """Kills what an ended child left behind in sessions of its own: orphans become children of this process.

    Again and again, for one that is killed may just have started another.
    """
    while strays := children() - set(statuses):
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                continue


def _end_all(statuses: dict[int, int]) -> None:
    for pid in statuses:
        _end_group(pid)
    # Whatever they have left behind comes to this process when they are gone.
    _end_strays({})


def _tell(fd: int, message: dict[str, int]) -> None:
    try:
        os.write(fd, json.dumps(message).encode() + b"\n")
    except BrokenPipeError:
        return


def _drain(fd: int) -> None:
    try:
        while os.read(fd, 4096):
            pass
    except BlockingIOError:
        return
