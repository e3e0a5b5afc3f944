"""What the doctor says: one finding a line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How bad it is. Only a PROBLEM keeps kernels from being graded."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    """One line: what was looked at, what was found, and what to do about it."""

    name: str
    status: Status
    says: str
    fix: str = ""
    """What to do; empty only where all is well."""


def ok(name: str, says: str) -> Finding:
    return Finding(name, Status.OK, says)


def warning(name: str, says: str, fix: str) -> Finding:
    return Finding(name, Status.WARNING, says, fix)


def problem(name: str, says: str, fix: str) -> Finding:
    return Finding(name, Status.PROBLEM, says, fix)
