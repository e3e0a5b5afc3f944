"""Puts a new content in the place of a file: all of it or nothing, whenever the process may be killed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from itertools import count
from pathlib import Path

from tlpuzzles.errors import UsageError
from tlpuzzles.plain import read_plain

MOST = 1 << 20
"""Bytes of a file that is kept; as much as is graded."""


def read_present(file: Path, root: Path) -> bytes | None:
    """What is there now, to be kept; None if nothing is. Raises UsageError if it cannot be kept, or is not in the
    workspace in `root`."""
    file = _inside(file, root)
    try:
        return read_plain(file, MOST)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "it is no plain file" if error.errno == errno.EINVAL else error.strerror
        raise UsageError(f"{file} cannot be kept: {why}. Move it away, and try again.") from None


def replace(file: Path, content: bytes, root: Path) -> None:
    """Writes the file anew, with the permissions that it had. A link is followed within the workspace in `root` only.

    Raises UsageError if that cannot be done; then all is as it was.
    """
    file = _inside(file, root)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, content)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}. It is as it was.") from None


def put_aside(file: Path, content: bytes, root: Path) -> Path:
    """Writes the content beside the file, under the first name that is free: vector_add.before.py, and then
    vector_add.before-2.py, ... Returns the path; of one that has this very content already, where that comes first.

    Raises UsageError if that cannot be done.
    """
    folder = _inside(file.parent, root)
    for number in count(1):
        name = f"{file.stem}.before{'' if number == 1 else f'-{number}'}{file.suffix}"
        if not _is(folder / name, content):
            try:
                _write_new(folder / name, content)
            except FileExistsError:
                continue
            except OSError as error:
                raise UsageError(
                    f"{file} was not replaced: what is in it cannot be put aside. {file.with_name(name)} cannot be "
                    f"written: {error.strerror}."
                ) from None
        break
    return file.with_name(name)


def write_whole(file: Path, content: bytes) -> None:
    """Writes the file anew, with the permissions that it had. Raises OSError if that cannot be done; then it is as it
    was. The file is not followed if it is a link."""
    # The name's beginning is enough to be told by; all of it may leave no room for more.
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:32]}.", suffix=".new")
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as written:
            written.write(content)
            written.flush()
            with contextlib.suppress(OSError):  # some mounted drives know no permissions
                os.fchmod(descriptor, _mode(file))
            os.fsync(descriptor)
        new.replace(file)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    _settle(file.parent)


def _is(file: Path, content: bytes) -> bool:
    """Whether that is a file with this content."""
    try:
        return read_plain(file, len(content)) == content
    except OSError:
        return False


def _write_new(file: Path, content: bytes) -> None:
    """Raises FileExistsError if anything has that name, and OSError if it cannot be written; then nothing is left."""
    with file.open("xb") as written:
        try:
            written.write(content)
            written.flush()
            os.fsync(written.fileno())
        except BaseException:
            file.unlink(missing_ok=True)
            raise
    _settle(file.parent)


def _inside(file: Path, root: Path) -> Path:
    """Where the file is, whatever links lead to it."""
    try:
        found = file.resolve()
    except (OSError, RuntimeError):  # before Python 3.13, the latter is how links that lead in a circle are told
        raise UsageError(f"{file} is a link that leads nowhere. Remove it, and try again.") from None
    if not found.is_relative_to(root.resolve()):
        raise UsageError(
            f"{file} leads out of your workspace by a link, to {found}, and nothing is replaced there. Put a file in "
            "the link's place, and try again."
        )
    return found


def _mode(file: Path) -> int:
    """The permissions that the file has, or that a new one would have."""
    try:
        return stat.S_IMODE(file.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0o022)
        os.umask(mask)
        return 0o666 & ~mask


def _settle(folder: Path) -> None:
    """Waits until the folder's entries are on the disk, too. Some mounted drives cannot do that: the file is there."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
