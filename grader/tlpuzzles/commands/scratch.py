"""The folder for all that is temporary while a command grades, and what killed commands have left of theirs.

Who is killed cleans nothing up. So each folder has a file that its process has locked (flock) for as long as it lives:
a later command of the same user removes the folders whose files are no longer locked. Nothing else is removed. A folder
without such a file may be anybody's, and a lock says nothing of another machine that has the same folder for its
temporary files, which the file therefore tells apart.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "tlpuzzles-"
OWNED = "owned"
"""The file. What is in it names the machine, and when it was started."""
MACHINE = Path("/proc/sys/kernel/random/boot_id")
MOST = 16
"""Folders that one command removes, which shall not take long."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that goes when the block ends, or with a later call if the process is killed."""
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        descriptor = _own(folder)
        try:
            _remove_left(folder.parent)
            yield folder
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _own(folder: Path) -> int | None:
    """Locks the folder's file; the lock goes with the descriptor. None where that cannot be: nobody else removes it."""
    new = folder / f"{OWNED}.new"
    with suppress(OSError):
        machine = MACHINE.read_bytes()
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(descriptor, machine)
            new.rename(folder / OWNED)  # by this name it has never been unlocked
        except OSError:
            os.close(descriptor)
            raise
        return descriptor
    return None


def _remove_left(among: Path) -> None:
    removed = 0
    with suppress(OSError), os.scandir(among) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and removed < MOST:
                removed += _remove(Path(entry.path))


def _remove(folder: Path) -> bool:
    """Removes a folder of this user whose process is dead, and nothing else."""
    careful = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    opened: list[int] = []
    try:
        opened.append(os.open(folder, careful | os.O_DIRECTORY))
        opened.append(os.open(OWNED, careful, dir_fd=opened[0]))
        if any(os.fstat(descriptor).st_uid != os.geteuid() for descriptor in opened):
            return False
        if not stat.S_ISREG(os.fstat(opened[1]).st_mode) or os.read(opened[1], 64) != MACHINE.read_bytes():
            return False
        fcntl.flock(opened[1], fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # such a file is not there, or locked
        return False
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return True
