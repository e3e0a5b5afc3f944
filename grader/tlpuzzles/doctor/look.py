"""Looks at the machine. Nothing is judged here."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from tlpuzzles.course import catalog
from tlpuzzles.device.cpu.build import find_compiler
from tlpuzzles.doctor.seen import Driver, End, Folder, Gpu, Imported, Marks, Seen, Timing, Tool
from tlpuzzles.errors import UsageError
from tlpuzzles.grading import caches
from tlpuzzles.verdict import thresholds
from tlpuzzles.workspace.cache import cache_path, why_unwritable
from tlpuzzles.workspace.folders import current_folder_if_any, workspace_root

IMPORT_LIMIT = 180.0
"""Seconds that an import may take: from a cold network disk, torch alone has taken more than a minute."""
DRIVER_LIMIT = 30.0
COMPILER_LIMIT = 30.0

DISTRIBUTIONS = ("tilelang", "torch", "apache-tvm-ffi", "z3-solver", "apache-tvm", "flashinfer-python")
"""The distributions whose versions the rules look at."""


def look() -> Seen:
    """The facts about this machine. Takes some seconds, most of them for importing torch and tilelang."""
    imports = {name: _imported(name) for name in ("torch", "tilelang")}
    cuda_home = imports["tilelang"].facts.get("cuda_home", os.environ.get("CUDA_HOME", ""))
    driver = _driver()
    return Seen(
        python=tuple(sys.version_info[:3]),
        platform=(platform.system(), platform.machine()),
        distributions={name: found for name in DISTRIBUTIONS if (found := _version(name))},
        imports=imports,
        driver=driver,
        nvidia_device=_nvidia_device(),
        cuda_home=cuda_home,
        nvcc=_nvcc(cuda_home),
        cxx=_cxx(),
        cache=_folder(cache_path()),
        cache_bytes=caches.size(),
        tilelang_cache=_folder(Path(os.environ.get("TILELANG_CACHE_DIR") or Path.home() / ".tilelang" / "cache")),
        timing=_timing() if driver is not None and driver.gpus else None,
        marks=_marks(),
    )


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _ask(question: str, limit: float) -> tuple[End, Mapping[str, Any], str]:
    """Runs `child` and reads its answer: how it ended, what it wrote, and the last lines it printed."""
    with tempfile.TemporaryDirectory(prefix="tlpuzzles-doctor-") as scratch:
        file = Path(scratch) / "answer.json"
        # A TileLang that cannot write its cache fails to import; the doctor looks at that folder by itself.
        environment = {**os.environ, "TILELANG_CACHE_DIR": scratch}
        # As text: run as a file, its folder would come first on the path, with modules that are ours.
        script = Path(__file__).with_name("child.py").read_text("utf-8")
        try:
            done = subprocess.run(
                [sys.executable, "-c", script, question, str(file)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=limit, check=False, env=environment, cwd=scratch,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return End.TIMED_OUT, {}, f"no answer within {limit:.0f} s"
        printed = done.stdout.decode("utf-8", "replace").strip().splitlines()
        if file.is_file():
            return End.IMPORTED, json.loads(file.read_text("utf-8")), ""
        if done.returncode == 1 and any(line.startswith("Traceback") for line in printed):
            return End.RAISED, {}, printed[-1]
        return End.DIED, {}, "; ".join([_ending(done.returncode), *printed[-3:]])


def _ending(code: int) -> str:
    if code >= 0:
        return f"its process ended with status {code}"
    try:
        return f"its process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"its process was ended by signal {-code}"


def _imported(name: str) -> Imported:
    end, answer, message = _ask(name, IMPORT_LIMIT)
    return Imported(end, answer.get("facts", {}), message, float(answer.get("seconds", 0.0)))


def _driver() -> Driver | None:
    end, answer, message = _ask("driver", DRIVER_LIMIT)
    if end is not End.IMPORTED:
        return Driver((), (), error=message)
    if answer.get("missing"):
        return None
    gpus = tuple(
        Gpu(gpu["name"], (gpu["capability"][0], gpu["capability"][1]), gpu["memory"] / 2**30) for gpu in answer["gpus"]
    )
    # 100 is CUDA_ERROR_NO_DEVICE: a driver without a GPU is no fault.
    error = "" if answer.get("status") == 100 else str(answer.get("error", ""))
    return Driver(tuple(answer["cuda"]), gpus, _driver_release(), error)


def _timing() -> Timing | None:
    end, answer, _ = _ask("timing", DRIVER_LIMIT)
    if end is not End.IMPORTED:
        return None
    told = {name: answer[name] for name in ("busy", "others", "persistent", "lock_error")}
    return Timing(throttled=tuple(answer["throttled"]), **told)


def _marks() -> Marks | None:
    here = current_folder_if_any()
    root = None if here is None else workspace_root(here)
    if root is None or not os.path.lexists(root / thresholds.FILE):
        return None
    path = root / thresholds.FILE
    try:
        found = thresholds.read(path)
        return Marks(str(path), found, tuple(thresholds.strangers(found, catalog.exercises())))
    except UsageError as error:
        return Marks(str(path), error=str(error))


def _driver_release() -> str:
    try:
        text = Path("/proc/driver/nvidia/version").read_text("utf-8", "replace")
    except OSError:
        return ""
    found = re.search(r"\s(\d{3,}\.\d[\d.]*)\s", text)
    return found.group(1) if found else ""


def _nvidia_device() -> bool:
    """Whether a PCI device is NVIDIA's (vendor 10de) and a display controller (class 03)."""
    try:
        devices = list(Path("/sys/bus/pci/devices").iterdir())
        return any(
            (device / "vendor").read_text().strip() == "0x10de" and (device / "class").read_text().startswith("0x03")
            for device in devices
        )
    except OSError:
        return False


def _nvcc(cuda_home: str) -> Tool | None:
    # TileLang runs the one under its CUDA_HOME, whatever nvcc is on the path.
    path = str(Path(cuda_home) / "bin" / "nvcc") if cuda_home else shutil.which("nvcc")
    if path is None or not Path(path).is_file():
        return None
    printed, error = _run([path, "--version"])
    found = re.search(r"release (\d+\.\d+)", printed)
    return Tool(path, found.group(1) if found else "", error or ("" if found else "it does not tell its version"))


def _cxx() -> Tool | None:
    found = find_compiler()
    if found is None:
        return None
    path = str(found)
    printed, _ = _run([path, "--version"])
    with tempfile.TemporaryDirectory(prefix="tlpuzzles-doctor-") as scratch:
        source = Path(scratch) / "try.cpp"
        source.write_text('#include <cmath>\nextern "C" float f(float x) { return std::exp(x); }\n')
        flags = ["-std=c++17", "-O2", "-shared", "-fPIC", str(source), "-o", str(Path(scratch) / "try.so")]
        _, error = _run([path, *flags])
    return Tool(path, (printed.splitlines() or [""])[0], error)


def _run(command: list[str]) -> tuple[str, str]:
    """What a program printed, and why it failed ("" if it did not)."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=COMPILER_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer within {COMPILER_LIMIT:.0f} s"
    except OSError as error:
        return "", error.strerror or str(error)
    printed = done.stdout.decode("utf-8", "replace")
    if done.returncode == 0:
        return printed, ""
    complaints = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return printed, complaints[0] if complaints else f"it ended with status {done.returncode}"


def _folder(path: Path) -> Folder:
    return Folder(str(path), why_unwritable(path) or "")
