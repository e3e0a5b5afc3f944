"""The exercises that are installed, ours included: each is the entry point of a distribution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from itertools import pairwise
from pathlib import Path

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError

GROUP = "tlpuzzles.exercises"


class UnknownExercise(UsageError):
    """No exercise has that number or name, or several names start with it."""


class BrokenCourse(UsageError):
    """An installed distribution announces an exercise that cannot be used. The message names the distribution."""


@dataclass(frozen=True)
class Entry:
    """An exercise and where it came from."""

    exercise: Exercise
    distribution: str
    """Name and version of the distribution that brought it, e.g. "tlpuzzles 0.1.0"."""
    package: Path
    """Folder of the top-level package of the module that defines it."""


def exercises() -> tuple[Exercise, ...]:
    """All exercises by number. Raises BrokenCourse."""
    return tuple(entry.exercise for entry in entries())


@cache
def entries() -> tuple[Entry, ...]:
    """All exercises by number, with their origin. Raises BrokenCourse."""
    found = sorted((_load(point) for point in entry_points(group=GROUP)), key=lambda entry: entry.exercise.number)
    for first, second in pairwise(found):
        if first.exercise.number == second.exercise.number:
            raise BrokenCourse(
                f"Two exercises have the number {first.exercise.number}: {first.exercise.slug} of {first.distribution} "
                f"and {second.exercise.slug} of {second.distribution}. Uninstall one of the two distributions."
            )
    if not found:
        raise BrokenCourse("No exercises are installed: the installation of tlpuzzles is incomplete. Install it again.")
    return tuple(found)


def find(name: str) -> Exercise:
    """The exercise called `name`: its number ("6", "06"), its slug, its folder, or a beginning that only one slug has.

    Raises UnknownExercise, with the list of what exists, and BrokenCourse.
    """
    known = exercises()
    wanted = name.strip().lower().replace("-", "_")
    if wanted.isascii() and wanted.isdigit():
        matches = [exercise for exercise in known if exercise.number == int(wanted)]
    else:
        matches = [exercise for exercise in known if wanted in (exercise.slug, exercise.folder)]
        matches = matches or [exercise for exercise in known if wanted and exercise.slug.startswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    problem = f'Several exercises start with "{name}".' if matches else f'There is no exercise "{name}".'
    if not matches and len(near := [exercise for exercise in known if resembles(exercise, name)]) == 1:
        problem += f" Do you mean {near[0].number}, {near[0].slug}?"
    listed = "\n".join(f"  {exercise.number}  {exercise.slug}" for exercise in matches or known)
    raise UnknownExercise(f"{problem} Name one by its number or its name:\n{listed}")


def resembles(exercise: Exercise, name: str) -> bool:
    """Whether `name` is a part of the exercise's name, or of its file's name, but for case and dashes."""
    wanted = name.strip().lower().replace("-", "_").removesuffix(".py")
    return len(wanted) > 2 and wanted in exercise.slug


def entry(exercise: Exercise) -> Entry:
    """Where an installed exercise came from. Raises UnknownExercise if it is not installed."""
    for candidate in entries():
        if candidate.exercise is exercise:
            return candidate
    raise UnknownExercise(f"Exercise {exercise.number} ({exercise.slug}) is not an installed one.")


def _load(point: EntryPoint) -> Entry:
    distribution = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown distribution"

    def broken(why: str) -> BrokenCourse:
        return BrokenCourse(
            f'The exercise "{point.name}" of {distribution} cannot be loaded: {why}. '
            "Update that distribution, or uninstall it to use the others."
        )

    try:
        exercise = point.load()
        package = import_module(point.module.partition(".")[0])
    except Exception as error:  # anyone's module is run here: whatever it raises, the message must say whose it is
        raise broken(f"{type(error).__name__}: {error}") from error
    if not isinstance(exercise, Exercise):
        raise broken(f'"{point.value}" is a {type(exercise).__name__}, not an Exercise')
    if package.__file__ is None:
        raise broken(f'"{package.__name__}" is not a package with files')
    return Entry(exercise, distribution, Path(package.__file__).parent)
