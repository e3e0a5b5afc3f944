"""What a notebook and the process that grades for it tell each other: one JSON object a line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TypeAlias

from tlpuzzles.grading.choices import DeviceChoice, Portability


@dataclass(frozen=True)
class Asked:
    """A cell is to be graded, as a file of the workspace."""

    root: str
    """Of the workspace."""
    exercise: str
    """Its slug."""
    text: str
    """The file as it was saved: when this is read, the workspace may have another, by another notebook perhaps."""
    device: DeviceChoice = DeviceChoice.AUTO
    case: str | None = None
    seed: int | None = None
    speed: bool = True
    portability: Portability = Portability.CHECK


@dataclass(frozen=True)
class Working:
    """What a grading does now."""

    step: str
    note: str


@dataclass(frozen=True)
class Graded:
    """A grading has ended, and this is its report."""

    html: str
    text: str
    remarks: str
    """What a command would have written to standard error: what could not be kept, which marks mark nothing."""


@dataclass(frozen=True)
class Refused:
    """The file cannot be graded."""

    why: str


Answer: TypeAlias = "Working | Graded | Refused"

_KINDS: dict[str, type[Working | Graded | Refused]] = {kind.__name__: kind for kind in (Working, Graded, Refused)}


def write_asked(asked: Asked) -> str:
    return json.dumps(asdict(asked))


def read_asked(line: str) -> Asked:
    fields = json.loads(line)
    fields["device"] = DeviceChoice(fields["device"])
    fields["portability"] = Portability(fields["portability"])
    return Asked(**fields)


def write_answer(answer: Answer) -> str:
    return json.dumps({"kind": type(answer).__name__, **asdict(answer)})


def read_answer(line: str) -> Answer:
    fields = json.loads(line)
    return _KINDS[fields.pop("kind")](**fields)
