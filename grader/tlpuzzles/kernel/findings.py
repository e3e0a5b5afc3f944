"""What the vet finds in a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """What a finding means for the grading, the worst first."""

    REFUSED = "refused"
    """The kernel is not compiled or run."""
    FAILS = "fails"
    """The kernel can be run, and is wrong on a GPU whatever a run shows elsewhere."""
    WARNS = "warns"
    """Worth a word to the learner; changes no verdict."""


class Kind(Enum):
    """What a finding is about."""

    PARAMETERS = "parameters"
    """Number, kind, shape, dtype or order of the parameters, or `out_idx`."""
    EMPTY = "empty"
    """No launch, or a launch without work in it."""
    INPUT_WRITTEN = "input written"
    OUTPUT_NOT_WRITTEN = "output not written"
    NOT_ALLOWED = "not allowed"
    """An operator, annotation, scope or function that this course leaves out."""
    PASS_CONFIG = "pass config"
    PARALLEL_STORE = "parallel store"
    """A store in `T.Parallel` that several iterations make to one element."""
    UPDATE = "update"
    """An update of one element that several threads or blocks make at the same time."""
    FRAGMENT_ACCESS = "fragment access"
    """An element of a fragment used outside of `T.Parallel`."""
    UNSET = "unset"
    """A tile that is read before anything sets it."""
    SUSPECT = "suspect"
    """What most likely makes the result wrong, if it is."""
    MISCOMPILED = "miscompiled"
    """Right, and compiled wrongly for some GPU by this release of TileLang."""
    LAUNCH = "launch"
    """Numbers of blocks or threads."""
    SHARED_MEMORY = "shared memory"
    REGISTERS = "registers"
    WORK = "work"
    """More work than a grading waits for."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a kernel, in the learner's words."""

    kind: Kind
    severity: Severity
    message: str
    """What is wrong and what to do about it."""
    line: int | None = None
    """Line in the learner's file."""
    collects: bool = False
    """Whether it is a sum, maximum or the like made by hand, which an exercise may have a hint about."""


def worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    """Refusals before failures before warnings, otherwise as found; each message once."""
    order = list(Severity)
    unique = {(finding.message, finding.line): finding for finding in reversed(findings)}
    kept = [finding for finding in findings if unique[finding.message, finding.line] is finding]
    return tuple(sorted(kept, key=lambda finding: order.index(finding.severity)))


def listed(items: list[str], word: str = "and") -> str:
    """Items as a sentence names them: "A, B and C"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {word} {items[-1]}" if items else "none"


def in_lines(*lines: int | None) -> str:
    """ " in line 3", " in lines 3 and 5", after a word; nothing for lines that are not known."""
    known = [str(line) for line in lines if line is not None]
    return f" in {'line' if len(known) == 1 else 'lines'} {listed(known)}" if known else ""


def size(count: int) -> str:
    """A number of bytes for a reader: "96 KiB"."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << shift:
            value = count / (1 << shift)
            return f"{value:.0f} {unit}" if value == int(value) or value >= 100 else f"{value:.1f} {unit}"
    return f"{count} bytes"
