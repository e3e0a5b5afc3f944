"""A process that has imported torch and TileLang, opened no GPU, and forks a child for each job, as a grading does.

Reads a job as one line of JSON on standard input and answers with one line when its child has ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an import prints is no answer
    import tilelang  # noqa: F401
    import torch

    torch.set_num_threads(1)
    answers.write(json.dumps({"ready": True, "opened": torch.cuda.is_initialized()}) + "\n")
    answers.flush()
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _child(job)
        answers.write(json.dumps(_wait(pid, job["seconds"])) + "\n")
        answers.flush()


def _wait(pid: int, seconds: float) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return {"code": os.waitstatus_to_exitcode(status), "timed_out": False}
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return {"code": None, "timed_out": True}


def _child(job: dict[str, Any]) -> NoReturn:
    code = 1
    try:
        log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        with Path(job["messages"]).open("w") as messages:

            def emit(message: dict[str, Any]) -> None:
                messages.write(json.dumps(message) + "\n")
                messages.flush()

            {"probe": _probe, "compile": _compile, "run": _run}[job["do"]](job, emit)
        code = 0
    except BaseException:  # noqa: BLE001 - nothing may return into the loop of the process that forked
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _probe(job: dict[str, Any], emit: Any) -> None:
    from tlpuzzles.device.cuda.probe import probe

    emit(probe().to_json())


def _compile(job: dict[str, Any], emit: Any) -> None:
    from tlpuzzles.device.cuda.compiling import compile_kernels

    compile_kernels(_sources(job), job["arch"], emit)


def _run(job: dict[str, Any], emit: Any) -> None:
    from tlpuzzles.device.cuda.model import LaunchCase
    from tlpuzzles.device.cuda.run import run

    cases = [LaunchCase.from_json(case) for case in job["cases"]]
    emit({"event": "remaining", "cases": run(_sources(job), cases, job["arch"], emit)})


def _sources(job: dict[str, Any]) -> dict[str, Any]:
    from tests.tracing import document
    from tlpuzzles.device.cuda.compiling import Source

    return {
        key: Source(document(kernel["source"], **kernel["arguments"]), kernel["pass_configs"])
        for key, kernel in job["kernels"].items()
    }


if __name__ == "__main__":
    main()
