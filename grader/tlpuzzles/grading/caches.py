"""What gradings keep between them, in the user's cache folder: compiled kernels, answers, tuning results.

Everything lies below a folder named after the versions that made it, so nothing stale is ever found. No process of a
learner's is pointed at what trusted processes read. That is order and no security border: such a process runs as the
same user, and could write here as it could into any other of the user's folders. Who must not trust what was left here
grades with an empty folder, TLPUZZLES_CACHE_DIR.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tlpuzzles.grading.environment import environment
from tlpuzzles.plain import read_plain
from tlpuzzles.workspace.cache import cache_dir, why_unwritable

LIMIT = 2 << 30
"""Bytes that `prune` leaves at most: some ten thousand kernels of 150 to 300 KiB."""
IN_USE = 3600.0
"""Seconds after its last use for which an entry stays: a grading at work may come back to it."""
ROOM = 0.9
"""The part of the limit that pruning goes down to, so that the next grading need not prune again."""

PAUSE = 600.0
"""Seconds between two times that `prune` looks: it takes half a second for 4000 kernels."""

MOST = 1 << 20
"""Bytes that an answer may have; most have some hundred."""

_ENTRIES = ("answers/*", "tuned/*", "kernels/*/cuda-binaries/*", "kernels/*/*/kernels/*")
"""What is removed as a whole, below a version's folder. The kernels' folders are TileLang's own arrangement."""


def kernels() -> Path | None:
    """TileLang's cache for the processes in which no learner's Python runs; None where it cannot be written.

    TileLang finds a kernel by its IR, pass configs and target, publishes it by renaming a folder, and recompiles what
    does not agree with its checksums.
    """
    return _made(_versions_folder() / "kernels")


def recall(question: Mapping[str, object]) -> Any | None:
    """The answer that was kept for exactly this question, None if there is none that can be read.

    It is some JSON. Whether it is an answer to the question is for who asked to see.
    """
    file = _answer(question)
    answer = _read(file)
    with contextlib.suppress(OSError):
        os.utime(file)
    return answer


def keep(question: Mapping[str, object], answer: object) -> None:
    """Keeps an answer, as JSON. `question`: everything that it depends on, but for the versions of what is installed.

    A cache that cannot be written costs time and nothing else.
    """
    file = _answer(question)
    if _made(file.parent) is not None:
        _write(file, answer)


@dataclass(frozen=True)
class Tuned:
    """What tuning one file left behind. Only the tuning of the same file reads it: its own Python can write there."""

    folder: Path
    """TileLang's cache for the tuning."""
    _record: Path
    """Beside that folder, written by the grader alone."""

    @property
    def seconds(self) -> float | None:
        """How long the tuning took that filled the folder; None if none has yet."""
        found = _read(self._record)
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not self.folder.is_dir():
            return None
        try:
            seconds = float(found)
        except OverflowError:
            return None
        return seconds if math.isfinite(seconds) and seconds >= 0 else None

    def remember(self, seconds: float) -> None:
        """Tells later gradings that the folder holds the results of a tuning."""
        _write(self._record, seconds)

    def forget(self) -> None:
        """Empties the folder: the next tuning begins anew."""
        with contextlib.suppress(OSError):
            self._record.unlink()
        _remove(self.folder)
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True)


def tuned(text: str, sizes: Mapping[str, int], gpu: str, scratch: Path) -> Tuned:
    """Where the tuning of a file with this text for these sizes, on this GPU, keeps its results; in `scratch` if there
    is no cache."""
    place = _of_text({"text": text, "sizes": dict(sizes), "gpu": gpu}, scratch)
    return Tuned(place / "tilelang", place / "seconds.json")


def profiled(text: str, gpu: str, scratch: Path) -> Path:
    """TileLang's cache for the process in which a file with this text profiles a kernel of ours on this GPU."""
    return _of_text({"text": text, "profiled on": gpu}, scratch) / "tilelang"


def _of_text(question: Mapping[str, object], scratch: Path) -> Path:
    """A folder for processes that run one learner's text and no other."""
    place = _versions_folder() / "tuned" / _digest(question)
    return Path(tempfile.mkdtemp(dir=scratch)) if _made(place) is None else place


def prune(limit: int = LIMIT) -> None:
    """Removes what was not used for longest until the cache takes no more than `limit` bytes. For the end of a
    grading: it seldom looks."""
    looked = cache_dir() / "pruned"
    with contextlib.suppress(OSError):
        if 0 <= time.time() - looked.stat().st_mtime < PAUSE:
            return
    with contextlib.suppress(OSError):
        looked.touch()
    entries = list(_entries(cache_dir()))
    total = sum(size for _, size, _ in entries)
    if total <= limit:
        return
    recent = time.time() - IN_USE
    for used, size, path in sorted(entries, key=lambda entry: entry[0]):
        if total <= limit * ROOM or used > recent:
            return
        _remove(path)
        total -= size


def size() -> int:
    """Bytes that `prune` would count."""
    return sum(size for _, size, _ in _entries(cache_dir()))


def _entries(root: Path) -> Iterator[tuple[float, int, Path]]:
    """When each entry was last used or made, how many bytes it takes, and where it is."""
    for pattern in _ENTRIES:
        for path in root.glob(f"*/{pattern}"):
            used, size = 0.0, 0
            for file in _files(path):
                with contextlib.suppress(OSError):  # gone since: another grading prunes, too
                    found = file.stat()
                    # The time of access is kept to within a day, by many systems; without it, oldest means oldest.
                    used, size = max(used, found.st_mtime, found.st_atime), size + found.st_blocks * 512
            yield used, size, path


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in names)


def _answer(question: Mapping[str, object]) -> Path:
    return _versions_folder() / "answers" / f"{_digest({'ours': _sources(), **question})}.json"


def _digest(content: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _read(file: Path) -> Any | None:
    """What `_write` left there, None if it is not that: whatever may lie there ends no grading and holds none up."""
    try:
        return json.loads(read_plain(file, MOST))
    except (OSError, ValueError, RecursionError):
        return None


def _write(file: Path, content: object) -> None:
    """Whole or not at all, whoever else writes it or reads it."""
    new = file.with_name(f"{file.name}.{uuid.uuid4().hex}")
    try:
        new.write_text(json.dumps(content), "utf-8")
        new.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()


def _remove(path: Path) -> None:
    """Renamed first: no one else comes upon a half of it."""
    gone = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    with contextlib.suppress(OSError):
        path.rename(gone)
        if gone.is_dir():
            shutil.rmtree(gone, ignore_errors=True)
        else:
            gone.unlink()


def _made(folder: Path) -> Path | None:
    return folder if why_unwritable(folder) is None else None


def _versions_folder() -> Path:
    return cache_dir() / _versions()


@cache
def _versions() -> str:
    """The versions that decide what a compiled kernel is, as the name of a folder."""
    ours = environment()
    found = {"tlpuzzles": ours.tlpuzzles, "tilelang": ours.tilelang, "torch": ours.torch, "nvcc": _nvcc()}
    return "-".join(f"{name}_{re.sub(r'[^A-Za-z0-9.+]', '_', version or 'none')}" for name, version in found.items())


def _nvcc() -> str | None:
    """The release of the nvcc that TileLang runs: it takes CUDA_HOME, the path, the wheel, the usual place, in turn."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    path = f"{home}/bin/nvcc" if home else shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError):
        return _wheel("nvidia-cuda-nvcc")
    found = re.search(r"release [\d.]+, V([\d.]+)", done.stdout)
    return found.group(1) if found else None


def _wheel(distribution: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


@cache
def _sources() -> str:
    """A hash of this package: an answer holds sentences of ours, which change between releases."""
    package = Path(__file__).resolve().parents[1]
    found = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        found.update(file.read_bytes())
    return found.hexdigest()
