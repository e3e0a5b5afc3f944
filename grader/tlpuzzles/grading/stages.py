"""What each stage of a grading hands to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tlpuzzles.course.vocabulary import Case, Sizes
from tlpuzzles.grading.submission import Problem
from tlpuzzles.kernel.capsule import Capsule


@dataclass(frozen=True)
class Built:
    """A kernel that has passed the capsule check and the vet."""

    case: Case
    """The case it was traced for; others with the same arguments share it."""
    sizes: Sizes
    capsule: Path
    """File with the capsule, for the children that lower, compile or launch it."""
    parameters: tuple[str, ...]
    """The exercise's tensor at each position of the kernel's parameters."""
    digest: str
    """Hash of what the kernel does, see `kernel.capsule.digest`."""
    source: Path | None
    """C++ emitted for the CPU device; None where no CPU grading was asked for."""
    symbol: str
    """Name of the function in it."""
    tile: tuple[int, ...] | None = None
    """What it stores at a time, see `kernel.stored.output_tile`."""


@dataclass(frozen=True)
class Launch:
    """A case to run, with its kernel and the raw files of its inputs by name."""

    case: Case
    kernel: Built
    inputs: Mapping[str, Path]


@dataclass(frozen=True)
class Ran:
    """A kernel that was run on a device: where its output is, or why there is none."""

    outputs: tuple[Path, ...] = ()
    """Raw outputs of each run; on a CPU blocks in order, then in reverse."""
    problem: Problem | None = None
    printed: str = ""


def store(capsule: Capsule, file: Path) -> Path:
    """Writes a capsule for another process to read."""
    file.write_text(json.dumps(asdict(capsule)))
    return file


def fetch(file: Path | str) -> Capsule:
    """Reads what `store` wrote."""
    content: dict[str, Any] = json.loads(Path(file).read_text())
    out_idx = content["out_idx"]
    return Capsule(content["ir"], None if out_idx is None else tuple(out_idx), content["pass_configs"], content["path"])


def problem(message: Mapping[str, Any]) -> Problem:
    """A problem as a child of ours sent it."""
    return Problem(
        str(message["message"]), message.get("line"), message.get("raw"), message.get("hint"), bool(message.get("ours"))
    )
