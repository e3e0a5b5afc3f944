"""What happens in `watch` when a file is saved, a key pressed or a grading ends."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import TypeAlias

from tlpuzzles.course.vocabulary import Exercise
from tlpuzzles.errors import UsageError
from tlpuzzles.grading.grader import Grader
from tlpuzzles.grading.options import Options
from tlpuzzles.grading.plan import new_seed
from tlpuzzles.grading.submission import MAX_BYTES, Submission
from tlpuzzles.plain import read_plain
from tlpuzzles.verdict.model import Result, Verdict
from tlpuzzles.watch.regrading import Graded, NotGraded, Regrading
from tlpuzzles.watch.screen import Screen
from tlpuzzles.watch.stages import Before, Stage, stages


@dataclass(frozen=True)
class Saved:
    file: Path


@dataclass(frozen=True)
class Pressed:
    key: str


HELD = ("s", "l", "g")
"""Keys that do the same again: of one that is held down, the last counts."""

Event: TypeAlias = "Saved | Pressed | Graded | NotGraded"


@dataclass(frozen=True)
class Actions:
    """What the other commands do, for an exercise."""

    list_all: Callable[[], None]
    lesson: Callable[[Exercise], None]
    hint: Callable[[Exercise, int], None]
    """Raises UsageError for a level that there is not."""
    reset: Callable[[Exercise], None]
    """Puts the skeleton back and says where the file is now that was there. Raises UsageError if it cannot be."""
    keep: Callable[[Exercise, Submission | None, Result], object]
    """Keeps a result in the workspace's record."""


@dataclass
class Session:
    """Watches one exercise at a time. `run` ends when it is told to quit."""

    exercises: Sequence[Exercise]
    files: Mapping[str, Path]
    """By exercise."""
    options: Callable[[int], Options]
    """Of a whole grading, for a seed."""
    grader: Callable[[], Grader]
    screen: Screen
    actions: Actions
    current: Exercise
    passed: set[str]
    """Exercises that have passed, some of them perhaps long ago."""
    events: Queue[Event] = field(default_factory=Queue)
    _regrading: Regrading | None = None
    _before: dict[str, Before] = field(default_factory=dict)
    _hints: dict[str, int] = field(default_factory=dict)
    _asked: bool = False
    """Whether the next key answers "reset?"."""
    # The same sizes as long as the session lasts: a kernel that has not changed is then known.
    _sizes: bytes = field(default_factory=lambda: secrets.token_bytes(8))
    _content: bytes | None = None
    _goes_on: bool = False
    """Whether a pass leads to the next exercise. After a save it does; who has turned to an exercise stays with it."""

    def run(self) -> None:
        try:
            self._grade()
            while True:
                event = self.events.get()
                if isinstance(event, Pressed) and event.key in HELD and self._comes_again(event):
                    continue
                if isinstance(event, Pressed):
                    if self._press(event.key):
                        return
                elif isinstance(event, Saved):
                    self._save(event.file)
                elif event.of is self._regrading and event.of.is_wanted:
                    self._take(event)
        finally:
            # Also where Ctrl-C ends it: the cursor that a display of progress hides comes back.
            self.screen.still()
            self._give_up()

    def _comes_again(self, event: Event) -> bool:
        with self.events.mutex:
            return bool(self.events.queue) and self.events.queue[0] == event

    # --- what is graded

    def _file(self) -> Path:
        return self.files[self.current.slug]

    def _save(self, file: Path) -> None:
        saved = next(exercise for exercise in self.exercises if self.files[exercise.slug] == file)
        content = _content(file)
        if saved is self.current and content is not None and content == self._content:
            return
        self.current = saved
        self._grade(goes_on=True)

    def _grade(self, *, goes_on: bool = False) -> None:
        self._give_up()
        self._goes_on = goes_on
        self._asked = False
        self._content = _content(self._file())
        exercise = self.current
        grader = self.grader()
        steps = stages(
            exercise,
            self.options(new_seed(self._sizes)),
            self._before.get(exercise.slug, Before()),
            on_cuda=grader.device.is_cuda,
        )
        self.screen.fresh()
        self.screen.grading(_title(exercise))
        self._regrading = Regrading(grader, exercise, self._file(), steps, self.events.put, self.screen.step)

    def _give_up(self) -> None:
        if self._regrading is not None:
            self._regrading.give_up()
            self._regrading = None

    def _take(self, event: Graded | NotGraded) -> None:
        if isinstance(event, NotGraded):
            self._regrading = None
            self.screen.fresh()
            self.screen.say(event.why, style="red")
            self._rest()
            return
        exercise, result = event.of.exercise, event.result
        before = self._before.get(exercise.slug, Before())
        self._before[exercise.slug] = before.after(event.stage, result)
        if not event.is_last and result.verdict is Verdict.PASSED:
            self.screen.fresh()
            self.screen.say(_so_far(event.stage, result), style="green")
            self.screen.grading(_title(exercise))
            return
        if event.is_last:
            self._regrading = None
            self.actions.keep(exercise, event.of.handed_in, result)
        self.screen.report(result, exercise)
        if event.is_last and result.verdict is Verdict.PASSED:
            self._pass(exercise)
        if event.is_last:
            self._rest()
        else:
            self.screen.grading("The other cases")

    def _pass(self, exercise: Exercise) -> None:
        self.passed.add(exercise.slug)
        following = self._after(exercise)
        if following is None:
            self.screen.say("", "That was the last one: you have done the course.", style="bold green")
            return
        if not self._goes_on:
            self.screen.say("", "Passed: n goes on to the next exercise.", style="bold")
            return
        self.current = following
        told = f"Next: exercise {following.number}, {following.title}."
        self.screen.say("", told, "s shows its lesson.", style="bold")

    def _after(self, exercise: Exercise) -> Exercise | None:
        """The next exercise that has not passed, after the last from the first on again."""
        order = [*self.exercises, *self.exercises]
        later = order[order.index(exercise) + 1 :]
        return next((one for one in later if one.slug not in self.passed), None)

    # --- keys

    def _press(self, key: str) -> bool:
        """True to quit."""
        if self._asked:
            self._asked = False
            if key == "y":
                self._reset()
                return False
            self.screen.say("Your file stays as it is.")
            self._rest()
            return False
        number = self.exercises.index(self.current)
        if key == "q":
            return True
        if key == "h":
            self._hint()
        elif key == "s":
            self._text(lambda: self.actions.lesson(self.current))
        elif key == "l":
            self._text(self.actions.list_all)
        elif key == "g":
            self._grade()
        elif key == "r":
            self._asked = True
            self.screen.still()
            self.screen.say("Put the skeleton back? A copy is kept. y for yes.")
        elif key == "n" and number + 1 < len(self.exercises):
            self._turn(self.exercises[number + 1])
        elif key == "p" and number > 0:
            self._turn(self.exercises[number - 1])
        return False

    def _turn(self, exercise: Exercise) -> None:
        self.current = exercise
        self._grade()

    def _text(self, print_it: Callable[[], None]) -> None:
        """Shows a text; what is being graded goes on below it."""
        try:
            self.screen.text(print_it)
        except UsageError as error:  # a lesson that is gone, say
            self.screen.say(str(error), style="red")
        self._rest()
        if self._regrading is not None:
            self.screen.grading(_title(self.current))

    def _hint(self) -> None:
        level = self._hints.get(self.current.slug, 0) + 1

        def print_it() -> None:
            try:
                self.actions.hint(self.current, level)
                self._hints[self.current.slug] = level
            except UsageError:
                # The last one again: there are no more.
                self.actions.hint(self.current, level - 1)

        self._text(print_it)

    def _reset(self) -> None:
        self._give_up()
        self.screen.fresh()
        try:
            self.actions.reset(self.current)
        except UsageError as error:
            self.screen.say(str(error), style="red")
        # Not graded at once, so that what was said can be read.
        self._content = _content(self._file())
        self._before.pop(self.current.slug, None)
        self._rest()

    def _rest(self) -> None:
        self.screen.keys(f"{self.current.number} {self.current.folder}/{self.current.file}")


def _title(exercise: Exercise) -> str:
    return f"Exercise {exercise.number}  {exercise.title}"


def _so_far(stage: Stage, result: Result) -> str:
    if stage is Stage.ONE_FIRST:
        title = next((check.title for check in result.checks if check.id == result.only), result.only)
        return f"Passes: {title}."
    return "All cases pass."


def _content(file: Path) -> bytes | None:
    try:
        return read_plain(file, MAX_BYTES)
    except OSError:
        return None
