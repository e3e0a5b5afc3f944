"""The tables of the record, and how those of an older tlpuzzles become today's."""

from __future__ import annotations

_FIRST = (
    # Each text once, however often it is graded.
    "CREATE TABLE files (hash TEXT PRIMARY KEY, content BLOB NOT NULL)",
    """
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        exercise TEXT NOT NULL,     -- its slug: numbers may change
        number INTEGER NOT NULL,    -- from 1, for each exercise
        at TEXT NOT NULL,           -- UTC, ISO 8601
        origin TEXT NOT NULL,       -- "graded", or "kept" before something else was put in its place
        path TEXT NOT NULL,         -- of the file, from the workspace on
        file TEXT REFERENCES files (hash),
        hint INTEGER NOT NULL,      -- highest level read by then, 0 for none
        verdict TEXT,               -- from here on, NULL for what was only kept
        only_case TEXT,             -- NULL if all was graded
        earned INTEGER,
        possible INTEGER,
        not_graded INTEGER,
        device TEXT,
        arch TEXT,
        document TEXT,              -- JSON
        UNIQUE (exercise, number)
    )
    """,
    """
    CREATE TABLE ratios (
        attempt INTEGER NOT NULL REFERENCES attempts (id) ON DELETE CASCADE,
        name TEXT NOT NULL,         -- the timed case
        ratio REAL NOT NULL,
        baseline TEXT NOT NULL,
        PRIMARY KEY (attempt, name)
    )
    """,
    "CREATE TABLE hints (exercise TEXT NOT NULL, level INTEGER NOT NULL, at TEXT NOT NULL)",
    "CREATE TABLE given_up (exercise TEXT PRIMARY KEY, at TEXT NOT NULL)",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST,)
"""The statements that lead from each version of the format to the next; from 0, which is an empty file. Those that have
been released never change."""
