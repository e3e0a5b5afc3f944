"""A lock for each GPU of a machine: of all gradings, by whichever user, one at a time has the GPU.

It is the system's lock on an empty file (flock), so it goes when its process ends, however it ends. The file stays. In
/tmp, where anybody can put anything, it is opened by these rules: never through a link, never to be written, and made
only where there is none. So the files of other users can be locked, and nothing of theirs, or of ours, can be harmed.
(filelock's own FileLock refuses a file of another user there.) Containers that do not share a /tmp do not see each
other's gradings: give them a common folder, $TLPUZZLES_LOCK_DIR.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

FOLDER = Path("/tmp")
"""Not the folder for this process's temporary files, which may be its own."""
LOCKS = Path("/proc/locks")
POLL_SECONDS = 0.2

_held: set[Path] = set()
"""The locks that this process holds."""


class Lock(str, Enum):
    """What became of the wish for a lock."""

    HELD = "held"
    UNAVAILABLE = "unavailable"
    """There can be no lock file: other gradings may disturb this one."""


@dataclass(frozen=True)
class Outcome:
    lock: Lock
    why: str = ""
    """Why it is unavailable, and what to do; empty if it is held."""


@contextmanager
def gpu_lock(
    gpu: str | int, on_wait: Callable[[str], None], environment: Mapping[str, str] = os.environ
) -> Iterator[Outcome]:
    """Holds the lock of a GPU, named by its UUID (or its index, if that is all that is known).

    Waits for as long as another process holds it: `on_wait` is called if so, with a phrase that says what is waited
    for, and Ctrl-C ends the wait. Within one process it may be taken again while it is held. Who deletes the file while
    it is held lets one more grading in, which cannot see that; all others then wait for that one, too.
    """
    path = lock_path(gpu, environment)
    if path in _held:
        yield Outcome(Lock.HELD)
        return
    descriptor = _lock(path, on_wait)
    if isinstance(descriptor, OSError):
        yield _unavailable(path, descriptor)
        return
    _held.add(path)
    try:
        yield Outcome(Lock.HELD)
    finally:
        _held.discard(path)
        os.close(descriptor)


def _lock(path: Path, on_wait: Callable[[str], None]) -> int | OSError:
    """A descriptor that holds the lock, or why there can be none."""
    # Imported here: a grading on the CPU needs no lock, and this takes 70 ms.
    from filelock import lock_descriptor

    while True:
        with ExitStack() as stack:
            try:
                descriptor = _open(path)
                stack.callback(os.close, descriptor)
                free = lock_descriptor(descriptor, blocking=False)
            except OSError as error:
                return error
            if not free:
                on_wait(_waiting_for(path, descriptor))
                lock_descriptor(descriptor, poll_interval=POLL_SECONDS)
            # A file that was deleted meanwhile is locked for nobody: others lock the one that lies there now.
            if _lies_at(path, descriptor):
                stack.pop_all()
                return descriptor


def _lies_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except OSError:
        return False


def _waiting_for(path: Path, descriptor: int) -> str:
    pid = _holder(descriptor)
    holder = "which holds" if pid is None else f"process {pid} holds"
    return f"waiting for another grading on this GPU ({holder} {path})"


def _holder(descriptor: int) -> int | None:
    """The process that holds the lock, from /proc/locks (man 5 proc_locks); None if the system does not tell.

    Processes of other containers are not in there. Some file systems (btrfs, an overlay at times) give a file another
    device number there than to those who ask for it; who holds such a file is not told, rather than guessed.
    """
    file = os.fstat(descriptor)
    try:
        lines = LOCKS.read_text("utf-8").splitlines()
    except OSError:
        return None
    wanted = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
    for fields in map(str.split, lines):
        # "1: FLOCK  ADVISORY  WRITE 708 00:13:9876 0 EOF"; those that wait have an arrow after the number.
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5] == wanted and fields[4].isdecimal():
            return int(fields[4])
    return None


def lock_path(gpu: str | int, environment: Mapping[str, str] = os.environ) -> Path:
    """The lock file of a GPU."""
    folder = Path(environment.get("TLPUZZLES_LOCK_DIR") or FOLDER).absolute()
    return folder / f"tlpuzzles-{re.sub(r'[^A-Za-z0-9-]', '_', str(gpu))}.lock"


def why_unavailable(gpu: str | int, environment: Mapping[str, str] = os.environ) -> str:
    """Why the lock file of a GPU can be neither opened nor made; empty if it can. Waits for nobody."""
    path = lock_path(gpu, environment)
    try:
        os.close(_open(path))
    except OSError as error:
        return _why(path, error)
    return ""


def _open(path: Path) -> int:
    """A descriptor to read from the lock file. Raises OSError."""
    careful = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        # To read is enough to lock it, so nobody is allowed more, whatever the umask.
        descriptor = os.open(path, careful | os.O_CREAT | os.O_EXCL, 0o444)
        os.fchmod(descriptor, 0o444)
    except FileExistsError:
        # Not to be made: where it might be, the system refuses a file of another user in a folder like /tmp.
        try:
            descriptor = os.open(path, careful)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            raise OSError(errno.ELOOP, "it is a link") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a plain file")
    return descriptor


def _unavailable(path: Path, error: OSError) -> Outcome:
    return Outcome(
        Lock.UNAVAILABLE,
        f"{_why(path, error)}, so another grading on this GPU is not waited for; name a folder that every user can "
        "write in TLPUZZLES_LOCK_DIR",
    )


def _why(path: Path, error: OSError) -> str:
    return f"{path} cannot be locked ({error.strerror or error})"
