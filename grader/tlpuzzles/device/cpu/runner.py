"""Runs one compiled kernel on files: `python -I -S runner.py JOB.json`.

Started by run.py as a process of its own, which holds the kernel's inputs and output and nothing else: the compiled
code may crash it. Needs the standard library only. How the run ended goes into the job's report file, which is written
whole or not at all; standard output belongs to the kernel's T.print.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import resource
import sys
from typing import Any

ITEM_SIZE = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2, "int32": 4}
ITEM_SIZE.update({"uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8})
OUTCOMES = ("finished", "index_violation", "assertion", "out_of_memory", "wrong_arguments")


class Argument(ctypes.Structure):
    """`tile::Argument`."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
    )


class Report(ctypes.Structure):
    """`tile::Report`."""

    _fields_ = (
        ("outcome", ctypes.c_int32),
        ("line", ctypes.c_int32),
        ("dimension", ctypes.c_int32),
        ("unused", ctypes.c_int32),
        ("index", ctypes.c_int64),
        ("extent", ctypes.c_int64),
        ("buffer", ctypes.c_char * 256),
        ("message", ctypes.c_char * 512),
    )


def limit(job: dict[str, Any]) -> None:
    seconds = int(job["cpu_seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    with contextlib.suppress(ValueError):  # not every system limits address space
        resource.setrlimit(resource.RLIMIT_AS, (job["memory_bytes"], job["memory_bytes"]))


def tensor(argument: dict[str, Any], kept: list[Any]) -> Argument:
    shape = argument["shape"]
    needed = ITEM_SIZE[argument["dtype"]]
    for extent in shape:
        needed *= extent
    dims = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    if needed == 0:
        kept.append(dims)
        return Argument(None, dims, 0, 0.0)
    with open(argument["path"], "r+b") as file:  # noqa: PTH123 (pathlib would double the time to start)
        memory = mmap.mmap(file.fileno(), 0)
    if len(memory) < needed:
        raise ValueError(f"{argument['path']} holds {len(memory)} bytes, and {needed} are needed")
    start = (ctypes.c_char * len(memory)).from_buffer(memory)
    kept += [dims, memory, start]
    return Argument(ctypes.addressof(start), dims, 0, 0.0)


def number(value: Any) -> Argument:
    return Argument(None, None, int(value) if isinstance(value, int) else 0, float(value))


def execute(job: dict[str, Any]) -> dict[str, Any]:
    kept: list[Any] = []
    try:
        arguments = [tensor(a, kept) if "path" in a else number(a["value"]) for a in job["arguments"]]
        function = getattr(ctypes.CDLL(job["library"]), job["symbol"])
        function.restype = ctypes.c_int32
        report = Report()
        function((Argument * max(1, len(arguments)))(*arguments), int(job["reversed"]), ctypes.byref(report))
    except MemoryError:
        return {"outcome": "out_of_memory"}
    return {
        "outcome": OUTCOMES[report.outcome],
        "line": report.line or None,
        "buffer": report.buffer.decode(errors="replace"),
        "dimension": report.dimension,
        "index": report.index,
        "extent": report.extent,
        "message": report.message.decode(errors="replace"),
    }


def main() -> None:
    with open(sys.argv[1]) as file:  # noqa: PTH123
        job = json.load(file)
    limit(job)
    report = execute(job)
    partial = job["report"] + ".partial"
    with open(partial, "w") as file:  # noqa: PTH123
        json.dump(report, file)
    os.replace(partial, job["report"])  # noqa: PTH105


if __name__ == "__main__":
    main()
