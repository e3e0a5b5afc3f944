"""The record of a workspace: a database of attempts, of hints that were read, and of solutions that were given away.

SQLite, with its rollback journal: a process that is killed within a transaction leaves nothing of it, two terminals
wait for each other, and it works on network folders, where a write-ahead log does not. Whatever is wrong with the
record ends in `Unusable`, which nobody who grades lets through; who reads from it takes each value through `values`.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tlpuzzles.workspace.schema import MIGRATIONS
from tlpuzzles.workspace.values import Wrong, whole

FOLDER = ".tlpuzzles"
FILE = "progress.db"

PATIENCE = 5.0
"""Seconds to wait for another process. Its transactions take milliseconds."""


class Unusable(Exception):
    """The record cannot be read or written. The message says why, and what to do."""


class Record:
    """The record of the workspace in a folder. It comes into being when something is written."""

    def __init__(self, root: Path) -> None:
        self.path = root / FOLDER / FILE

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection to read with; None where nothing has been recorded. Raises Unusable, also for a `Wrong` value
        that the block meets."""
        with self._explained():
            begun = self.path.exists() or self.path.is_symlink()
        if not begun:
            yield None
            return
        with self._explained(), closing(self._connect("rw")) as connection:
            version = self._version(connection)
            if 0 < version < len(MIGRATIONS):
                connection.execute("BEGIN IMMEDIATE")
                self._bring_up_to_date(connection)
                connection.execute("COMMIT")
            yield connection if version else None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection within a transaction, which is kept if the block ends well. Raises Unusable, as `reading`."""
        with self._explained():
            self._make_folder()
            with closing(self._connect("rwc")) as connection:
                connection.execute("BEGIN IMMEDIATE")
                self._bring_up_to_date(connection)
                yield connection
                connection.execute("COMMIT")

    def _connect(self, mode: str) -> sqlite3.Connection:
        if self.path.parent.is_symlink() or self.path.is_symlink():
            raise Unusable(
                f"{self.path} is reached by a link, and the record is kept in the workspace alone. Remove the link."
            )
        for path in (self.path, self.path.with_name(f"{FILE}-journal")):
            if path.exists() and not path.is_file():
                raise Unusable(f"{path} is no file. Move it away, and try again.")
        # Without transactions of the module's own making: it would begin them late, and end them early.
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, timeout=PATIENCE, isolation_level=None
        )
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def _version(self, connection: sqlite3.Connection) -> int:
        version = whole(connection.execute("PRAGMA user_version").fetchone()[0], "user_version")
        if version > len(MIGRATIONS):
            raise Unusable(
                f"{self.path} was written by a newer tlpuzzles (its format is {version}, this one knows "
                f"{len(MIGRATIONS)}). Update tlpuzzles."
            )
        return version

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        """Within a transaction, so that only one of two processes does it, and all of it or nothing."""
        version = self._version(connection)
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        if version < len(MIGRATIONS):
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _make_folder(self) -> None:
        folder = self.path.parent
        if folder.is_dir():
            return
        folder.mkdir(exist_ok=True)
        (folder / ".gitignore").write_text("# Made by tlpuzzles: a record of your own.\n*\n", "utf-8")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What goes wrong with the file, in a sentence."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        except UnicodeDecodeError as error:  # so the module tells of a text in the file that is none
            raise self._damaged("a text in it cannot be read") from error
        except Wrong as error:
            raise self._damaged(str(error)) from error
        except OSError as error:
            why = error.strerror or error
            raise Unusable(f"{self.path} cannot be used: {why}. Look at the permissions of its folder.") from error

    def _unusable(self, error: sqlite3.Error) -> Unusable:
        why = str(error)
        if "locked" in why:
            return Unusable(f"{self.path} has been in use by another tlpuzzles for {PATIENCE:g} s. Try again later.")
        if why.startswith("Could not decode"):  # goes on with the text itself
            return self._damaged("a text in it cannot be read")
        if isinstance(error, sqlite3.OperationalError) and not why.startswith(("no such", "table ")):
            return Unusable(f"{self.path} cannot be used: {why}. Look at its permissions, and for space on its disk.")
        return self._damaged(why)

    def _damaged(self, why: str) -> Unusable:
        """For a file that is there and is no record, or one that something else has written into."""
        old = shlex.quote(str(self.path))
        return Unusable(f"{self.path} is damaged ({why}). Move it away, and a new record is begun: mv {old} {old}.old")
