"""The folder in which tlpuzzles keeps what is slow to make again, such as compiled kernels."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path


def cache_path() -> Path:
    """Where the cache should be, whether or not it can: $TLPUZZLES_CACHE_DIR, else in the user's cache folder."""
    named = os.environ.get("TLPUZZLES_CACHE_DIR")
    if named:
        return Path(named).absolute()
    # https://specifications.freedesktop.org/basedir-spec: a relative path in XDG_CACHE_HOME is to be ignored.
    shared = os.environ.get("XDG_CACHE_HOME", "")
    if Path(shared).is_absolute():
        return Path(shared) / "tlpuzzles"
    try:
        return Path.home() / ".cache" / "tlpuzzles"
    except RuntimeError:  # a user without a home folder, as in some containers, is given /
        return Path("/.cache/tlpuzzles")


def why_unwritable(folder: Path) -> str | None:
    """Makes the folder and writes a file there; None if that works, else the reason in the system's words."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"\0" * 4096)
    except OSError as error:
        return error.strerror or str(error)
    return None


@cache
def cache_dir() -> Path:
    """A folder for this process that can be written: the cache, else an empty one that goes when the process ends.

    `tlpuzzles doctor` says when it is the latter; everything works without a cache, only slower.
    """
    folder = cache_path()
    if why_unwritable(folder) is None:
        return folder
    return _temporary()


def _temporary() -> Path:
    import atexit

    folder = Path(tempfile.mkdtemp(prefix="tlpuzzles-"))
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # a forked child runs this too, while its parent still uses the folder
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder
