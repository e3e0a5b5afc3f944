"""Cuts the answers out of the reference solutions, which leaves the learners' skeletons.

A solution marks what is cut with comments on lines of their own:

    # --- answer
    the lines that a learner is to write
    # --- instead
    # what the skeleton has in their place, commented out; it is indented as the answer is
    # --- end

`# --- instead` and what follows it may be left out. Everything else, the TODO comments above all, stays as it is.

    python -m tlpuzzles_solutions.cut [FOLDER]    writes each skeleton into its exercise's folder under FOLDER,
                                                  which is `exercises` if left out
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path

from tlpuzzles_solutions import path

ANSWER, INSTEAD, END = "# --- answer", "# --- instead", "# --- end"


class MarkerError(ValueError):
    """A solution's markers are not answer, instead (or not), end."""


@dataclass
class _Cut:
    """What stands between an answer's markers."""

    answer: list[str] = field(default_factory=list)
    instead: list[str] = field(default_factory=list)

    def replacement(self) -> list[str]:
        first = next((line for line in self.answer if line.strip()), "")
        indent = first[: len(first) - len(first.lstrip())]
        return [(indent + _uncommented(line)).rstrip() for line in self.instead]


def _uncommented(line: str) -> str:
    mark, _, code = line.strip().partition(" ")
    if mark != "#":
        raise MarkerError(f"what the skeleton has instead must be commented out: {line.strip()!r}")
    return code


def _parse(solution: str) -> list[str | _Cut]:
    """The lines that are kept, and the cuts, in their order."""
    parts: list[str | _Cut] = []
    cut: _Cut | None = None
    into: list[str] | None = None
    for number, line in enumerate(solution.splitlines(), 1):
        marker = line.strip()
        if marker == ANSWER and cut is None:
            cut = _Cut()
            into = cut.answer
            parts.append(cut)
        elif marker == INSTEAD and cut is not None and into is cut.answer:
            into = cut.instead
        elif marker == END and cut is not None:
            cut = into = None
        elif marker in (ANSWER, INSTEAD, END):
            raise MarkerError(f"line {number}: {marker!r} cannot stand here")
        elif into is None:
            parts.append(line)
        else:
            into.append(line)
    if cut is not None:
        raise MarkerError(f"the last {ANSWER!r} is not closed by {END!r}")
    return parts


def skeleton(solution: str) -> str:
    """The text of the skeleton of a solution. Raises MarkerError if the markers are wrong."""
    lines: list[str] = []
    for part in _parse(solution):
        lines.extend([part] if isinstance(part, str) else part.replacement())
    return "\n".join(lines) + "\n"


def whole(solution: str) -> str:
    """The text of a solution as it is shown: with its answers, without the markers. Raises MarkerError."""
    lines: list[str] = []
    for part in _parse(solution):
        lines.extend([part] if isinstance(part, str) else part.answer)
    return "\n".join(lines) + "\n"


def answers(solution: str) -> list[str]:
    """The lines of code that a learner is to write, without indentation and comments. Raises MarkerError."""
    lines = (line.strip() for part in _parse(solution) if isinstance(part, _Cut) for line in part.answer)
    return [line for line in lines if line and not line.startswith("#")]


def main(folder: Path) -> None:
    """Writes the skeleton of every exercise that has a solution."""
    for point in sorted(entry_points(group="tlpuzzles.exercises"), key=lambda point: point.name):
        exercise = point.load()
        try:
            solution = path(exercise.slug)
        except FileNotFoundError:
            continue
        target = folder / exercise.folder / exercise.file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(skeleton(solution.read_text("utf-8")), "utf-8")
        print(f"{solution.name} -> {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "exercises"))
