"""Tells when a file of the workspace is saved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from watchfiles import Change, watch

SETTLED_MS, LATEST_MS = 30, 200
"""Editors write a file in several steps. A save is told when none followed for so long, or at the latest after that."""
POLL_MS = 250
NEEDS_POLLING = ("9p", "afs", "cifs", "drvfs", "fuse", "nfs", "prl_fs", "smb", "vboxsf", "vmhgfs")
"""File systems, or the beginnings of their names, whose changes from elsewhere the kernel does not tell: network
drives, folders shared with a virtual machine, Google Drive in Colab."""
MOUNTS = Path("/proc/self/mounts")


class Saves:
    """Calls `tell` with a path each time one of the files is saved, from its own thread, as long as the `with` block
    lasts. A file that an editor replaces by another one counts as saved, one that is deleted does not."""

    def __init__(self, root: Path, files: Iterable[Path], tell: Callable[[Path], None]) -> None:
        self.polls = needs_polling(root)
        self._tell = tell
        self._files = {str(file): file for file in files}
        # Of a file that is a link, its editor changes what the link leads to.
        linked = {str(file.resolve()): file for file in self._files.values() if file.is_symlink()}
        self._files |= linked
        self._roots = {root, *(Path(name).parent for name in linked if not Path(name).is_relative_to(root))}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Saves:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(1.0)

    def _watch(self) -> None:
        changes = watch(
            *self._roots,
            watch_filter=lambda change, path: change is not Change.deleted and path in self._files,
            debounce=LATEST_MS,
            step=SETTLED_MS,
            rust_timeout=500,
            stop_event=self._stop,
            force_polling=self.polls or None,
            poll_delay_ms=POLL_MS,
            raise_interrupt=False,
        )
        for some in changes:
            for path in sorted({path for _, path in some}):
                self._tell(self._files[path])


def needs_polling(folder: Path, mounts: Path = MOUNTS) -> bool:
    """Whether the folder lies on a file system whose changes must be looked for. What cannot be known is taken to be an
    ordinary disk."""
    try:
        lines = mounts.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return False
    found = ("", "")
    for fields in (line.split() for line in lines):
        if len(fields) < 3:
            continue
        # proc(5): blanks in a path are written as \040.
        where = fields[1].replace("\\040", " ")
        inside = where == "/" or folder == Path(where) or Path(where) in folder.parents
        if inside and len(where) >= len(found[0]):
            found = (where, fields[2])
    return found[1].startswith(NEEDS_POLLING)
